//! Sessions, turns and board commands: the only crate that combines agents, store and normalizer.
//!
//! Everything that a person can do is one method of [`Engine`]; REST, WebSocket and server functions
//! call the same ones. What an agent does is taken by one task per session, which drives a pure
//! machine; see the module `session`.

mod board;
mod boot;
mod catalogue;
mod clock;
mod command_line;
mod draft;
mod fanout;
mod folder;
mod history;
mod profile;
pub mod recording;
mod recovery;
mod safe_text;
mod secrets;
mod seed;
mod session;
mod view;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use model::{ApiError, ErrorCode, SessionId, wire::Notification};
use store::{Reader, Store, StoreError};
use tokio::sync::broadcast;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use boot::Route;
pub use secrets::{Secrets, SecretsError};

use crate::{
    board::LiveFacts, catalogue::Catalogue, fanout::Fanout, recording::Recorder,
    session::SessionHandle,
};

/// The application, without any web: cheap to clone.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    store: Store,
    fanout: Fanout,
    /// Sessions that have a task of their own right now.
    sessions: Mutex<HashMap<SessionId, SessionHandle>>,
    /// What cards say about sessions and nothing stores.
    live: Mutex<HashMap<SessionId, LiveFacts>>,
    /// Held while a task's record is read, changed and written.
    task_writes: tokio::sync::Mutex<()>,
    /// Held while a draft is written and told: the last one told is the one that is stored.
    draft_writes: tokio::sync::Mutex<()>,
    stopping: CancellationToken,
    /// Cancelled once nothing of an earlier run is left. The look-out for that goes by the session's
    /// id, so it would take a new agent of the same session for one of them.
    swept: CancellationToken,
    tasks: TaskTracker,
    recorder: Option<Recorder>,
    secrets: Secrets,
    catalogue: Mutex<Catalogue>,
    /// Held while agents are looked for.
    scanning: tokio::sync::Mutex<()>,
}

/// How an engine is started.
pub struct Options {
    /// Writes down whatever passes between Kandev and its agents.
    pub recorder: Option<Recorder>,
    /// Seals what is secret in the store.
    pub secrets: Secrets,
}

impl Default for Options {
    /// Nothing is written down; what is sealed is lost with the process.
    fn default() -> Self {
        Self { recorder: None, secrets: Secrets::ephemeral() }
    }
}

/// The engine could not start.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare the store: {source}")]
pub struct StartError {
    #[from]
    source: StoreError,
}

impl Engine {
    /// Prepares the store (workspace, workflow, built-in agents), settles what the last run left
    /// open, and ends agent processes that it left behind.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub async fn start(store: Store) -> Result<Self, StartError> {
        Self::start_with(store, Options::default()).await
    }

    /// The same, with options.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub async fn start_with(store: Store, options: Options) -> Result<Self, StartError> {
        let Options { recorder, secrets } = options;
        seed::seed(&store).await?;
        profile::seal_all(&store, &secrets).await?;
        let left = recovery::settle(&store, clock::now()).await?;
        let engine = Self {
            shared: Arc::new(Shared {
                store,
                fanout: Fanout::new(),
                sessions: Mutex::default(),
                live: Mutex::default(),
                task_writes: tokio::sync::Mutex::default(),
                draft_writes: tokio::sync::Mutex::default(),
                stopping: CancellationToken::new(),
                swept: CancellationToken::new(),
                tasks: TaskTracker::new(),
                recorder,
                secrets,
                catalogue: Mutex::default(),
                scanning: tokio::sync::Mutex::default(),
            }),
        };
        let (store, swept) = (engine.shared.store.clone(), engine.shared.swept.clone());
        engine.shared.tasks.spawn(async move {
            recovery::end_leftovers(&store, left).await;
            swept.cancel();
        });
        Ok(engine)
    }

    /// Ends every agent and waits for it. Turns that were under way are stored as interrupted.
    pub async fn shutdown(&self) {
        self.shared.stopping.cancel();
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }

    /// The store beneath.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Names this run of the server.
    pub fn epoch(&self) -> &str {
        self.shared.fanout.epoch()
    }

    /// Everything that changes from now on, in order.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.shared.fanout.subscribe()
    }

    /// The revision that now stands.
    pub fn rev(&self) -> u64 {
        self.shared.fanout.rev()
    }

    /// Does a command to its end, whether or not the one who asked still waits for the answer.
    async fn to_its_end<T: Send + 'static>(
        &self,
        command: impl Future<Output = Result<T, ApiError>> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.shared.tasks.spawn(command).await.map_err(|err| internal(&err))?
    }

    /// Runs blocking reads off the async threads, on one snapshot.
    async fn read<T: Send + 'static>(
        &self,
        reads: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let store = self.shared.store.clone();
        tokio::task::spawn_blocking(move || store.read(reads))
            .await
            .map_err(|err| internal(&err))?
            .map_err(|err| internal(&err))
    }
}

/// Logs what went wrong where it is handled, and tells a client no more than that it did.
fn internal(err: &dyn std::fmt::Display) -> ApiError {
    tracing::error!(%err, "request failed");
    ApiError::new(ErrorCode::InternalError, "Something failed in the server.")
        .with_hint("Its log has the details.")
}

fn not_found(what: &str) -> ApiError {
    ApiError::new(ErrorCode::NotFound, format!("There is no such {what}."))
}

/// A panic while the lock was held cannot leave these maps half-changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
