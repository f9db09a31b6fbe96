//! What an agent offers in a session: commands, choices, and how full its memory is.

use serde::{Deserialize, Serialize};

/// What an agent offers while it runs. Nowhere stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offers {
    /// Its slash commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<AgentCommand>,
    /// What can be chosen: mode, model and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<AgentOption>,
    /// How much of the model's context is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl Offers {
    /// Nothing is offered.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The option of this kind and id.
    pub fn option(&self, kind: OptionKind, id: &str) -> Option<&AgentOption> {
        self.options.iter().find(|option| option.kind == kind && option.id == id)
    }
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// What may follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOption {
    /// How it is set.
    pub kind: OptionKind,
    /// The agent's id of it; `mode` and `model` where it has no other.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What is chosen.
    pub value: String,
    /// What there is.
    pub choices: Vec<Choice>,
}

/// The part of the protocol that an option belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionKind {
    /// The session's mode.
    Mode,
    /// The model.
    Model,
    /// A configuration option.
    Config,
}

/// One of an option's choices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The agent's id of it.
    pub value: String,
    /// Its name.
    pub name: String,
}

/// How much of the model's context is used, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Used.
    pub used: u64,
    /// There are.
    pub size: u64,
}
