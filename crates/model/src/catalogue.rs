//! The agents that Kandev knows, as they stand on the machine of the server.

use serde::{Deserialize, Serialize};

use crate::{AgentKind, Timestamp};

/// All known agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentsView {
    /// The agents, the one to offer first first.
    pub agents: Vec<AgentView>,
    /// When it was looked; none before the first look has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<Timestamp>,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentView {
    /// Names it for good.
    pub key: String,
    /// The name that people see.
    pub name: String,
    /// Whose dialect it speaks.
    pub agent: AgentKind,
    /// How it stands.
    pub standing: Standing,
    /// What it needs that is older than its maker asks for, though it may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// The version that its program reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Its ACP command, for reading.
    pub acp: String,
    /// Its interactive command, for reading; none where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<String>,
    /// How it is installed.
    pub install: InstallView,
    /// What logs in, run once by the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The installation that runs, or the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobView>,
}

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It has not been looked for yet.
    Unknown,
    /// Its program is there and answers.
    Ready,
    /// Its program is not there; it is fetched when it is started.
    Fetched,
    /// It is not there.
    Missing,
    /// It is there and cannot be used.
    Broken {
        /// Why, for a person.
        reason: String,
    },
}

/// How an agent is installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstallView {
    /// By this command, which Kandev can run.
    Run(String),
    /// By hand; where that is described.
    ByHand(String),
}

/// An installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobView {
    /// How it stands.
    pub state: JobState,
    /// When it began.
    pub started_at: Timestamp,
    /// The last lines that it printed.
    pub log: Vec<String>,
}

/// How an installation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum JobState {
    /// It runs.
    Running,
    /// It ended well.
    Succeeded,
    /// It failed.
    Failed {
        /// Its exit code; none where a signal ended it or it could not begin.
        exit_code: Option<i32>,
    },
    /// The person stopped it.
    Cancelled,
}

/// What a profile's agent said when it was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialView {
    /// It answered; else `text` says why it did not.
    pub answered: bool,
    /// What it said, or why it said nothing: safe to show.
    pub text: String,
    /// The version that it reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// A profile as it is written by a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileDraft {
    /// The name that people see.
    pub name: String,
    /// Whose dialect it speaks until the program names itself.
    #[serde(default)]
    pub agent: AgentKind,
    /// Program and arguments, quoted as in a shell.
    pub command_line: String,
    /// `NAME=value` lines. A name alone keeps the value that is stored.
    #[serde(default)]
    pub env: String,
    /// The mode that a session begins in; empty: the agent's own.
    #[serde(default)]
    pub mode: String,
    /// The model; empty: the agent's own.
    #[serde(default)]
    pub model: String,
}
