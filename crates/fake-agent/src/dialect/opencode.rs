//! OpenCode: cumulative content, the exit code in `rawOutput.metadata`, never a failed status.

use serde_json::{Value, json};

use super::{Frames, text, tool_call, update};
use crate::{directive::ExitCode, tool::Call};

const REJECTED: &str = "The user rejected permission to use this specific tool call.";
const ABORTED: &str = "\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>";

pub(super) struct OpenCode;

impl Frames for OpenCode {
    fn identity(&self) -> (&'static str, &'static str) {
        ("OpenCode", "1.18.33")
    }

    fn begin(&self, call: &Call) -> Vec<Value> {
        let announced = json!({"title": "bash", "kind": "execute", "status": "pending",
            "locations": [{"path": call.cwd}], "rawInput": {"cwd": call.cwd}});
        vec![tool_call(call, &announced), in_progress(call)]
    }

    fn ask(&self, call: &Call) -> Value {
        json!({"toolCallId": call.id, "title": call.command, "kind": "execute", "status": "pending",
            "locations": [], "rawInput": {"command": call.command}})
    }

    fn options(&self) -> [(&'static str, &'static str, &'static str); 3] {
        [
            ("once", "Allow once", "allow_once"),
            ("always", "Always allow", "allow_always"),
            ("reject", "Reject", "reject_once"),
        ]
    }

    fn output(&self, call: &Call, _new: &str) -> Option<Value> {
        let mut frame = in_progress(call);
        frame["content"] = text(&call.output);
        Some(frame)
    }

    fn end(&self, call: &Call, exit: ExitCode) -> Vec<Value> {
        let output = match exit {
            Some(_) => call.output.clone(),
            None => format!("{}{ABORTED}", call.output),
        };
        let metadata = json!({"output": call.output, "exit": exit, "truncated": false});
        vec![update(
            call,
            &json!({"status": "completed", "title": call.command, "content": text(&output),
                "rawOutput": {"output": output, "metadata": metadata}}),
        )]
    }

    fn denied(&self, call: &Call) -> Vec<Value> {
        let mut frame = in_progress(call);
        frame["status"] = "failed".into();
        frame["content"] = text(REJECTED);
        frame["rawOutput"] = json!({"error": REJECTED});
        vec![frame]
    }
}

fn in_progress(call: &Call) -> Value {
    update(
        call,
        &json!({"status": "in_progress", "kind": "execute", "title": call.command,
            "locations": [{"path": call.cwd}],
            "rawInput": {"command": call.command, "cwd": call.cwd}}),
    )
}
