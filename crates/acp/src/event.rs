//! What an agent says, in our own terms.

use model::{AgentCommand, AgentOption, PermissionOption, PlanEntry, Usage};
use shell_output::ToolFrame;

use crate::{PermissionKey, RpcError};

/// Something that an agent said or did, in the order in which it came.
#[derive(Debug)]
pub enum AgentEvent {
    /// A piece of the answer.
    Text(String),
    /// A piece of what it thinks.
    Thought(String),
    /// A piece of a prompt that it repeats.
    UserText(String),
    /// A tool call began or changed.
    Tool(ToolFrame),
    /// The same, told again by a session that is loaded (S-026).
    History(ToolFrame),
    /// The plan, whole.
    Plan(Vec<PlanEntry>),
    /// Its slash commands, all of them.
    Commands(Vec<AgentCommand>),
    /// Its configuration options, all of them.
    Options(Vec<AgentOption>),
    /// The mode that it is in now.
    Mode(String),
    /// How much of the model's context is used.
    Usage(Usage),
    /// It asks leave and waits for [`crate::Agent::respond`].
    Permission {
        /// Names the request in the answer.
        key: PermissionKey,
        /// What it is about, where the agent says so.
        tool: Option<ToolFrame>,
        /// The answers that it takes; never empty.
        options: Vec<PermissionOption>,
    },
    /// A prompt was answered, or never will be.
    PromptEnded {
        /// The prompt's token.
        token: u64,
        /// Why the turn ended.
        result: Result<StopReason, RpcError>,
    },
    /// An update that has no meaning here.
    Other {
        /// Its `sessionUpdate`.
        kind: String,
    },
    /// The process has ended. Always the last event.
    Exited(Exit),
}

/// Why a turn ended. `EndTurn` does not mean success: some agents tell a failure as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The agent is done.
    EndTurn,
    /// The model's output limit.
    MaxTokens,
    /// The agent's limit of requests in one turn.
    MaxTurnRequests,
    /// The agent refuses to go on.
    Refusal,
    /// As asked by `session/cancel`.
    Cancelled,
    /// In the agent's own word; empty when it gave none.
    Other(String),
}

impl From<&str> for StopReason {
    fn from(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "max_turn_requests" => Self::MaxTurnRequests,
            "refusal" => Self::Refusal,
            "cancelled" => Self::Cancelled,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// How a process ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exit {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The last lines of its stderr, oldest first: at most 20, of 500 characters each. May hold
    /// what the agent should not have printed, so it is for diagnosis, not for a log.
    pub stderr_tail: Vec<String>,
}
