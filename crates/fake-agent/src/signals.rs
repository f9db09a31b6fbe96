//! What a turn waits for: a cancel, or the client's answers.

use std::{
    collections::HashMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::Value;

/// The turn was cancelled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// Shared by the thread that reads stdin and the one that plays the turn.
#[derive(Default)]
pub(crate) struct Signals {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    cancelled: bool,
    next_id: u64,
    answers: HashMap<u64, Value>,
}

impl Signals {
    /// A new turn begins.
    pub(crate) fn reset(&self) {
        self.state().cancelled = false;
    }

    pub(crate) fn cancel(&self) {
        self.state().cancelled = true;
        self.changed.notify_all();
    }

    /// The id of the next request to the client.
    pub(crate) fn next_id(&self) -> u64 {
        let mut state = self.state();
        state.next_id += 1;
        state.next_id
    }

    /// The client has answered: the whole response.
    pub(crate) fn answer(&self, response: Value) {
        if let Some(id) = response["id"].as_u64() {
            self.state().answers.insert(id, response);
            self.changed.notify_all();
        }
    }

    /// Waits for the answer to this request.
    pub(crate) fn wait_answer(&self, id: u64) -> Result<Value, Cancelled> {
        let mut state = self.state();
        loop {
            if state.cancelled {
                return Err(Cancelled);
            }
            if let Some(answer) = state.answers.remove(&id) {
                return Ok(answer);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits this long.
    pub(crate) fn sleep(&self, time: Duration) -> Result<(), Cancelled> {
        let (state, _) = self
            .changed
            .wait_timeout_while(self.state(), time, |state| !state.cancelled)
            .unwrap_or_else(PoisonError::into_inner);
        if state.cancelled { Err(Cancelled) } else { Ok(()) }
    }

    /// Waits for the cancel.
    pub(crate) fn hang(&self) -> Cancelled {
        let waited = self.changed.wait_while(self.state(), |state| !state.cancelled);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        Cancelled
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
