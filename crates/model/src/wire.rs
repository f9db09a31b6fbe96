//! The messages of `/ws`, shared by both ends.
//!
//! Every frame is JSON: `{id?, type, action, payload, timestamp?}`. A request is answered by a
//! `response` or an `error` with its id; `notification`s come unasked and carry a revision.

mod notification;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApiError, Board, ErrorCode, MessageId, MessageView, OptionKind, ProfileDraft, ProfileId,
    SessionId, SessionView, StepId, TaskId, Timestamp,
};

pub use notification::Notification;

/// The largest frame that the server takes, in bytes.
pub const MAX_FRAME_BYTES: usize = 1 << 20; // 1 MiB
/// The most messages in one page of a session's history.
pub const MAX_PAGE_MESSAGES: usize = 200;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameType {
    /// Asks.
    Request,
    /// Answers.
    Response,
    /// Tells.
    Notification,
    /// Answers that it failed; the payload is an [`ApiError`].
    Error,
}

/// A frame before its payload is understood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Ties an answer to its request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: FrameType,
    /// What it is about.
    #[serde(default)]
    pub action: String,
    /// The rest.
    #[serde(default)]
    pub payload: Value,
    /// When it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

/// The revision of a client's state, in one run of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// [`crate::BootState::epoch`].
    pub epoch: String,
    /// The last revision seen.
    pub rev: u64,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", content = "payload")]
pub enum Request {
    /// Follow the board. Answer: [`BoardSnapshot`].
    #[serde(rename = "board.subscribe")]
    BoardSubscribe {
        /// What the client has; where that is current, the answer has no board.
        #[serde(default)]
        since: Option<Since>,
    },
    /// Follow a session. Answer: [`SessionSnapshot`].
    #[serde(rename = "session.subscribe")]
    SessionSubscribe {
        /// The session.
        session_id: SessionId,
        /// What the client has; where that is current, the answer has no session.
        #[serde(default)]
        since: Option<Since>,
    },
    /// Stop following a session.
    #[serde(rename = "session.unsubscribe")]
    SessionUnsubscribe {
        /// The session.
        session_id: SessionId,
    },
    /// A page of history. Answer: [`MessagePage`].
    #[serde(rename = "message.list")]
    MessageList {
        /// The session.
        session_id: SessionId,
        /// Only what came before this sequence number; none for the newest.
        #[serde(default)]
        before: Option<u64>,
        /// At most this many.
        #[serde(default)]
        limit: Option<u32>,
    },
    /// Prompt the agent. Answer: [`MessageAdded`].
    #[serde(rename = "message.add")]
    MessageAdd {
        /// The task.
        task_id: TaskId,
        /// The session.
        session_id: SessionId,
        /// The prompt.
        content: String,
        /// The sender's own id: the same one twice is one prompt.
        #[serde(default)]
        client_message_id: Option<String>,
    },
    /// Keep what is written to the agent and not sent yet. Answer: `{}`.
    #[serde(rename = "draft.set")]
    DraftSet {
        /// The session.
        session_id: SessionId,
        /// The text; empty forgets it.
        text: String,
    },
    /// Stop the turn. Answer: `{}`.
    #[serde(rename = "agent.cancel")]
    AgentCancel {
        /// The session.
        session_id: SessionId,
    },
    /// End the process of a command that outlived its cancel. Answer: `{}`.
    #[serde(rename = "command.end")]
    CommandEnd {
        /// The session.
        session_id: SessionId,
        /// The command's message.
        message_id: MessageId,
    },
    /// Answer a permission request. Answer: `{}`.
    #[serde(rename = "permission.respond")]
    PermissionRespond {
        /// The session.
        session_id: SessionId,
        /// The message that asks.
        message_id: MessageId,
        /// The chosen option.
        option_id: String,
    },
    /// Choose what the agent offers. Answer: `{}`.
    #[serde(rename = "option.set")]
    OptionSet {
        /// The session.
        session_id: SessionId,
        /// The kind of option.
        kind: OptionKind,
        /// The option's id.
        id: String,
        /// The choice.
        value: String,
    },
    /// Take a prompt out of the queue. Answer: the [`QueuedPrompt`](crate::QueuedPrompt), whole.
    #[serde(rename = "queue.remove")]
    QueueRemove {
        /// The session.
        session_id: SessionId,
        /// The prompt's id.
        message_id: MessageId,
    },
    /// Send a prompt of the queue now, when no turn is under way. Answer: [`MessageAdded`].
    #[serde(rename = "queue.send")]
    QueueSend {
        /// The session.
        session_id: SessionId,
        /// The prompt's id.
        message_id: MessageId,
    },
    /// Start the agent of a session again. Answer: `{}`.
    #[serde(rename = "session.start")]
    SessionStart {
        /// The session.
        session_id: SessionId,
    },
    /// The known agents, as they stand. Answer: [`AgentsView`](crate::AgentsView).
    #[serde(rename = "agents.list")]
    AgentsList {},
    /// Look for the known agents again. Answer: [`AgentsView`](crate::AgentsView), when that is done.
    #[serde(rename = "agents.scan")]
    AgentsScan {},
    /// Install an agent. Answer: `{}`, when it has begun; one that runs goes on.
    #[serde(rename = "agent.install")]
    AgentInstall {
        /// The agent's key.
        key: String,
    },
    /// Stop an installation. Answer: `{}`.
    #[serde(rename = "agent.install_cancel")]
    AgentInstallCancel {
        /// The agent's key.
        key: String,
    },
    /// Try the agent of a profile. Answer: [`TrialView`](crate::TrialView).
    #[serde(rename = "profile.try")]
    ProfileTry {
        /// The profile.
        profile_id: ProfileId,
    },
    /// Keep a profile. Answer: the [`ProfileView`](crate::ProfileView).
    #[serde(rename = "profile.save")]
    ProfileSave {
        /// The one that is changed; none for a new one.
        #[serde(default)]
        profile_id: Option<ProfileId>,
        /// What it is to be.
        profile: ProfileDraft,
    },
    /// Delete a profile that did not come with Kandev. Answer: `{}`.
    #[serde(rename = "profile.delete")]
    ProfileDelete {
        /// The profile.
        profile_id: ProfileId,
    },
    /// Create a task. Answer: the [`TaskCard`](crate::TaskCard).
    #[serde(rename = "task.create")]
    TaskCreate(NewTask),
    /// Move a task to another step. Answer: the [`TaskCard`](crate::TaskCard).
    #[serde(rename = "task.move")]
    TaskMove {
        /// The task.
        task_id: TaskId,
        /// Where to.
        step_id: StepId,
    },
    /// Delete a task with its sessions. Answer: `{}`.
    #[serde(rename = "task.delete")]
    TaskDelete {
        /// The task.
        task_id: TaskId,
    },
}

