//! The program over real stdio.

#![expect(clippy::unwrap_used, reason = "a test may fail by it, and so may its helpers")]

mod acp;
mod client;
mod replay;
