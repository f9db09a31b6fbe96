//! Changes of the store, as data.

use std::sync::Arc;

use model::{
    AgentProcess, AgentProfile, BodyChange, BodyExtent, BodyStream, ProfileId, Session, SessionId,
    StoredMessage, Task, TaskId, Timestamp, ToolContent, Turn, Workflow, Workspace,
};
use serde::{Deserialize, Serialize};

/// One change. A batch of them is applied in order, whole or not at all.
///
/// A `Put` makes a record or replaces the one of the same id. What belongs to something (a session
/// to its task; turns, messages, bodies and processes to their session) is refused with
/// [`crate::StoreError::Orphan`] when that is not stored, so that nothing outlives a delete.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Keeps a workspace.
    PutWorkspace(Workspace),
    /// Keeps a workflow.
    PutWorkflow(Workflow),
    /// Keeps a task.
    PutTask(Task),
    /// Deletes a task with its sessions, turns, messages, bodies and processes.
    DeleteTask(TaskId),
    /// Keeps a session.
    PutSession(Session),
    /// Keeps a turn; it is open until it has an end.
    PutTurn(Turn),
    /// Keeps a message. Its `seq` is its own, and stays.
    PutMessage(StoredMessage),
    /// Changes a stream of a message's output. Belongs in one batch with the message's record.
    ChangeBody {
        /// The session.
        session_id: SessionId,
        /// The message's place in it.
        seq: u64,
        /// The stream.
        stream: BodyStream,
        /// The change.
        change: BodyChange,
        /// The stream's extent after the change.
        extent: BodyExtent,
    },
    /// Keeps what a tool call has to be opened. Belongs in one batch with the message's record.
    PutContent {
        /// The session.
        session_id: SessionId,
        /// The message's place in it.
        seq: u64,
        /// The content.
        content: Arc<ToolContent>,
    },
    /// Keeps the message that is being written to a session's agent; an empty one is forgotten.
    PutDraft {
        /// The session.
        session_id: SessionId,
        /// Its text.
        text: String,
    },
    /// Keeps a profile.
    PutProfile(AgentProfile),
    /// Deletes a profile.
    DeleteProfile(ProfileId),
    /// Remembers that a folder was used; the oldest beyond twenty are forgotten.
    RememberFolder {
        /// The folder, absolute.
        path: String,
        /// When it was used.
        at: Timestamp,
    },
    /// Remembers a running agent.
    PutProcess(AgentProcess),
    /// Forgets an agent that ended.
    DeleteProcess {
        /// The session it worked for.
        session_id: SessionId,
        /// Its process id.
        pid: u32,
    },
    /// Keeps a signed-in browser.
    PutBrowserSession(BrowserSession),
    /// Signs a browser out, by its public id.
    DeleteBrowserSession(String),
}

/// A signed-in browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserSession {
    /// Its public id, in hex.
    pub id: String,
    /// SHA-256 of the cookie's secret, in hex.
    pub secret_hash: String,
    /// What people know it by.
    #[serde(default)]
    pub label: String,
    /// When it signed in.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub last_seen: Timestamp,
}