/// The actions of [`Request`].
const ACTIONS: &[&str] = &[
    "board.subscribe",
    "session.subscribe",
    "session.unsubscribe",
    "message.list",
    "message.add",
    "draft.set",
    "agent.cancel",
    "command.end",
    "permission.respond",
    "option.set",
    "queue.remove",
    "queue.send",
    "session.start",
    "agents.list",
    "agents.scan",
    "agent.install",
    "agent.install_cancel",
    "profile.try",
    "profile.save",
    "profile.delete",
    "task.create",
    "task.move",
    "task.delete",
];

impl Request {
    /// The request in a frame.
    ///
    /// # Errors
    ///
    /// `UNKNOWN_ACTION` for an action that is not one of ours, `NOT_FOUND` for an id that cannot
    /// name anything, `BAD_REQUEST` for any other payload that does not fit.
    pub fn from_frame(action: &str, payload: &Value) -> Result<Self, ApiError> {
        if !ACTIONS.contains(&action) {
            return Err(ApiError::new(ErrorCode::UnknownAction, format!("no action {action:?}")));
        }
        if let Some(name) = malformed_id(payload) {
            return Err(ApiError::new(ErrorCode::NotFound, format!("no such {name}")));
        }
        let tagged = serde_json::json!({"action": action, "payload": payload});
        serde_json::from_value(tagged)
            .map_err(|err| ApiError::new(ErrorCode::BadRequest, format!("{action}: {err}")))
    }
}

/// The name of the first `*_id` field that cannot be an id of ours.
fn malformed_id(payload: &Value) -> Option<&'static str> {
    ["task_id", "session_id", "message_id", "step_id", "profile_id"].into_iter().find_map(|name| {
        let text = payload.get(name)?.as_str()?;
        text.parse::<TaskId>().is_err().then(|| name.trim_end_matches("_id"))
    })
}

/// What the task dialog sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    /// Its name; empty: taken from the prompt.
    #[serde(default)]
    pub title: String,
    /// The prompt.
    pub prompt: String,
    /// The folder the agent works in, absolute.
    pub folder: String,
    /// The agent.
    pub agent: NewTaskAgent,
    /// Start the agent at once.
    #[serde(default)]
    pub start: bool,
}

/// The agent of a new task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewTaskAgent {
    /// One that is there.
    Profile(ProfileId),
    /// A command that speaks ACP; it becomes a profile.
    Custom(CustomCommand),
}

/// A custom ACP command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomCommand {
    /// The name that people see; empty: the program's.
    #[serde(default)]
    pub name: String,
    /// Program and arguments, quoted as in a shell.
    pub command_line: String,
    /// `NAME=value` lines.
    #[serde(default)]
    pub env: String,
}

/// Answer of `board.subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoardSnapshot {
    /// Names this run of the server.
    pub epoch: String,
    /// The revision it stands at.
    pub rev: u64,
    /// None when the client's own is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
}

/// Answer of `session.subscribe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionSnapshot {
    /// Names this run of the server.
    pub epoch: String,
    /// The revision it stands at.
    pub rev: u64,
    /// None when the client's own is current.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionView>,
    /// The newest messages, when there is a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<MessagePage>,
    /// What is written to the agent and not sent yet, when there is a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<String>,
}

/// A page of messages, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<MessageView>,
    /// Whether there are older ones.
    pub has_older: bool,
}

/// Answer of `message.add`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageAdded {
    /// The prompt's message.
    pub message_id: MessageId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_action_is_listed() {
        for action in ACTIONS {
            let err = Request::from_frame(action, &json!(5)).map(|_| ());
            assert!(
                !matches!(&err, Err(e) if e.message.contains("unknown variant")),
                "{action}: {err:?}"
            );
        }
    }

    #[test]
    fn an_unknown_action_and_a_bad_id_are_told_apart() {
        let code = |action, payload| Request::from_frame(action, &payload).unwrap_err().code;
        assert_eq!(code("task.explode", json!({})), ErrorCode::UnknownAction);
        assert_eq!(code("agent.cancel", json!({"session_id": "nope"})), ErrorCode::NotFound);
        assert_eq!(code("agent.cancel", json!({})), ErrorCode::BadRequest);
    }
}
