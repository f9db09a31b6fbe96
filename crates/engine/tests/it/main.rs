//! The engine with a real process that plays an agent.

mod board;
mod lifecycle;
mod output;
mod permission;
mod recorder;
mod recovery;
mod replay;
mod support;
mod trouble;
