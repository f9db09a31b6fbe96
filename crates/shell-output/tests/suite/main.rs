//! The crate's tests from outside: recordings, scenarios of the requirements, properties.

#![allow(clippy::unwrap_used)] // the helpers of tests are tests

mod lifecycle;
mod properties;
mod recordings;
mod scenarios;
mod support;
