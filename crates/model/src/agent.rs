//! Agents: which program speaks, how it is started, and where it departs from the rule.

use serde::{Deserialize, Serialize};

use crate::ProfileId;

/// The agents whose dialect is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Anthropic's Claude Code.
    Claude,
    /// OpenAI's Codex.
    Codex,
    /// OpenCode.
    #[serde(rename = "opencode")]
    OpenCode,
    /// Augment's Auggie.
    Auggie,
    /// Oh My Pi.
    Omp,
    /// Pi.
    Pi,
    /// Google's Gemini CLI.
    Gemini,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Qwen Code.
    Qwen,
    /// Anything else that speaks ACP.
    #[default]
    #[serde(other)]
    Generic,
}

impl AgentKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Claude,
        Self::Codex,
        Self::OpenCode,
        Self::Auggie,
        Self::Omp,
        Self::Pi,
        Self::Gemini,
        Self::Copilot,
        Self::Qwen,
        Self::Generic,
    ];

    /// Its name in records and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Auggie => "auggie",
            Self::Omp => "omp",
            Self::Pi => "pi",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Qwen => "qwen",
            Self::Generic => "generic",
        }
    }
}

/// How a program names itself in `initialize.agentInfo`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentIdentity {
    /// `agentInfo.name`, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `agentInfo.version`, as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A measured departure of one program from the source documents' rule (G-001).
///
/// `agents` says which program has which, from which version on. A program that has not named
/// itself and its version has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Departure {
    /// A failed command's text begins with `Exit code N`, which the agent wrote for its model.
    ExitCodePrefix,
    /// `_meta.terminal_exit.exit_code` is 1 for every failure; the code stands in the text.
    ExitFlag,
    /// `rawOutput.formatted_output` is cut for the model; `aggregated_output` is whole.
    AggregatedOutput,
    /// Output ends with a `<shell_metadata>` block, which the agent wrote for its model.
    ShellMetadataBlock,
    /// Where a command wrote nothing the agent writes `(no output)`.
    NoOutputWord,
    /// Output ends with the agent's own lines: how the command ended, how long it took.
    ClosingLines,
    /// Chunks of a large output begin again from a window that moves with it.
    MovingWindow,
    /// The echoed command and the title are cut after so many characters.
    CutEcho,
    /// What the agent wrote for its model stands in front of the output, or in its place.
    Preface,
    /// An exit code 0 stands beside the signal that ended a command.
    CodeBesideSignal,
}

/// A program to start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCommand {
    /// A name on the PATH, or an absolute path.
    pub program: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables on top of the server's environment. Values may be secret: never in a view.
    #[serde(default)]
    pub env: Vec<(String, String)>,
}

impl LaunchCommand {
    /// Program and arguments, quoted as in a shell where they have to be.
    pub fn line(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

fn quoted(word: &str) -> std::borrow::Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', "'\\''")).into()
}

/// How an agent's own terminal program is driven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Passthrough {
    /// The interactive program; none where the agent has none.
    pub command: Option<LaunchCommand>,
    /// The argument that takes the first prompt, where there is one.
    pub prompt_flag: Option<String>,
    /// Silence that counts as readiness, in milliseconds.
    pub idle_window_ms: u64,
    /// Between a prompt's body and its submit, in milliseconds.
    pub submit_delay_ms: u64,
    /// What submits a prompt.
    pub submit_sequence: String,
    /// What stops a turn.
    pub interrupt_sequence: String,
    /// Shown, never consulted (P-004).
    pub auto_inject_prompt: bool,
}

impl Default for Passthrough {
    fn default() -> Self {
        Self {
            command: None,
            prompt_flag: None,
            idle_window_ms: 3000,
            submit_delay_ms: 150,
            submit_sequence: "\r".into(),
            interrupt_sequence: "\u{3}".into(),
            auto_inject_prompt: true,
        }
    }
}

/// How an agent is started, and as what it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProfile {
    /// Its id.
    pub id: ProfileId,
    /// The name that people see.
    pub name: String,
    /// The agent it starts; decides the dialect until the program names itself.
    #[serde(default)]
    pub agent: AgentKind,
    /// The ACP command.
    pub command: LaunchCommand,
    /// Variables on top of those of the command: their names, and their values sealed with the key
    /// of the data directory, in base64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sealed_env: Vec<(String, String)>,
    /// The mode that its sessions begin in, where it offers that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The model that its sessions begin with, where it offers that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Use the agent's own terminal program instead of ACP.
    #[serde(default)]
    pub cli_passthrough: bool,
    /// How that program is driven.
    #[serde(default)]
    pub passthrough: Passthrough,
    /// Came with Kandev.
    #[serde(default)]
    pub built_in: bool,
}

impl AgentProfile {
    /// What a browser may see of it: no environment.
    pub fn to_view(&self) -> ProfileView {
        let command_line = self.command.line();
        ProfileView {
            id: self.id,
            name: self.name.clone(),
            agent: self.agent,
            command_line,
            env_names: self.sealed_env.iter().map(|(name, _)| name.clone()).collect(),
            mode: self.mode.clone(),
            model: self.model.clone(),
            built_in: self.built_in,
        }
    }
}

/// A profile as a browser sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileView {
    /// Its id.
    pub id: ProfileId,
    /// The name that people see.
    pub name: String,
    /// The agent it starts.
    pub agent: AgentKind,
    /// Program and arguments, quoted as in a shell.
    pub command_line: String,
    /// The names of its variables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// The mode that its sessions begin in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The model that its sessions begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Came with Kandev.
    pub built_in: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_written_so_that_it_can_be_typed() {
        let args = ["-c", "a b", "it's", "x@1.2", ""].map(str::to_owned).to_vec();
        let command = LaunchCommand { program: "sh".into(), args, env: Vec::new() };
        assert_eq!(command.line(), r"sh -c 'a b' 'it'\''s' x@1.2 ''");
    }

    #[test]
    fn an_agent_has_one_name() {
        for agent in AgentKind::ALL {
            assert_eq!(serde_json::to_value(agent).unwrap(), agent.name());
        }
    }
}
