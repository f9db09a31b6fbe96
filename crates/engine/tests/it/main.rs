//! The engine with a real process that plays an agent.

mod board;
mod lifecycle;
mod output;
mod permission;
mod recovery;
mod support;
mod trouble;
