//! The engine with a real process that plays an agent.

mod board;
mod content;
mod late;
mod lifecycle;
mod offers;
mod output;
mod permission;
mod pressure;
mod queue;
mod recorder;
mod recovery;
mod replay;
mod restart;
mod support;
mod trouble;
