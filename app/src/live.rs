//! The page's one connection to the server: asks, and keeps board and session up to date.

mod connection;
mod drafts;
mod exchange;

use futures::channel::{mpsc, oneshot};
use leptos::prelude::*;
use model::{ApiError, SessionId, wire::Request};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use connection::run;
pub use drafts::keep_drafts;

use crate::state::session::LiveSession;

/// Requests that may wait for the connection.
const WAITING: usize = 64;

/// Whether the page is up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is, or will be in a moment.
    Online,
    /// It is not: the server cannot be reached.
    Offline,
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// It was not sent.
    #[error("Not connected. Try again when the connection is back.")]
    Offline,
    /// It was sent, and whether it was done is unknown.
    #[error("The connection ended before the answer came.")]
    Lost,
    /// The server refused it.
    #[error("{}", with_hint(.0))]
    Refused(ApiError),
    /// The answer is not what this page expects.
    #[error("The answer cannot be read. Reload the page: Kandev may have been updated.")]
    Unreadable,
}

/// An error's sentence and its next step.
pub fn with_hint(error: &ApiError) -> String {
    match &error.hint {
        Some(hint) => format!("{} {hint}", error.message),
        None => error.message.clone(),
    }
}

type Reply = oneshot::Sender<Result<Value, AskError>>;

/// What the page wants of its connection.
pub enum Command {
    /// Send a request.
    Ask { request: Request, reply: Reply },
    /// Keep this session up to date.
    Follow(LiveSession),
    /// It is no longer shown.
    Unfollow(SessionId),
    /// Do not wait before the next try.
    TryNow,
}

/// The page's end of the connection. Cheap to clone.
#[derive(Clone)]
pub struct Live {
    // Not cloned for each use: every clone of a sender widens the channel.
    commands: ArcStoredValue<mpsc::Sender<Command>>,
    status: ArcRwSignal<Status>,
}

impl Live {
    /// A connection that [`run`] has still to make, with what it takes.
    pub fn new() -> (Self, mpsc::Receiver<Command>) {
        let (tx, rx) = mpsc::channel(WAITING);
        let status = ArcRwSignal::new(Status::Online);
        (Self { commands: ArcStoredValue::new(tx), status }, rx)
    }

    /// Whether the page is up to date.
    pub fn status(&self) -> ArcRwSignal<Status> {
        self.status.clone()
    }

    /// Sends a request and waits for its answer.
    pub async fn ask<T: DeserializeOwned>(&self, request: Request) -> Result<T, AskError> {
        let (reply, answer) = oneshot::channel();
        if !self.tell(Command::Ask { request, reply }) {
            return Err(AskError::Offline);
        }
        let value = answer.await.map_err(|_| AskError::Lost)??;
        serde_json::from_value(value).map_err(|_| AskError::Unreadable)
    }

    /// Keeps a session up to date until the current owner is cleaned up.
    pub fn follow(&self, session: LiveSession) {
        let (live, id) = (self.clone(), session.id);
        self.tell(Command::Follow(session));
        on_cleanup(move || {
            live.tell(Command::Unfollow(id));
        });
    }

    /// Does not wait before the next try.
    pub fn try_now(&self) {
        self.tell(Command::TryNow);
    }

    fn tell(&self, command: Command) -> bool {
        self.commands.try_update_value(|tx| tx.try_send(command).is_ok()).unwrap_or(false)
    }
}
