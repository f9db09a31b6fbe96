//! Conversations with agents, written to files and played again.

mod format;
mod pending;
mod recorder;
mod redact;
mod replay;

pub use recorder::Recorder;
pub use replay::{ReplayError, Replayed, replay};
