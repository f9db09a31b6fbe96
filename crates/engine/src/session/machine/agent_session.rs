//! The agent's own session: gone on with where that can be, and which calls it may speak of.

use acp::AgentEvent;
use model::{MessageKind, SessionState};
use shell_output::CancelReason;

use super::{AgentPhase, Effect, Machine, Stamp};
use crate::session::{
    known::KnownCalls,
    recall::{Recall, Recalled},
};

impl Machine {
    /// The session that the agent had when it last ran, to be taken up again where it can.
    pub(crate) fn earlier_session(&self) -> Option<&str> {
        self.session.agent_session_id.as_deref().filter(|_| !self.starts_afresh)
    }

    /// The agent cannot even start over its earlier session: the next start begins another.
    pub(crate) const fn give_up_earlier_session(&mut self) {
        self.starts_afresh = true;
    }

    /// The agent goes on with a session of which nothing is stored.
    pub(crate) fn leave_earlier_session(&mut self) {
        self.session.agent_session_id = None;
        self.session.agent_session_seq = self.transcript.next_seq();
    }

    /// The agent takes prompts, in a session that it has just begun.
    pub(crate) fn ready(&mut self, at: Stamp, agent_session: String) {
        if self.session.agent_session_id.is_some() {
            let text = "The agent was started again. It does not remember what was said before.";
            self.transcript.note(at, MessageKind::Status, text.into());
        }
        self.session.agent_session_seq = match self.agent {
            AgentPhase::Starting { first_seq } => first_seq,
            _ => {
                self.transcript.known = KnownCalls::none();
                self.transcript.next_seq()
            }
        };
        self.open(at, agent_session);
    }

    /// The agent takes prompts, in the session of an earlier process: it remembers what was said.
    pub(crate) fn resumed(&mut self, at: Stamp, agent_session: String) {
        self.transcript.known.lose_track();
        self.open(at, agent_session);
    }

    fn open(&mut self, at: Stamp, agent_session: String) {
        self.starts_afresh = false;
        self.session.agent_session_id = Some(agent_session.clone());
        self.session_changed = true;
        if let Some(active) = &mut self.active
            && let Some(text) = active.unsent.take()
        {
            let token = active.token;
            self.effects.push(Effect::Prompt { agent_session: agent_session.clone(), text, token });
            self.set_state(at, SessionState::Running);
        }
        self.agent = AgentPhase::Ready { agent_session };
    }

    /// The call that an event is about, if it is not held: the store is to be asked for it, and what
    /// it has handed in, before the event is taken (S-024).
    pub(crate) fn recall(&self, event: &AgentEvent) -> Option<Recall> {
        let (frame, since) = match event {
            AgentEvent::Tool(frame) | AgentEvent::Permission { tool: Some(frame), .. } => {
                if !self.transcript.known.may_contain(&frame.call_id) {
                    return None;
                }
                (frame, self.first_seq())
            }
            AgentEvent::History(frame) => (frame, self.session.agent_session_seq),
            _ => return None,
        };
        let has_rows = since < self.transcript.next_seq();
        if !has_rows || frame.is_empty_update() || self.transcript.holds(&frame.call_id) {
            return None;
        }
        let is_cancelled = self.active.as_ref().is_some_and(|active| active.cancelled);
        Some(Recall {
            session_id: self.session.id,
            call_id: frame.call_id.clone(),
            since,
            under_way: is_cancelled.then_some(CancelReason::User),
        })
    }

    /// What the store has of a call that it was asked for.
    pub(crate) fn recalled(&mut self, at: Stamp, row: Recalled) {
        self.transcript.recalled(at, row);
    }

    /// The first message that the agent which runs can know of.
    const fn first_seq(&self) -> u64 {
        match self.agent {
            AgentPhase::Starting { first_seq } => first_seq,
            AgentPhase::Ready { .. } | AgentPhase::Absent => self.session.agent_session_seq,
        }
    }
}
