//! What the server tells unasked.

use serde::{Deserialize, Serialize};

use crate::{AgentView, MessageView, ProfileView, SessionId, SessionView, TaskCard, TaskId};

/// What the server tells unasked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", content = "payload")]
pub enum Notification {
    /// A message was added.
    #[serde(rename = "session.message.added")]
    MessageAdded {
        /// The revision.
        rev: u64,
        /// The message.
        message: MessageView,
    },
    /// A message changed.
    #[serde(rename = "session.message.updated")]
    MessageUpdated {
        /// The revision.
        rev: u64,
        /// The message as it is now.
        message: MessageView,
    },
    /// A session changed.
    #[serde(rename = "session.state_changed")]
    SessionStateChanged {
        /// The revision.
        rev: u64,
        /// The session as it is now.
        session: SessionView,
    },
    /// What is written to the agent changed, on some page.
    #[serde(rename = "session.draft.changed")]
    DraftChanged {
        /// The revision.
        rev: u64,
        /// The session.
        session_id: SessionId,
        /// The text as it is now.
        text: String,
    },
    /// A turn began.
    #[serde(rename = "session.turn.started")]
    TurnStarted {
        /// The revision.
        rev: u64,
        /// The session as it is now.
        session: SessionView,
    },
    /// A turn ended.
    #[serde(rename = "session.turn.completed")]
    TurnCompleted {
        /// The revision.
        rev: u64,
        /// The session as it is now.
        session: SessionView,
    },
    /// A task was created.
    #[serde(rename = "task.created")]
    TaskCreated {
        /// The revision.
        rev: u64,
        /// The task.
        task: TaskCard,
    },
    /// A task changed.
    #[serde(rename = "task.updated")]
    TaskUpdated {
        /// The revision.
        rev: u64,
        /// The task as it is now.
        task: TaskCard,
    },
    /// A task was deleted.
    #[serde(rename = "task.deleted")]
    TaskDeleted {
        /// The revision.
        rev: u64,
        /// The task.
        task_id: TaskId,
    },
    /// An agent of the catalogue stands otherwise.
    #[serde(rename = "agent.updated")]
    AgentUpdated {
        /// The revision.
        rev: u64,
        /// The agent as it is now.
        agent: AgentView,
    },
    /// The profiles have changed.
    #[serde(rename = "profiles.changed")]
    ProfilesChanged {
        /// The revision.
        rev: u64,
        /// All of them.
        profiles: Vec<ProfileView>,
    },
    /// The client fell behind: subscribe again.
    #[serde(rename = "resync")]
    Resync {
        /// The revision.
        rev: u64,
    },
}

impl Notification {
    /// The revision that it brings.
    pub const fn rev(&self) -> u64 {
        match self {
            Self::MessageAdded { rev, .. }
            | Self::MessageUpdated { rev, .. }
            | Self::SessionStateChanged { rev, .. }
            | Self::DraftChanged { rev, .. }
            | Self::TurnStarted { rev, .. }
            | Self::TurnCompleted { rev, .. }
            | Self::TaskCreated { rev, .. }
            | Self::TaskUpdated { rev, .. }
            | Self::TaskDeleted { rev, .. }
            | Self::AgentUpdated { rev, .. }
            | Self::ProfilesChanged { rev, .. }
            | Self::Resync { rev } => *rev,
        }
    }

    /// The session that it is about; none for the board.
    pub const fn session_id(&self) -> Option<SessionId> {
        match self {
            Self::MessageAdded { message, .. } | Self::MessageUpdated { message, .. } => {
                Some(message.session_id)
            }
            Self::SessionStateChanged { session, .. }
            | Self::TurnStarted { session, .. }
            | Self::TurnCompleted { session, .. } => Some(session.id),
            Self::DraftChanged { session_id, .. } => Some(*session_id),
            Self::TaskCreated { .. }
            | Self::TaskUpdated { .. }
            | Self::TaskDeleted { .. }
            | Self::AgentUpdated { .. }
            | Self::ProfilesChanged { .. }
            | Self::Resync { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_notification_has_its_action_beside_its_payload() {
        let json = serde_json::to_value(Notification::Resync { rev: 7 }).unwrap();
        assert_eq!(json, json!({"action": "resync", "payload": {"rev": 7}}));
    }
}
