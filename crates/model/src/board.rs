//! The board: workspace, workflow, steps, tasks.

use serde::{Deserialize, Serialize};

use crate::{
    MessageId, PermissionRequest, ProfileId, SessionId, SessionState, StepId, TaskId, Timestamp,
    TurnOutcome, WorkflowId, WorkspaceId,
};

/// Workflows, tasks and profiles that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its id.
    pub id: WorkspaceId,
    /// Its name.
    pub name: String,
}

/// An ordered list of steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workflow {
    /// Its id.
    pub id: WorkflowId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Its name.
    pub name: String,
    /// Its steps, in order; never empty.
    pub steps: Vec<Step>,
}

/// A step of a workflow: a column of the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Its id.
    pub id: StepId,
    /// Its name.
    pub name: String,
}

/// Where a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskState {
    /// Nothing was done.
    Todo,
    /// An agent works on it.
    InProgress,
    /// A person looks at it.
    Review,
    /// It cannot go on.
    Blocked,
    /// Done.
    Completed,
    /// Failed.
    Failed,
    /// Given up.
    Cancelled,
}

/// A task, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The workflow it moves through.
    pub workflow_id: WorkflowId,
    /// The step it is in.
    pub step_id: StepId,
    /// Its name.
    pub title: String,
    /// The first prompt.
    #[serde(default)]
    pub description: String,
    /// Where it stands.
    pub state: TaskState,
    /// The folder the agent works in, absolute.
    pub folder: String,
    /// The agent that works on it.
    pub profile_id: ProfileId,
    /// The newest session; none before the agent was first started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A task as a card shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCard {
    /// The task's id.
    pub id: TaskId,
    /// The step it is in.
    pub step_id: StepId,
    /// Its name.
    pub title: String,
    /// Where it stands.
    pub state: TaskState,
    /// The folder the agent works in.
    pub folder: String,
    /// The agent's name.
    pub agent_name: String,
    /// The newest session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<CardSession>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// What a card says about its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSession {
    /// The session's id.
    pub id: SessionId,
    /// Where it stands.
    pub state: SessionState,
    /// How the last turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<TurnOutcome>,
    /// What it does right now, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it asks leave for, and the message that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<(MessageId, PermissionRequest)>,
}

/// Everything that the board shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// The workspace.
    pub workspace: Workspace,
    /// Its workflow.
    pub workflow: Workflow,
    /// The tasks, oldest first.
    pub tasks: Vec<TaskCard>,
}
