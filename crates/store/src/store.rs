//! The handle of an open store.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        mpsc::{SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
};

use redb::{ReadableDatabase, StorageBackend};
use tokio::sync::{Semaphore, oneshot};

use crate::{
    Op, OpenError, Options, Reader, StoreError, backup, open,
    writer::{Batch, Command, Opener, State, Writer},
};

/// Batches that may wait for the writer; whoever has one more waits for room.
const QUEUE: usize = 256;

/// An open store. Clones are handles of the same one; dropping the last closes it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    state: Arc<RwLock<State>>,
    room: Arc<Semaphore>,
    commands: SyncSender<Command>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Store {
    /// Opens the store in a file, and makes one where there is no file. Blocks.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; a file that cannot be opened is left as it is.
    pub fn open(path: &Path, options: &Options) -> Result<Self, OpenError> {
        let (path, options) = (path.to_owned(), options.clone());
        Self::start(Box::new(move || open::file(&path, &options)))
    }

    /// Opens the store in a backend. Clones of a backend hold the same bytes: the store opens it
    /// again after an I/O error.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub fn open_backend(
        backend: impl StorageBackend + Clone,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let options = options.clone();
        Self::start(Box::new(move || open::backend(backend.clone(), &options)))
    }

    fn start(opener: Opener) -> Result<Self, OpenError> {
        let state = Arc::new(RwLock::new(State::Open(opener()?)));
        // One more than there is room for: the command that closes always finds a place.
        let (commands, queue) = sync_channel(QUEUE + 1);
        let writer = Writer::new(Arc::clone(&state), opener);
        let writer = thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || writer.run(&queue))
            .map_err(|source| OpenError::Io { path: "store-writer".into(), source })?;
        Ok(Self {
            inner: Arc::new(Inner {
                state,
                room: Arc::new(Semaphore::new(QUEUE)),
                commands,
                writer: Mutex::new(Some(writer)),
            }),
        })
    }

    /// Applies a batch, whole or not at all. When this returns, it is on disk. What waits together
    /// shares one transaction. A batch that was handed over is applied even if the caller is gone.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; then nothing of the batch is stored.
    pub async fn commit(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        self.submit(ops, true).await
    }

    /// Applies a batch, whole or not at all. When this returns, readers see it; it is on disk
    /// within a second, and before anything that is committed later.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; then nothing of the batch is stored.
    pub async fn commit_lazy(&self, ops: Vec<Op>) -> Result<(), StoreError> {
        self.submit(ops, false).await
    }

    async fn submit(&self, ops: Vec<Op>, durable: bool) -> Result<(), StoreError> {
        let room = Arc::clone(&self.inner.room).acquire_owned().await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let (done, outcome) = oneshot::channel();
        // Whoever has a permit finds a place in the queue, so this fails only without a writer.
        self.inner
            .commands
            .try_send(Command::Commit(Batch::new(ops, durable, done, room)))
            .map_err(|_| StoreError::Closed)?;
        outcome.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Reads from one snapshot. Blocks on the disk: call it where that is allowed.
    ///
    /// # Errors
    ///
    /// [`StoreError`], of the store or of `f`.
    pub fn read<T>(
        &self,
        f: impl FnOnce(&Reader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let snapshot = self
            .inner
            .state
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .database()?
            .begin_read()?;
        f(&Reader::new(snapshot))
    }

    /// Writes a consistent, compact copy to `path`, which has that name only when it is whole and
    /// on disk. Writers go on. Blocks.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; then `path` is as it was.
    pub fn backup_to(&self, path: &Path) -> Result<(), StoreError> {
        self.read(|reader| backup::copy(reader.snapshot(), path))
    }

    /// Writes what waits, durably, and ends the writer. Blocks until then. Everything afterwards
    /// gives [`StoreError::Closed`].
    pub fn close(&self) {
        self.inner.close();
    }
}

impl Inner {
    fn close(&self) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = writer.take() {
            // Fails only when the writer is gone.
            let _ = self.commands.send(Command::Close);
            if thread.join().is_err() {
                tracing::error!("the store's writer panicked");
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}
