//! Claude: the command comes in an update, the output whole at the end, a failure with a prefix.

use serde_json::{Value, json};

use super::{Frames, merged, status, tool_call, update};
use crate::{directive::ExitCode, tool::Call};

pub(super) struct Claude;

impl Frames for Claude {
    fn identity(&self) -> (&'static str, &'static str) {
        ("@agentclientprotocol/claude-agent-acp", "0.101.0")
    }

    fn begin(&self, call: &Call) -> Vec<Value> {
        let announced = json!({"name": "Bash", "rawInput": {}, "status": "pending",
            "title": "Terminal", "kind": "execute",
            "content": [{"type": "terminal", "terminalId": call.id}],
            "_meta": {"claudeCode": {"toolName": "Bash"}, "terminal_info": {"terminal_id": call.id}}});
        let named = json!({"rawInput": {"command": call.command, "description": "Run a command"},
            "title": call.command, "_meta": tool_meta(&json!({}))});
        vec![tool_call(call, &announced), update(call, &named)]
    }

    fn ask(&self, call: &Call) -> Value {
        json!({"toolCallId": call.id, "name": "Bash", "status": "pending", "kind": "execute",
            "rawInput": {"command": call.command, "description": "Run a command"},
            "title": call.command, "content": [{"type": "terminal", "terminalId": call.id}]})
    }

    fn options(&self) -> [(&'static str, &'static str, &'static str); 3] {
        [
            ("allow-once", "Yes", "allow_once"),
            ("allow-with-updates", "Yes, and don't ask again", "allow_always"),
            ("reject", "No", "reject_once"),
        ]
    }

    fn output(&self, _call: &Call, _new: &str) -> Option<Value> {
        None
    }

    fn end(&self, call: &Call, exit: ExitCode) -> Vec<Value> {
        let output = call.output.strip_suffix('\n').unwrap_or(&call.output);
        match exit {
            Some(0) => {
                let response = json!({"stdout": output, "stderr": "", "interrupted": false,
                    "isImage": false, "noOutputExpected": false});
                let meta = tool_meta(&json!({"toolResponse": response}));
                let mut frames = vec![update(call, &json!({"_meta": meta}))];
                frames.extend(ending(call, output, exit, &json!({})));
                frames
            }
            Some(code) => ending(call, &format!("Exit code {code}\n{output}"), exit, &json!({})),
            None => {
                let kind = json!({"nonExecutionKind": "user-rejected"});
                ending(call, "The user doesn't want to proceed with this tool use.", exit, &kind)
            }
        }
    }

    fn denied(&self, call: &Call) -> Vec<Value> {
        let kind = json!({"nonExecutionKind": "permission-rule"});
        ending(call, "User refused permission to run tool", None, &kind)
    }
}

/// The last two frames: the whole text, then the exit.
fn ending(call: &Call, text: &str, exit: ExitCode, claude_code: &Value) -> Vec<Value> {
    let output = json!({"terminal_output": {"terminal_id": call.id, "data": text}});
    let exited = json!({"terminal_exit":
        {"terminal_id": call.id, "exit_code": exit, "signal": null}});
    let meta = merged(exited, &tool_meta(claude_code));
    vec![
        update(call, &json!({"_meta": output})),
        update(call, &json!({"status": status(exit), "_meta": meta})),
    ]
}

fn tool_meta(members: &Value) -> Value {
    json!({"claudeCode": merged(json!({"toolName": "Bash"}), members)})
}
