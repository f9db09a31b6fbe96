//! Agents as real processes: the fake one, and small shell scripts.

#![expect(clippy::unwrap_used, reason = "a test may fail by it, and so may its helpers")]

mod conversation;
mod endings;
mod leftovers;
mod rude;
mod support;
mod survivor;
