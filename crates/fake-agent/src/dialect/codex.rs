//! Codex: `_meta.terminal_output` appends, `_meta.terminal_exit` has the true exit code.

use serde_json::{Value, json};

use super::{Frames, status, tool_call, update};
use crate::{directive::ExitCode, tool::Call};

pub(super) struct Codex;

impl Frames for Codex {
    fn identity(&self) -> (&'static str, &'static str) {
        ("@agentclientprotocol/codex-acp", "2.6.0")
    }

    fn begin(&self, call: &Call) -> Vec<Value> {
        let members = json!({"name": "exec_command", "kind": "execute", "title": call.command,
            "status": "in_progress", "content": [{"type": "terminal", "terminalId": call.id}],
            "rawInput": {"command": call.command, "cwd": call.cwd},
            "_meta": {"terminal_info": {"cwd": call.cwd, "terminal_id": call.id}}});
        vec![tool_call(call, &members)]
    }

    fn ask(&self, call: &Call) -> Value {
        json!({"toolCallId": call.id, "title": call.command, "kind": "execute", "status": "pending",
            "rawInput": {"command": call.command, "cwd": call.cwd}})
    }

    fn options(&self) -> [(&'static str, &'static str, &'static str); 3] {
        [
            ("allow_once", "Yes, proceed", "allow_once"),
            ("accept_execpolicy_amendment", "Yes, and don't ask again", "allow_always"),
            ("cancel", "No, and tell Codex what to do differently", "reject_once"),
        ]
    }

    fn output(&self, call: &Call, new: &str) -> Option<Value> {
        let meta = json!({"terminal_output": {"data": new, "terminal_id": call.id}});
        Some(update(call, &json!({"_meta": meta})))
    }

    fn end(&self, call: &Call, exit: ExitCode) -> Vec<Value> {
        let terminal_exit = json!({"exit_code": exit, "signal": null, "terminal_id": call.id});
        let meta = json!({"terminal_exit": terminal_exit});
        vec![update(call, &json!({"status": status(exit), "_meta": meta}))]
    }

    fn denied(&self, call: &Call) -> Vec<Value> {
        self.end(call, None)
    }
}
