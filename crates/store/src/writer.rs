//! The writer: one thread, one transaction for everything that waits.
//!
//! After an I/O error redb refuses everything until the file is opened again, so the writer does
//! that, and applies again what it had acknowledged without it being on disk.

use std::{
    io, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, PoisonError, RwLock,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use redb::{Database, Durability, WriteTransaction};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::{Op, OpenError, StoreError, apply::Change, open::panic_message};

/// What was acknowledged is on disk this much later, and the time that the disk takes.
const LAZY_DELAY: Duration = Duration::from_millis(750);

/// Opens the database, the first time and again.
pub(crate) type Opener = Box<dyn Fn() -> Result<Database, OpenError> + Send>;

/// What readers find.
pub(crate) enum State {
    Open(Database),
    /// It could not be opened again, yet.
    Failed(StoreError),
    Closed,
}

impl State {
    pub(crate) fn database(&self) -> Result<&Database, StoreError> {
        match self {
            Self::Open(db) => Ok(db),
            Self::Failed(err) => Err(err.clone()),
            Self::Closed => Err(StoreError::Closed),
        }
    }
}

/// What the writer is asked.
pub(crate) enum Command {
    Commit(Batch),
    Close,
}

/// Operations that are applied together, and who waits for them.
pub(crate) struct Batch {
    ops: Vec<Op>,
    durable: bool,
    done: oneshot::Sender<Result<(), StoreError>>,
    /// The batch's place in the queue, given back when it is done.
    _room: OwnedSemaphorePermit,
}

impl Batch {
    pub(crate) const fn new(
        ops: Vec<Op>,
        durable: bool,
        done: oneshot::Sender<Result<(), StoreError>>,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self { ops, durable, done, _room: room }
    }

    /// Tells who waits, if they still do, and gives the operations back.
    fn finish(self, result: Result<(), StoreError>) -> Vec<Op> {
        let _ = self.done.send(result);
        self.ops
    }
}

/// Owns the database's state; readers only look at it.
pub(crate) struct Writer {
    state: Arc<RwLock<State>>,
    opener: Opener,
    /// Acknowledged, and not on disk.
    undurable: Vec<Vec<Op>>,
    /// When to make it so, or to try again to open the database.
    due: Option<Instant>,
    /// The last durable commit failed. Until one succeeds nothing is acknowledged without: what
    /// waits for the disk must not grow.
    failed: bool,
}

impl Writer {
    pub(crate) const fn new(state: Arc<RwLock<State>>, opener: Opener) -> Self {
        Self { state, opener, undurable: Vec::new(), due: None, failed: false }
    }

    /// Works until it is told to close.
    pub(crate) fn run(mut self, queue: &Receiver<Command>) {
        let mut open = true;
        while open {
            let mut group = Vec::new();
            let mut next = self.wait(queue);
            while let Ok(Command::Commit(batch)) = next {
                group.push(batch);
                next = queue.try_recv().map_err(|_| RecvTimeoutError::Timeout);
            }
            open = matches!(next, Err(RecvTimeoutError::Timeout));
            if group.is_empty() {
                self.flush();
            } else {
                self.write(group);
            }
        }
        self.flush();
        self.replace(State::Closed);
    }

    fn wait(&self, queue: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        match self.due {
            Some(due) => queue.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Applies a group in one transaction; if one of its batches cannot be applied, each by itself.
    fn write(&mut self, group: Vec<Batch>) {
        let durable = self.failed
            || group.iter().any(|batch| batch.durable)
            || self.due.is_some_and(|due| due <= Instant::now());
        match self.transact(durable, group.iter().map(|batch| batch.ops.as_slice())) {
            Ok(()) => {
                let applied = group.into_iter().map(|batch| batch.finish(Ok(())));
                if durable {
                    applied.for_each(drop);
                } else {
                    self.undurable.extend(applied);
                    self.due.get_or_insert_with(|| Instant::now() + LAZY_DELAY);
                }
            }
            Err(err) if err.is_storage() || group.len() == 1 => {
                group.into_iter().for_each(|batch| drop(batch.finish(Err(err.clone()))));
            }
            Err(_) => group.into_iter().for_each(|batch| self.write(vec![batch])),
        }
    }

    /// Makes durable what is not.
    fn flush(&mut self) {
        if self.due.is_some()
            && let Err(err) = self.transact(true, std::iter::empty())
        {
            tracing::error!(%err, "the newest output is not on disk yet");
        }
    }

    /// One transaction. After a failure of the database, the database is open again or waits for
    /// the next attempt.
    fn transact<'a>(
        &mut self,
        durable: bool,
        batches: impl Iterator<Item = &'a [Op]>,
    ) -> Result<(), StoreError> {
        if let Err(err) = self.expect_open() {
            tracing::warn!(%err, "the store is opened again");
            self.reopen();
            self.expect_open()?;
        }
        let result = self.begin().and_then(|txn| run(txn, durable, batches));
        match &result {
            Ok(()) if durable => {
                self.undurable.clear();
                self.due = None;
                self.failed = false;
            }
            Err(err) if err.is_storage() => {
                tracing::error!(%err, "the store failed and is opened again");
                self.reopen();
            }
            _ => {}
        }
        result
    }

    /// An error where the database could not be opened.
    fn expect_open(&self) -> Result<(), StoreError> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).database().map(drop)
    }

    fn begin(&self) -> Result<WriteTransaction, StoreError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Ok(state.database()?.begin_write()?)
    }

    /// Opens the database anew, with everything that was acknowledged.
    fn reopen(&mut self) {
        self.replace(State::Failed(io::Error::other("it is being opened again").into()));
        let again = (self.opener)().map_err(StoreError::from);
        let again = again.and_then(|db| self.replay(&db).map(|()| db));
        self.replace(again.map_or_else(State::Failed, State::Open));
        self.due = Some(Instant::now() + LAZY_DELAY);
        self.failed = true;
    }

    fn replay(&self, db: &Database) -> Result<(), StoreError> {
        for ops in &self.undurable {
            match run(db.begin_write()?, false, std::iter::once(ops.as_slice())) {
                Err(err) if err.is_storage() => return Err(err),
                // What failed may have reached the disk all the same, such as a delete.
                Err(err) => tracing::warn!(%err, "output was left out when the store was reopened"),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn replace(&self, state: State) {
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(db) = mem::replace(&mut *current, state)
            && let Err(err) = db.close()
        {
            tracing::warn!(%err, "the store's file was not closed cleanly");
        }
    }
}

/// Applies batches and commits. A durable commit takes everything before it to disk, and leaves
/// the file so that it opens at once after a crash.
fn run<'a>(
    mut txn: WriteTransaction,
    durable: bool,
    mut batches: impl Iterator<Item = &'a [Op]>,
) -> Result<(), StoreError> {
    let commit = AssertUnwindSafe(move || {
        if durable {
            txn.set_quick_repair(true);
        } else {
            txn.set_durability(Durability::None)?;
        }
        let mut change = Change::new(&txn);
        batches.try_for_each(|ops| change.apply(ops))?;
        drop(change);
        Ok(txn.commit()?)
    });
    // redb may panic over a file that was changed behind its back.
    catch_unwind(commit).unwrap_or_else(|panic| Err(StoreError::Damaged(panic_message(&*panic))))
}
