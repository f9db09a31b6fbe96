//! One agent process is one connection: ACP version 1, JSON-RPC over stdio, one JSON per line.
//!
//! [`Agent`] starts the process in its own group and speaks for us; what the agent says comes out
//! of a bounded channel as [`AgentEvent`]s, in the order in which it was said. Protocol types do
//! not leave this crate, and no frame that an agent sends can end a session: what cannot be read
//! is logged and passed over (S-017).

mod agent;
mod connection;
mod error;
mod event;
mod fragment;
mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod launch;
mod lines;
mod observer;
mod offers;
mod outgoing;
mod output;
mod permission;
pub mod process;
mod stderr;
mod supervisor;
pub mod survivor;
mod tap;
mod update;

pub use agent::{Agent, Initialized, NewSession};
pub use error::{Closed, RpcError, RpcErrorKind, SpawnError};
pub use event::{AgentEvent, Exit, StopReason};
pub use launch::{Launch, Located, locate};
pub use observer::{Observed, Observer};
pub use permission::{PermissionKey, PermissionOutcome};
pub use tap::{Direction, Tap};
