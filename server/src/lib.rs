//! The server: command line, authentication, guard against other sites, assets and pages.
//!
//! What a person can do is in `engine`; this crate decides who may ask, and carries the answer.

pub mod admin;
pub mod api;
pub mod assets;
pub mod auth;
pub mod cli;
mod clock;
pub mod config;
mod data_dir;
pub mod guard;
mod headers;
pub mod pages;
pub mod problem;
mod request_log;
mod router;
pub mod secret;
pub mod serve;
pub mod state;
mod token;

pub use config::Config;
pub use problem::Problem;
pub use serve::{Running, Server, StartError};
pub use state::AppState;
