//! The page of Kandev: rendered by the server (`ssr`), made alive in the browser (`hydrate`).
//!
//! Both start from the same [`BootState`](model::BootState), so both render the same page. What
//! decides is pure and stands in `state`; components show it; `live` keeps it up to date.

#![allow(unreachable_pub, reason = "what components expand to is `pub`")]

#[cfg(all(feature = "ssr", feature = "hydrate"))]
compile_error!(
    "`ssr` and `hydrate` exclude each other: with both, clicks do nothing. Build with `cargo xtask \
     build`, or one package at a time (`cargo check -p server`); never with `--workspace`."
);

mod agents;
mod api;
mod board;
mod browser;
mod clock;
mod context;
mod controls;
mod document;
mod dynamic;
mod icon;
mod keys;
mod live;
mod login;
mod news;
#[cfg(test)]
mod rendered;
mod root;
mod state;
mod task;
mod topbar;

pub use api::{CreateTask, CreatedTask, FormError, create_task};
#[cfg(feature = "hydrate")]
pub use document::hydrate;
pub use document::{Assets, shell};
pub use root::App;
