//! How each agent tells about a command: the frames of real ones, as they were recorded.

mod claude;
mod codex;
mod generic;
mod opencode;

use serde_json::{Value, json};

use crate::{directive::ExitCode, tool::Call};

/// Whose frames are sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// By the letter of the protocol.
    #[default]
    Generic,
    /// opencode-ai 1.18.33
    OpenCode,
    /// codex-acp 2.6.0
    Codex,
    /// claude-agent-acp 0.101.0
    Claude,
}

/// The `update` objects of a command's life, and the `toolCall` that asks leave for it.
pub(crate) trait Frames {
    /// Name and version in `agentInfo`.
    fn identity(&self) -> (&'static str, &'static str);
    /// The command is named; it may not run yet.
    fn begin(&self, call: &Call) -> Vec<Value>;
    /// Whether it asks leave before it names the command.
    fn asks_first(&self) -> bool {
        false
    }
    /// The agent asks leave.
    fn ask(&self, call: &Call) -> Value;
    /// The answers that can be given, as `(optionId, name, kind)`: allow once, always, reject.
    fn options(&self) -> [(&'static str, &'static str, &'static str); 3];
    /// `new` has come; the call's output already holds it.
    fn output(&self, call: &Call, new: &str) -> Option<Value>;
    /// The command has ended.
    fn end(&self, call: &Call, exit: ExitCode) -> Vec<Value>;
    /// It was not allowed.
    fn denied(&self, call: &Call) -> Vec<Value>;
}

impl Dialect {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "generic" => Self::Generic,
            "opencode" => Self::OpenCode,
            "codex" => Self::Codex,
            "claude" => Self::Claude,
            _ => return None,
        })
    }

    pub(crate) const fn frames(self) -> &'static dyn Frames {
        match self {
            Self::Generic => &generic::Generic,
            Self::OpenCode => &opencode::OpenCode,
            Self::Codex => &codex::Codex,
            Self::Claude => &claude::Claude,
        }
    }
}

/// A `tool_call_update` of this call with these members.
fn update(call: &Call, members: &Value) -> Value {
    merged(json!({"sessionUpdate": "tool_call_update", "toolCallId": call.id}), members)
}

/// A `tool_call` of this call with these members.
fn tool_call(call: &Call, members: &Value) -> Value {
    merged(json!({"sessionUpdate": "tool_call", "toolCallId": call.id}), members)
}

fn merged(mut frame: Value, members: &Value) -> Value {
    for (name, value) in members.as_object().into_iter().flatten() {
        frame[name] = value.clone();
    }
    frame
}

/// One text block of content.
fn text(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

const fn status(exit: ExitCode) -> &'static str {
    match exit {
        Some(0) => "completed",
        _ => "failed",
    }
}
