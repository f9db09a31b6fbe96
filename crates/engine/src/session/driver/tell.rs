//! Telling everyone who listens what was stored, and what is true only while the agent lives.

use std::sync::Arc;

use model::{SessionView, TaskState, wire::Notification};

use super::{Changes, Driver};
use crate::{
    board::{LiveFacts, task_state},
    lock,
    view::view,
};

impl Driver {
    pub(super) async fn tell(&mut self, changes: Changes) {
        // Whoever reads a snapshot of this revision finds them.
        let card_moved = self.note_facts();
        let fanout = &self.engine.shared.fanout;
        for changed in &changes.messages {
            let message = view(&changed.message);
            if changed.added {
                fanout.publish(|rev| Notification::MessageAdded { rev, message });
            } else {
                fanout.publish(|rev| Notification::MessageUpdated { rev, message });
            }
        }
        let session_moved = changes.session.is_some() || changes.turn.is_some();
        if session_moved || changes.offers {
            let session = self.session_view();
            fanout.publish(|rev| match changes.turn {
                Some(turn) if turn.outcome.is_none() => Notification::TurnStarted { rev, session },
                Some(_) => Notification::TurnCompleted { rev, session },
                None => Notification::SessionStateChanged { rev, session },
            });
        }
        if session_moved || card_moved {
            self.tell_card(session_moved).await;
        }
    }

    /// Tells which cancelled commands still run.
    pub(super) fn tell_survivors(&mut self) {
        if self.facts.survivors == self.survivors.seen() {
            return;
        }
        self.facts.survivors = self.survivors.seen().to_vec();
        self.keep_facts();
        let session = self.session_view();
        let fanout = &self.engine.shared.fanout;
        fanout.publish(|rev| Notification::SessionStateChanged { rev, session });
    }

    fn session_view(&self) -> SessionView {
        self.facts.complete(self.machine.session().to_view(self.machine.turn().cloned()))
    }

    /// Notes what is true now and nowhere stored; whether the task's card says something else.
    fn note_facts(&mut self) -> bool {
        let session = self.machine.session();
        let transcript = self.machine.transcript();
        let facts = LiveFacts {
            activity: if session.state.is_busy() { transcript.activity() } else { None },
            ask: transcript.first_ask(),
            survivors: self.survivors.seen().to_vec(),
            offers: Arc::clone(self.machine.offers()),
        };
        let card_moved = (&facts.activity, &facts.ask) != (&self.facts.activity, &self.facts.ask);
        if facts != self.facts {
            self.facts = facts;
            self.keep_facts();
        }
        card_moved
    }

    /// Puts the facts where snapshots are made from.
    fn keep_facts(&self) {
        let session_id = self.machine.session().id;
        lock(&self.engine.shared.live).insert(session_id, self.facts.clone());
    }

    /// Tells the board what its card says now.
    async fn tell_card(&mut self, session_moved: bool) {
        let session = self.machine.session();
        let is_busy = session.state.is_busy();
        let state = task_state(session.state, self.machine.turn().and_then(|turn| turn.outcome));
        // A task that is gone has no card; whatever else failed was logged.
        let _ = self
            .engine
            .update_task(session.task_id, |task| {
                let is_done = task.state == TaskState::Completed && !is_busy;
                if session_moved && !is_done {
                    task.state = state;
                }
            })
            .await;
    }
}
