//! What the tests share: frames from JSON, replayed recordings, a store for bodies.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    AgentIdentity, AgentKind, BodyChange, BodyExtent, BodyStream, Departure, MessageKind,
    ToolStatus,
};
use serde_json::Value;
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

pub(crate) fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings")
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

/// The tool calls of a recording, in order of creation.
#[derive(Default)]
pub(crate) struct Replayed {
    pub(crate) calls: Vec<ReplayedCall>,
    /// The calls that a `session/load` told again.
    pub(crate) history: Vec<ReplayedCall>,
}

/// One tool call of a recording.
pub(crate) struct ReplayedCall {
    id: String,
    pub(crate) call: ShellCall,
    pub(crate) kind: Option<MessageKind>,
    /// The command after each frame.
    pub(crate) commands: Vec<String>,
    /// The different outputs that were there while the call was open.
    pub(crate) live_outputs: Vec<String>,
}

/// Replays a recording in the dialect of the program that it names.
pub(crate) fn replay(path: &Path) -> Replayed {
    let lines = lines(path);
    let info = lines.iter().find_map(|line| line.pointer("/frame/result/agentInfo"));
    let text = |key: &str| Some(info?.get(key)?.as_str()?.to_owned());
    let identity = AgentIdentity { name: text("name"), version: text("version") };
    let agent = agents::dialect_agent(&identity, AgentKind::Generic);
    replay_as(agent, &agents::departures(&identity), path)
}

/// Replays a recording as a host would see it, cancels and ended prompts included.
pub(crate) fn replay_as(agent: AgentKind, departures: &[Departure], path: &Path) -> Replayed {
    let dialect = Dialect::new(agent, departures);
    let mut replayed = Replayed::default();
    let mut in_turn = false;
    let mut loading = None;
    for line in lines(path) {
        let frame = &line["frame"];
        match frame["method"].as_str() {
            Some("session/load") => loading = Some(frame["id"].clone()),
            Some("session/prompt") => in_turn = true,
            Some("session/cancel") => replayed.cancel(CancelReason::User),
            Some(_) => {
                if let Some(frame) = tool_frame(frame) {
                    let is_history = loading.is_some();
                    let calls =
                        if is_history { &mut replayed.history } else { &mut replayed.calls };
                    take(calls, &frame, &dialect, in_turn || is_history);
                }
            }
            None if !frame["result"]["stopReason"].is_null() => {
                replayed.cancel(CancelReason::Sweep);
                in_turn = false;
            }
            None if line["dir"] == "in" && loading.as_ref() == Some(&frame["id"]) => loading = None,
            None => {}
        }
    }
    replayed
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Gives the frame to its call; outside a turn it makes none.
fn take(calls: &mut Vec<ReplayedCall>, frame: &ToolFrame, dialect: &Dialect, may_begin: bool) {
    if let Some(call) = calls.iter_mut().find(|call| call.id == frame.call_id) {
        call.take(frame);
    } else if may_begin {
        let mut call = ReplayedCall {
            id: frame.call_id.clone(),
            call: ShellCall::new(dialect.clone()),
            kind: None,
            commands: Vec::new(),
            live_outputs: Vec::new(),
        };
        call.take(frame);
        calls.push(call);
    }
}

impl Replayed {
    fn cancel(&mut self, reason: CancelReason) {
        for call in &mut self.calls {
            let _ = call.call.cancel(reason);
        }
    }
}

impl ReplayedCall {
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
