//! What the page knows and how it changes: plain values and functions, tested on the host.

pub mod agents;
pub mod board;
pub mod card;
pub mod clean;
pub mod command;
pub mod commands;
pub mod composer;
pub mod diff;
pub mod drafts;
pub mod format;
pub mod frames;
pub mod history;
pub mod login;
pub mod message;
pub mod news;
pub mod output;
pub mod rows;
#[cfg(test)]
pub mod samples;
pub mod seen;
pub mod session;
pub mod suggestion;
