//! Messages of a session: prompts, answers, tool calls, permission requests.
//!
//! One struct in three forms, chosen by the type of a shell command's output: stored
//! ([`StoredMessage`]), listed ([`MessageView`]) and whole ([`WholeMessage`]).

use serde::{Deserialize, Serialize};

use crate::{
    ContentSummary, MessageId, OutputRecord, OutputSummary, SessionId, ShellExec, ShellOutput,
    Timestamp, TurnId, shell::Absent,
};

/// A message. `O` is the form of a shell command's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "O: Serialize + Absent",
    deserialize = "O: Deserialize<'de> + Default + Absent"
))]
pub struct Message<O> {
    /// Its id.
    pub id: MessageId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// The turn in which it was made; none for what comes between turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Its place in the session: 1, 2, 3 and so on, in order of creation.
    pub seq: u64,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: MessageKind,
    /// Who made it.
    pub author: Author,
    /// Text: the prompt, the answer, or the title of a tool call.
    #[serde(default)]
    pub content: String,
    /// What only some kinds have.
    #[serde(default = "Metadata::default")]
    pub metadata: Metadata<O>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A message as it is stored: bodies lie beside it.
pub type StoredMessage = Message<Option<OutputRecord>>;
/// A message as it is listed: it cannot carry a body.
pub type MessageView = Message<OutputSummary>;
/// A message read whole, for exports: bodies at their path.
pub type WholeMessage = Message<Option<ShellOutput>>;

impl<O> Message<O> {
    /// The same message with another form of its output.
    pub fn map_output<P>(self, form: impl FnOnce(O) -> P) -> Message<P> {
        let Self { id, session_id, turn_id, seq, kind, author, content, metadata, .. } = self;
        let Metadata {
            tool_call_id,
            status,
            normalized,
            permission,
            plan,
            paths,
            content: tool_content,
            client_message_id,
            html,
        } = metadata;
        let normalized = normalized
            .map(|n| Normalized { kind: n.kind, shell_exec: n.shell_exec.map_output(form) });
        let metadata = Metadata {
            tool_call_id,
            status,
            normalized,
            permission,
            plan,
            paths,
            content: tool_content,
            client_message_id,
            html,
        };
        Message {
            id,
            session_id,
            turn_id,
            seq,
            kind,
            author,
            content,
            metadata,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }

    /// The shell command, if this is one.
    pub fn shell_exec(&self) -> Option<&ShellExec<O>> {
        self.metadata.normalized.as_ref().map(|normalized| &normalized.shell_exec)
    }
}

impl StoredMessage {
    /// What a browser may see of it. Computed, never stored (S-031).
    pub fn to_view(&self) -> MessageView {
        self.clone().map_output(|output| OutputSummary::from(output.as_ref()))
    }
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// A prompt or an answer.
    Message,
    /// A tool call of no kind below.
    ToolCall,
    /// A change of a file.
    ToolEdit,
    /// A file that was read.
    ToolRead,
    /// A search.
    ToolSearch,
    /// A shell command.
    ToolExecute,
    /// What the agent thought.
    Thinking,
    /// The agent's plan.
    AgentPlan,
    /// A note about the session.
    Status,
    /// Something failed.
    Error,
    /// The agent asks leave.
    PermissionRequest,
}

/// Who made a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// The person at the page.
    User,
    /// The agent.
    Agent,
    /// Kandev itself.
    System,
}

/// Where a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// Named, not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Ended without a failure that is known.
    Complete,
    /// Failed.
    Error,
    /// Cancelled.
    Cancelled,
}

impl ToolStatus {
    /// Nothing more is expected.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Error | Self::Cancelled)
    }
}

/// What only some kinds of message have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "O: Serialize + Absent",
    deserialize = "O: Deserialize<'de> + Default + Absent"
))]
pub struct Metadata<O> {
    /// The agent's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Where the tool call stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// The tool call in Kandev's own terms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normalized: Option<Normalized<O>>,
    /// What the agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission: Option<PermissionRequest>,
    /// The agent's plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanEntry>,
    /// Files that the tool call names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What there is to open of a tool call that is no shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentSummary>,
    /// The sender's own id of a prompt: the same one twice is one prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<String>,
    /// The content as HTML that a page can trust, block by block, where it is Markdown. Made for a
    /// view, never stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub html: Vec<String>,
}

