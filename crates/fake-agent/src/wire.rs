//! JSON lines on stdin and stdout.

use std::{
    io::{self, BufRead, Write},
    process,
};

use serde_json::{Value, json};

/// Writes one frame.
pub(crate) fn send(frame: &Value) {
    send_raw(frame.to_string().as_bytes());
}

/// Writes one line of any bytes.
pub(crate) fn send_raw(line: &[u8]) {
    write(&[line, b"\n"]);
}

/// Writes what is no whole line.
pub(crate) fn send_torn(bytes: &[u8]) {
    write(&[bytes]);
}

/// When nobody reads any more, there is nothing left to do.
fn write(parts: &[&[u8]]) {
    let mut stdout = io::stdout().lock();
    let written = parts.iter().try_for_each(|part| stdout.write_all(part));
    if written.and_then(|()| stdout.flush()).is_err() {
        process::exit(0);
    }
}

pub(crate) fn respond(id: &Value, result: &Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

pub(crate) fn fail(id: &Value, code: i64, message: &str) {
    send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
}

/// The frames that come in, until stdin ends; what is no JSON is left out.
pub(crate) fn incoming() -> impl Iterator<Item = Value> {
    let lines = io::stdin().lock().lines();
    lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok())
}

/// Writes to stderr, which may be closed.
pub(crate) fn complain(text: &str) {
    io::stderr().write_all(text.as_bytes()).ok();
}
