//! The crate's tests from outside: recordings, scenarios of the requirements, properties.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests

mod auggie;
mod copilot_and_qwen;
mod lifecycle;
mod pi;
mod properties;
mod recordings;
mod restored;
mod scenarios;
mod source;
mod support;
