//! Ids: UUIDs (version 7, so that they sort by creation), one type for each thing they name.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text is not an id. What it named, if anything, cannot be found by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a valid id")]
pub struct InvalidId;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The sixteen bytes, in the order in which ids sort.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The id with these bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text).map(Self).map_err(|_| InvalidId)
            }
        }
    )*};
}

ids! {
    /// A workspace: workflows, tasks and profiles that belong together.
    WorkspaceId,
    /// A workflow: an ordered list of steps.
    WorkflowId,
    /// A step of a workflow, shown as a column of the board.
    StepId,
    /// A task, shown as a card.
    TaskId,
    /// One agent at work on a task.
    SessionId,
    /// One prompt and everything the agent did about it.
    TurnId,
    /// A message of a session.
    MessageId,
    /// How an agent is started.
    ProfileId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_uuid_is_refused() {
        for text in ["", "x", "../etc/passwd", "0199f3c1-0000-7000-8000-00000000000g"] {
            assert_eq!(text.parse::<TaskId>(), Err(InvalidId), "{text:?}");
        }
    }

    #[test]
    fn an_id_survives_its_text() {
        let id = TaskId::from_bytes([7; 16]);
        assert_eq!(id.to_string().parse(), Ok(id));
    }
}
