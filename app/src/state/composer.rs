//! What the composer may do in each state of its session.

use std::collections::HashMap;

use model::{MAX_QUEUED, SessionId, SessionState};

/// What is written to each session and not sent yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drafts(HashMap<SessionId, String>);

impl Drafts {
    /// The text that waits for this session; empty when none does.
    pub fn of(&self, session_id: SessionId) -> &str {
        self.0.get(&session_id).map_or("", String::as_str)
    }

    /// The text is now this one.
    pub fn write(&mut self, session_id: SessionId, text: String) {
        if text.is_empty() {
            self.0.remove(&session_id);
        } else {
            self.0.insert(session_id, text);
        }
    }

    /// A text comes back that was sent before.
    pub fn take_back(&mut self, session_id: SessionId, text: &str) {
        let draft = self.of(session_id);
        let between = if draft.is_empty() || draft.ends_with('\n') { "" } else { "\n" };
        let whole = format!("{draft}{between}{text}");
        self.write(session_id, whole);
    }

    /// The server has this text. What was typed after it stays, as does a text that was changed.
    pub fn sent(&mut self, session_id: SessionId, text: &str) {
        if let Some(rest) = self.of(session_id).strip_prefix(text).map(str::to_owned) {
            self.write(session_id, rest);
        }
    }
}

/// What the composer offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComposerState {
    /// A message can be sent.
    pub can_send: bool,
    /// A turn can be stopped.
    pub can_stop: bool,
    /// Why no message can be sent, or what becomes of it.
    pub reason: Option<&'static str>,
}

/// The composer of a session in this state. A message starts an agent that has ended; one to an
/// agent that works waits for the turn before it, if there is room for another (K-045).
pub const fn composer_state(
    state: SessionState,
    has_asked: bool,
    is_sending: bool,
    queued: usize,
) -> ComposerState {
    let is_full = state.is_busy() && queued >= MAX_QUEUED;
    let reason = match state {
        _ if is_sending => Some("Sending\u{2026}"),
        _ if is_full => Some("Ten messages wait already. Remove one to send another."),
        SessionState::Running if has_asked => {
            Some("The agent waits for your answer above. A message waits until it is done.")
        }
        SessionState::Starting | SessionState::Running => {
            Some("The agent is working. A message waits until it is done.")
        }
        _ => None,
    };
    ComposerState { can_send: !is_sending && !is_full, can_stop: state.is_busy(), reason }
}

/// Whether a press of Enter sends: not with Shift, nor while an input method composes.
pub const fn enter_sends(shift: bool, is_composing: bool) -> bool {
    !shift && !is_composing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_045_a_busy_agent_can_be_stopped_and_a_message_to_it_waits() {
        for state in [SessionState::Starting, SessionState::Running] {
            let composer = composer_state(state, false, false, 0);
            assert!(composer.can_send && composer.can_stop && composer.reason.is_some());
            assert!(!composer_state(state, false, false, MAX_QUEUED).can_send, "no room");
            assert!(!composer_state(state, false, true, 0).can_send, "one is on its way");
        }
    }

    #[test]
    fn every_other_state_takes_a_message_once() {
        for state in [
            SessionState::Created,
            SessionState::WaitingForInput,
            SessionState::Failed,
            SessionState::Cancelled,
            SessionState::Completed,
        ] {
            let composer = composer_state(state, false, false, MAX_QUEUED);
            assert!(composer.can_send && !composer.can_stop && composer.reason.is_none());
            assert!(!composer_state(state, false, true, 0).can_send, "not while one is on its way");
        }
    }

    #[test]
    fn k_044_an_agent_that_has_asked_is_not_said_to_work() {
        let reason = composer_state(SessionState::Running, true, false, 0).reason.unwrap();
        assert!(reason.starts_with("The agent waits for your answer above."));
    }

    #[test]
    fn what_is_typed_while_a_message_is_on_its_way_stays() {
        let (one, other) = (SessionId::from_bytes([1; 16]), SessionId::from_bytes([2; 16]));
        let mut drafts = Drafts::default();
        drafts.write(one, "first and more".into());
        drafts.write(other, "first".into());
        drafts.sent(one, "first");
        assert_eq!((drafts.of(one), drafts.of(other)), (" and more", "first"));
        drafts.sent(one, "something else");
        assert_eq!(drafts.of(one), " and more", "a text that was changed stays");
        drafts.sent(other, "first");
        assert_eq!(drafts.of(other), "");
    }

    #[test]
    fn k_045_a_text_that_comes_back_stands_behind_what_is_written() {
        let session = SessionId::from_bytes([1; 16]);
        let mut drafts = Drafts::default();
        drafts.take_back(session, "one");
        drafts.take_back(session, "two");
        assert_eq!(drafts.of(session), "one\ntwo");
    }

    #[test]
    fn enter_sends_only_when_it_means_to() {
        assert!(enter_sends(false, false));
        assert!(!enter_sends(true, false), "Shift and Enter is a new line");
        assert!(!enter_sends(false, true), "Enter chooses in an input method");
    }
}
