//! What agents say about shell commands, as one payload.
//!
//! Agents report a command's output in different fields, live or at the end, whole or in pieces.
//! [`ToolFrame`] reads a frame leniently, a [`Dialect`] knows what its fields mean, and
//! [`ShellCall`] is the state of one command: a pure machine without I/O, clock or panics.

mod body;
mod call;
mod closing;
mod dialect;
mod echo;
mod exit;
mod frame;
mod input;
mod raw_output;
mod tagged;
mod tail;
mod value;
mod window;

pub use call::{CancelReason, Change, ShellCall, StoredCall};
pub use dialect::Dialect;
pub use frame::{FrameOrigin, ToolFrame};
