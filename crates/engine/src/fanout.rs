//! Changes, numbered and sent to whoever listens.
//!
//! A change is published after it was stored. A client takes a revision first and reads the store
//! then, so what it reads is at least that new, and later revisions bring the rest.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use model::{
    SessionId,
    wire::{Notification, Since},
};
use tokio::sync::broadcast;

use crate::{clock, lock};

/// Changes that a slow listener may lag behind before it is told to start over.
const CAPACITY: usize = 1024;

pub(crate) struct Fanout {
    epoch: String,
    revisions: Mutex<Revisions>,
    tx: broadcast::Sender<Arc<Notification>>,
}

#[derive(Default)]
struct Revisions {
    last: u64,
    board: u64,
    /// Sessions that changed in this run.
    sessions: HashMap<SessionId, u64>,
}

impl Fanout {
    pub(crate) fn new() -> Self {
        let (tx, _) = broadcast::channel(CAPACITY);
        Self { epoch: clock::new_id().to_string(), revisions: Mutex::default(), tx }
    }

    pub(crate) fn epoch(&self) -> &str {
        &self.epoch
    }

    pub(crate) fn rev(&self) -> u64 {
        lock(&self.revisions).last
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.tx.subscribe()
    }

    /// Numbers a change and sends it. The lock keeps the order of numbers that of sending.
    pub(crate) fn publish(&self, change: impl FnOnce(u64) -> Notification) {
        let mut revisions = lock(&self.revisions);
        revisions.last += 1;
        let rev = revisions.last;
        let notification = change(rev);
        match notification.session_id() {
            Some(session_id) => {
                revisions.sessions.insert(session_id, rev);
            }
            None => revisions.board = rev,
        }
        // Nobody listens: whoever comes reads the store.
        let _ = self.tx.send(Arc::new(notification));
    }

    pub(crate) fn forget(&self, session_id: SessionId) {
        lock(&self.revisions).sessions.remove(&session_id);
    }

    /// Whether a client's board is as new as ours.
    pub(crate) fn board_is_current(&self, since: &Since) -> bool {
        since.epoch == self.epoch && lock(&self.revisions).board <= since.rev
    }

    /// Whether a client's session is as new as ours. One that never changed in this run is.
    pub(crate) fn session_is_current(&self, session_id: SessionId, since: &Since) -> bool {
        since.epoch == self.epoch
            && lock(&self.revisions).sessions.get(&session_id).is_none_or(|rev| *rev <= since.rev)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::TaskId;

    fn deleted(rev: u64) -> Notification {
        Notification::TaskDeleted { rev, task_id: TaskId::from_bytes([1; 16]) }
    }

    #[test]
    fn revisions_are_numbered_in_the_order_of_sending() {
        let fanout = Fanout::new();
        let mut rx = fanout.subscribe();
        fanout.publish(deleted);
        fanout.publish(deleted);
        assert_eq!(rx.try_recv().unwrap().rev(), 1);
        assert_eq!(rx.try_recv().unwrap().rev(), 2);
    }

    #[test]
    fn a_revision_of_another_run_is_never_current() {
        let fanout = Fanout::new();
        let here = Since { epoch: fanout.epoch().to_owned(), rev: 0 };
        assert!(fanout.board_is_current(&here));
        fanout.publish(deleted);
        assert!(!fanout.board_is_current(&here));
        let elsewhere = Since { epoch: "other".into(), rev: 99 };
        assert!(!fanout.board_is_current(&elsewhere));
        assert!(fanout.session_is_current(SessionId::from_bytes([1; 16]), &here));
    }
}
