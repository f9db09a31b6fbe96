//! The engine with a real process that plays an agent.

mod board;
mod late;
mod lifecycle;
mod output;
mod permission;
mod pressure;
mod recorder;
mod recovery;
mod replay;
mod restart;
mod support;
mod trouble;
