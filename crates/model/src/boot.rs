//! The state in the first HTML response, from which server and browser render the same page.

use serde::{Deserialize, Serialize};

use crate::{AgentsView, Board, MessageView, ProfileView, SessionView, TaskCard, Timestamp};

/// What stands in `<script type="application/json" id="boot-state">`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BootState {
    /// Names this run of the server; revisions of another run mean nothing.
    pub epoch: String,
    /// The revision that the state stands at.
    pub rev: u64,
    /// The server's time when it rendered: the first render measures ages from it.
    pub now: Timestamp,
    /// The server's version.
    pub version: String,
    /// What the page shows.
    pub initial_state: InitialState,
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitialState {
    /// Which page it is.
    pub page: Page,
    /// The board; also under a task, for the step names and the watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The task of a task page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskCard>,
    /// Its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionView>,
    /// The newest messages of the session, oldest first.
    #[serde(default)]
    pub messages: Vec<MessageView>,
    /// Whether there are older messages.
    #[serde(default)]
    pub has_older: bool,
    /// What is written to the session's agent and not sent yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub draft: String,
    /// Agents that a task can be given to.
    #[serde(default)]
    pub profiles: Vec<ProfileView>,
    /// The agents that are known, on their page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<AgentsView>,
    /// Folders that were used before, newest first.
    #[serde(default)]
    pub folders: Vec<String>,
}

impl InitialState {
    /// A page that shows nothing yet.
    pub const fn of(page: Page) -> Self {
        Self {
            page,
            board: None,
            task: None,
            session: None,
            messages: Vec::new(),
            has_older: false,
            draft: String::new(),
            profiles: Vec::new(),
            agents: None,
            folders: Vec::new(),
        }
    }
}

/// The pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Page {
    /// `/login`
    Login,
    /// `/`
    Board,
    /// `/tasks/:id`
    Task,
    /// `/agents`
    Agents,
    /// Anything else.
    NotFound,
}
