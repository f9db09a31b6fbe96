//! What the tests share: frames from JSON, replayed recordings, a store for bodies.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{AgentKind, BodyChange, BodyExtent, BodyStream, Departure, MessageKind, ToolStatus};
use serde_json::Value;
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn call(agent: AgentKind) -> ShellCall {
    ShellCall::new(Dialect::new(agent, &[]))
}

/// An update of the call `a` with these fields.
pub(crate) fn update(mut fields: Value) -> ToolFrame {
    fields["toolCallId"] = "a".into();
    ToolFrame::parse(FrameOrigin::Update, &fields).unwrap()
}

/// A call that has taken these updates, each with the fields of the call `a`.
pub(crate) fn after(agent: AgentKind, updates: impl IntoIterator<Item = Value>) -> ShellCall {
    let mut call = call(agent);
    for fields in updates {
        let _ = call.apply(&update(fields));
    }
    call
}

pub(crate) fn exit_code(call: &ShellCall) -> Option<i64> {
    call.exec().output.and_then(|output| output.exit_code)
}

/// A recording's one tool call.
pub(crate) struct Replayed {
    pub(crate) call: ShellCall,
    pub(crate) kind: Option<MessageKind>,
    /// The command after each frame.
    pub(crate) commands: Vec<String>,
    /// The different outputs that were there while the call was open.
    pub(crate) live_outputs: Vec<String>,
}

/// Replays a recording as a host would see it, cancels and ended prompts included.
pub(crate) fn replay(agent: AgentKind, departures: &[Departure], path: &Path) -> Replayed {
    let mut replayed = Replayed {
        call: ShellCall::new(Dialect::new(agent, departures)),
        kind: None,
        commands: Vec::new(),
        live_outputs: Vec::new(),
    };
    for line in fs::read_to_string(path).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let frame = &line["frame"];
        if frame["method"] == "session/cancel" {
            let _ = replayed.call.cancel(CancelReason::User);
        } else if !frame["result"]["stopReason"].is_null() {
            let _ = replayed.call.cancel(CancelReason::Sweep);
        } else if let Some(frame) = tool_frame(frame) {
            replayed.take(&frame);
        }
    }
    replayed
}

impl Replayed {
    fn take(&mut self, frame: &ToolFrame) {
        self.kind = self.kind.or(frame.message_kind());
        let _ = self.call.apply(frame);
        self.commands.push(self.call.exec().command);
        let output = self.call.stdout().unwrap_or_default();
        let is_open = matches!(self.call.status(), ToolStatus::Pending | ToolStatus::InProgress);
        if is_open && !output.is_empty() && self.live_outputs.last().is_none_or(|l| l != output) {
            self.live_outputs.push(output.to_owned());
        }
    }
}

fn tool_frame(frame: &Value) -> Option<ToolFrame> {
    let params = frame.get("params")?;
    if frame["method"] == "session/request_permission" {
        return ToolFrame::parse(FrameOrigin::Permission, &params["toolCall"]);
    }
    let update = params.get("update")?;
    match update["sessionUpdate"].as_str()? {
        "tool_call" => ToolFrame::parse(FrameOrigin::Call, update),
        "tool_call_update" => ToolFrame::parse(FrameOrigin::Update, update),
        _ => None,
    }
}

/// Bodies as a store keeps them: it knows no text but what the changes bring.
#[derive(Debug, Default)]
pub(crate) struct BodyStore {
    stdout: (String, BodyExtent),
    stderr: (String, BodyExtent),
}

impl BodyStore {
    pub(crate) fn take(&mut self, changes: Vec<(BodyStream, BodyChange)>) {
        for (stream, change) in changes {
            let (text, extent) = match stream {
                BodyStream::Stdout => &mut self.stdout,
                BodyStream::Stderr => &mut self.stderr,
            };
            match change {
                BodyChange::Append { text: new, start } => {
                    extent.end += new.len() as u64;
                    text.push_str(&new);
                    let dropped = usize::try_from(start - extent.start).unwrap();
                    extent.start = start;
                    text.drain(..dropped);
                }
                BodyChange::Replace { text: new } => {
                    *extent = BodyExtent { start: 0, end: new.len() as u64 };
                    *text = new;
                }
            }
        }
    }

    pub(crate) fn stdout(&self) -> &str {
        &self.stdout.0
    }

    /// Takes the pending changes and compares texts and extents with the call's own.
    pub(crate) fn follow(&mut self, call: &mut ShellCall) {
        let output = call.exec().output.unwrap_or_default();
        self.take(call.take_body_changes());
        assert_eq!(self.stdout.0, call.stdout().unwrap_or_default());
        assert_eq!(self.stderr.0, call.stderr().unwrap_or_default());
        assert_eq!(self.stdout.1, output.stdout.unwrap_or(self.stdout.1));
        assert_eq!(self.stderr.1, output.stderr.unwrap_or(self.stderr.1));
        let settled = call.exec().output.unwrap_or_default();
        assert_eq!((settled.stdout, settled.stderr), (output.stdout, output.stderr));
        assert_eq!(call.take_body_changes(), []);
    }
}