impl<O> Default for Metadata<O> {
    fn default() -> Self {
        Self {
            tool_call_id: None,
            status: None,
            normalized: None,
            permission: None,
            plan: Vec::new(),
            paths: Vec::new(),
            content: None,
            client_message_id: None,
            html: Vec::new(),
        }
    }
}

/// A tool call in Kandev's own terms: `{"kind":"shell_exec","shell_exec":{...}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "O: Serialize + Absent",
    deserialize = "O: Deserialize<'de> + Default + Absent"
))]
pub struct Normalized<O> {
    /// Always `shell_exec`, so far.
    pub kind: NormalizedKind,
    /// The command.
    pub shell_exec: ShellExec<O>,
}

impl<O> Normalized<O> {
    /// A shell command.
    pub const fn shell(shell_exec: ShellExec<O>) -> Self {
        Self { kind: NormalizedKind::ShellExec, shell_exec }
    }
}

/// The payload that a [`Normalized`] has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormalizedKind {
    /// A shell command.
    ShellExec,
}

/// One line of an agent's plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress` or `completed`, as the agent says.
    pub status: String,
}

/// What an agent asks leave for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// What is to be allowed: the command, else the tool call's title.
    pub subject: String,
    /// Whether `subject` is literal (a command).
    #[serde(default)]
    pub is_command: bool,
    /// The answers that the agent takes.
    pub options: Vec<PermissionOption>,
    /// What became of it; none while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<PermissionAnswer>,
}

/// An answer that an agent takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionOption {
    /// The agent's id of it.
    pub id: String,
    /// The agent's words for it.
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always`, or the agent's own.
    pub kind: String,
}

impl PermissionOption {
    /// Whether it allows what is asked.
    pub fn allows(&self) -> bool {
        self.kind.starts_with("allow")
    }
}

/// What became of a permission request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionAnswer {
    /// This option was chosen.
    Selected {
        /// The id of the option.
        option_id: String,
    },
    /// The turn was cancelled first.
    Cancelled,
    /// The agent ended first.
    Void,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn stored(output: Option<OutputRecord>) -> StoredMessage {
        Message {
            id: MessageId::from_bytes([1; 16]),
            session_id: SessionId::from_bytes([2; 16]),
            turn_id: None,
            seq: 1,
            kind: MessageKind::ToolExecute,
            author: Author::Agent,
            content: "ls".into(),
            metadata: Metadata {
                status: Some(ToolStatus::Complete),
                normalized: Some(Normalized::shell(ShellExec {
                    command: "ls".into(),
                    output,
                    ..ShellExec::default()
                })),
                ..Metadata::default()
            },
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn s_001_the_payload_stands_at_its_path() {
        let json = serde_json::to_value(stored(None)).unwrap();
        assert_eq!(
            json["metadata"]["normalized"],
            json!({"kind": "shell_exec", "shell_exec": {"command": "ls"}})
        );
        assert_eq!(json["type"], "tool_execute");
    }

    #[test]
    fn s_031_a_view_has_a_summary_and_no_place_for_a_body() {
        let view = serde_json::to_value(stored(None).to_view()).unwrap();
        let output = &view["metadata"]["normalized"]["shell_exec"]["output"];
        assert_eq!(output["has_output"], Value::Bool(false));
        let mut with_body = view.clone();
        with_body["metadata"]["normalized"]["shell_exec"]["output"]["stdout"] = json!("sentinel");
        let parsed: MessageView = serde_json::from_value(with_body).unwrap();
        assert_eq!(serde_json::to_value(parsed).unwrap(), view);
    }

    #[test]
    fn a_record_of_an_older_version_is_read_with_defaults() {
        let old = json!({
            "id": MessageId::from_bytes([1; 16]), "session_id": SessionId::from_bytes([2; 16]),
            "seq": 3, "type": "message", "author": "user",
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"
        });
        let message: StoredMessage = serde_json::from_value(old).unwrap();
        assert_eq!((message.content.as_str(), message.metadata), ("", Metadata::default()));
    }
}
