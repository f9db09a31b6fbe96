//! Sessions and turns.

use serde::{Deserialize, Serialize};

use crate::{AgentIdentity, AgentKind, MessageId, ProfileId, SessionId, TaskId, Timestamp, TurnId};

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
    /// Why it failed, safe to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
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
    /// Commands that were cancelled and run on, by their messages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<MessageId>,
}

impl Session {
    /// What a browser may see of it.
    pub fn to_view(&self, turn: Option<Turn>, survivors: Vec<MessageId>) -> SessionView {
        SessionView {
            id: self.id,
            task_id: self.task_id,
            agent_name: self.agent_name.clone(),
            agent_version: self.identity.version.clone(),
            work_dir: self.work_dir.clone(),
            state: self.state,
            error: self.error.clone(),
            turn,
            survivors,
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
