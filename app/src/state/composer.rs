//! What the composer may do in each state of its session.

use model::{MAX_QUEUED, SessionState};

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
    fn enter_sends_only_when_it_means_to() {
        assert!(enter_sends(false, false));
        assert!(!enter_sends(true, false), "Shift and Enter is a new line");
        assert!(!enter_sends(false, true), "Enter chooses in an input method");
    }
}
