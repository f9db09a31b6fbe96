//! An agent that nobody knows: standard fields only.

use serde_json::{Value, json};

use super::{Frames, status, text, tool_call, update};
use crate::{directive::ExitCode, tool::Call};

pub(super) struct Generic;

impl Frames for Generic {
    fn identity(&self) -> (&'static str, &'static str) {
        ("fake-agent", env!("CARGO_PKG_VERSION"))
    }

    fn begin(&self, call: &Call) -> Vec<Value> {
        vec![
            tool_call(
                call,
                &json!({"title": call.command, "kind": "execute", "status": "pending",
                    "rawInput": {"command": call.command, "cwd": call.cwd}}),
            ),
            update(call, &json!({"status": "in_progress"})),
        ]
    }

    fn asks_first(&self) -> bool {
        true
    }

    fn ask(&self, call: &Call) -> Value {
        json!({"toolCallId": call.id, "title": call.command, "kind": "execute",
            "rawInput": {"command": call.command, "cwd": call.cwd}})
    }

    fn options(&self) -> [(&'static str, &'static str, &'static str); 3] {
        [
            ("allow-once", "Allow once", "allow_once"),
            ("allow-always", "Always allow", "allow_always"),
            ("reject-once", "Reject", "reject_once"),
        ]
    }

    fn output(&self, call: &Call, _new: &str) -> Option<Value> {
        Some(update(call, &json!({"status": "in_progress", "content": text(&call.output)})))
    }

    fn end(&self, call: &Call, exit: ExitCode) -> Vec<Value> {
        let mut raw = json!({"stdout": call.output});
        if let Some(code) = exit {
            raw["exit_code"] = code.into();
        }
        let status = if exit.is_none() { "completed" } else { status(exit) };
        vec![update(call, &json!({"status": status, "rawOutput": raw}))]
    }

    fn denied(&self, call: &Call) -> Vec<Value> {
        vec![update(call, &json!({"status": "failed", "content": text("Permission denied")}))]
    }
}
