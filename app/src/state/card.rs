//! The one state that a task's card shows, out of everything that is known about it.

use model::{SessionState, TaskCard, TaskState, TurnOutcome, board::CardSession};

use crate::icon::Icon;

/// The state of a card. The shape says whose turn it is: circle the agent's, diamond the person's,
/// square nobody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardState {
    /// No agent has begun.
    Queued,
    /// An agent works.
    Running,
    /// Nothing goes on before the person answers.
    Waiting,
    /// The agent has answered; the person looks at it when they like.
    Review,
    /// It ended by a failure.
    Failed,
    /// It was stopped or interrupted.
    Stopped,
    /// Done.
    Done,
}

impl CardState {
    /// The value of `data-state`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Review => "review",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Done => "done",
        }
    }

    /// The words for it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Queued => "Not started",
            Self::Running => "Running",
            Self::Waiting => "Waits for you",
            Self::Review => "Answered",
            Self::Failed => "Failed",
            Self::Stopped => "Stopped",
            Self::Done => "Done",
        }
    }

    /// Its shape.
    pub const fn icon(self) -> Icon {
        match self {
            Self::Queued => Icon::Queued,
            Self::Running => Icon::Running,
            Self::Waiting => Icon::Waiting,
            Self::Review => Icon::Review,
            Self::Failed => Icon::Failed,
            Self::Stopped => Icon::Stopped,
            Self::Done => Icon::Done,
        }
    }
}

/// The state of a task's card. What needs the person comes first, then what runs, then how it ended.
pub fn card_state(card: &TaskCard) -> CardState {
    match (card.state, &card.session) {
        (_, Some(session)) if session.ask.is_some() => CardState::Waiting,
        (_, Some(session)) if session.state.is_busy() => CardState::Running,
        (TaskState::Completed, _) => CardState::Done,
        (TaskState::Cancelled, _) => CardState::Stopped,
        (TaskState::Failed, _) => CardState::Failed,
        (TaskState::Blocked, _) => CardState::Waiting,
        (_, Some(session)) => session_state(session),
        (TaskState::Review, None) => CardState::Review,
        (TaskState::Todo | TaskState::InProgress, None) => CardState::Queued,
    }
}

const fn session_state(session: &CardSession) -> CardState {
    match session.state {
        SessionState::Created => CardState::Queued,
        SessionState::Starting | SessionState::Running => CardState::Running,
        SessionState::Failed => CardState::Failed,
        SessionState::Cancelled => CardState::Stopped,
        SessionState::Completed => CardState::Done,
        SessionState::WaitingForInput => match session.outcome {
            Some(TurnOutcome::Failed | TurnOutcome::Refused) => CardState::Failed,
            Some(TurnOutcome::Cancelled | TurnOutcome::Interrupted) => CardState::Stopped,
            Some(TurnOutcome::Completed) | None => CardState::Review,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;

    #[test]
    fn a_task_without_a_session_has_not_started() {
        assert_eq!(card_state(&samples::card(1, "x")), CardState::Queued);
    }

    #[test]
    fn each_session_state_has_its_card_state() {
        for (session, expected) in [
            (SessionState::Created, CardState::Queued),
            (SessionState::Starting, CardState::Running),
            (SessionState::Running, CardState::Running),
            (SessionState::WaitingForInput, CardState::Review),
            (SessionState::Completed, CardState::Done),
            (SessionState::Failed, CardState::Failed),
            (SessionState::Cancelled, CardState::Stopped),
        ] {
            assert_eq!(card_state(&samples::card_in(1, session)), expected, "{session:?}");
        }
    }

    #[test]
    fn how_the_last_turn_ended_shows_while_the_session_waits() {
        for (outcome, expected) in [
            (TurnOutcome::Completed, CardState::Review),
            (TurnOutcome::Cancelled, CardState::Stopped),
            (TurnOutcome::Interrupted, CardState::Stopped),
            (TurnOutcome::Refused, CardState::Failed),
            (TurnOutcome::Failed, CardState::Failed),
        ] {
            let mut card = samples::card_in(1, SessionState::WaitingForInput);
            card.session.as_mut().unwrap().outcome = Some(outcome);
            assert_eq!(card_state(&card), expected, "{outcome:?}");
        }
    }

    #[test]
    fn k_044_a_question_outranks_everything() {
        let mut card = samples::card_in(1, SessionState::Running);
        card.state = TaskState::Completed;
        card.session.as_mut().unwrap().ask = Some(samples::ask());
        assert_eq!(card_state(&card), CardState::Waiting);
    }

    #[test]
    fn a_finished_task_is_done_unless_its_agent_works_again() {
        let mut card = samples::card_in(1, SessionState::WaitingForInput);
        card.state = TaskState::Completed;
        assert_eq!(card_state(&card), CardState::Done);
        card.session.as_mut().unwrap().state = SessionState::Running;
        assert_eq!(card_state(&card), CardState::Running);
    }
}
