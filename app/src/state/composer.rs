//! What the composer may do in each state of its session.

use model::SessionState;

/// What the composer offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComposerState {
    /// A message can be sent.
    pub can_send: bool,
    /// A turn can be stopped.
    pub can_stop: bool,
    /// Why no message can be sent.
    pub reason: Option<&'static str>,
}

/// The composer of a session in this state. A message starts an agent that has ended.
pub const fn composer_state(state: SessionState, is_sending: bool) -> ComposerState {
    let reason = match state {
        SessionState::Starting => Some("The agent is starting. You can write on and send then."),
        SessionState::Running => Some("The agent is working. Stop it, or send when it is done."),
        _ if is_sending => Some("Sending\u{2026}"),
        _ => None,
    };
    ComposerState { can_send: reason.is_none(), can_stop: state.is_busy(), reason }
}

/// Whether a press of Enter sends: not with Shift, nor while an input method composes.
pub const fn enter_sends(shift: bool, is_composing: bool) -> bool {
    !shift && !is_composing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_agent_can_be_stopped_and_words_say_why_nothing_is_sent() {
        for state in [SessionState::Starting, SessionState::Running] {
            let composer = composer_state(state, false);
            assert!(!composer.can_send && composer.can_stop && composer.reason.is_some());
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
            let composer = composer_state(state, false);
            assert!(composer.can_send && !composer.can_stop && composer.reason.is_none());
            assert!(!composer_state(state, true).can_send, "not while one is on its way");
        }
    }

    #[test]
    fn enter_sends_only_when_it_means_to() {
        assert!(enter_sends(false, false));
        assert!(!enter_sends(true, false), "Shift and Enter is a new line");
        assert!(!enter_sends(false, true), "Enter chooses in an input method");
    }
}
