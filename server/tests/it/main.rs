//! A real server on a free port, and those who try to get in.

mod api;
mod assets;
mod command_line;
mod guard;
mod headers;
mod login;
mod logs;
mod pages;
mod start;
mod support;
