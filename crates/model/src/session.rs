//! Sessions and turns.

use serde::{Deserialize, Serialize};

use crate::{
    AgentIdentity, AgentKind, MessageId, Offers, ProfileId, SessionId, TaskId, Timestamp, TurnId,
};

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SessionState {
    /// Recorded, no agent yet.
    Created,
    /// The agent is being started.
    Starting,
    /// A turn is under way.
    Running,
    /// The next move is the person's.
    WaitingForInput,
    /// Ended as asked.
    Completed,
    /// Ended by a failure.
    Failed,
    /// Ended by the person.
    Cancelled,
}

impl SessionState {
    /// A turn is under way or about to be.
    pub const fn is_busy(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

/// One agent at work on a task, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The task it works on.
    pub task_id: TaskId,
    /// How its agent is started.
    pub profile_id: ProfileId,
    /// The profile's name when the session began.
    pub agent_name: String,
    /// The agent, as the profile says.
    #[serde(default)]
    pub agent: AgentKind,
    /// How the running program named itself.
    #[serde(default)]
    pub identity: AgentIdentity,
    /// The folder the agent works in, absolute.
    pub work_dir: String,
    /// Where it stands.
    pub state: SessionState,
    /// The agent's own id of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session_id: Option<String>,
    /// The place of the first message that belongs to that session: before it, ids of tool calls
    /// mean nothing to the agent.
    #[serde(default)]
    pub agent_session_seq: u64,
    /// Prompts that wait for the turn that is under way, in the order in which they are sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedPrompt>,
    /// Why it failed, safe to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// The most prompts that wait in one session (K-045).
pub const MAX_QUEUED: usize = 10;

/// A prompt that waits for the turn before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedPrompt {
    /// Its id while it waits.
    pub id: MessageId,
    /// The text.
    pub content: String,
    /// The sender's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_message_id: Option<String>,
}

/// A session as a browser sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// The task it works on.
    pub task_id: TaskId,
    /// The agent's name.
    pub agent_name: String,
    /// The version that the agent reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// The folder the agent works in.
    pub work_dir: String,
    /// Where it stands.
    pub state: SessionState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The turn that is under way, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// Prompts that wait.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<QueuedPrompt>,
    /// Commands that were cancelled and run on, by their messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<MessageId>,
    /// What the agent offers while it runs.
    #[serde(default, skip_serializing_if = "Offers::is_empty")]
    pub offers: Offers,
}

/// The most of a prompt that is told while it waits, in bytes.
const QUEUED_BYTES: usize = 4096;

impl QueuedPrompt {
    /// What is told with every change of its session.
    fn shortened(&self) -> Self {
        let end = self.content.floor_char_boundary(QUEUED_BYTES);
        let content = match self.content.get(..end) {
            Some(begin) if end < self.content.len() => format!("{begin}\u{2026}"),
            _ => self.content.clone(),
        };
        Self { content, ..self.clone() }
    }
}

impl Session {
    /// What a browser may see of what is stored.
    pub fn to_view(&self, turn: Option<Turn>) -> SessionView {
        SessionView {
            id: self.id,
            task_id: self.task_id,
            agent_name: self.agent_name.clone(),
            agent_version: self.identity.version.clone(),
            work_dir: self.work_dir.clone(),
            state: self.state,
            error: self.error.clone(),
            turn,
            queue: self.queue.iter().map(QueuedPrompt::shortened).collect(),
            survivors: Vec::new(),
            offers: Offers::default(),
        }
    }
}

/// One prompt and everything the agent did about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// When the prompt was sent.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How it ended; none while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The agent said so.
    Completed,
    /// The person stopped it.
    Cancelled,
    /// The agent refused to go on.
    Refused,
    /// It failed.
    Failed,
    /// The server ended in the middle of it.
    Interrupted,
}

/// A process that an agent runs in, remembered so that a later start can end what a crash left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcess {
    /// The session it works for.
    pub session_id: SessionId,
    /// Its process id, which is its process group too.
    pub pid: u32,
    /// When it started, in seconds since the Unix epoch: tells it from a later process of that id.
    pub started: u64,
    /// The program.
    pub program: String,
}
