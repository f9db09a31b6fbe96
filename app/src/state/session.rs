//! A session as its page keeps it, and how notifications and pages of history change it.

use leptos::prelude::*;
use model::{
    SessionId, SessionState, SessionView, TurnOutcome,
    wire::{MessagePage, Notification, SessionSnapshot, Since},
};

use super::{format, history::History, seen::Seen};
use crate::icon::Icon;

/// A session as it is now. Cheap to clone; every clone is the same session.
#[derive(Clone)]
pub struct LiveSession {
    /// Its id.
    pub id: SessionId,
    /// What is known of it; none before the first answer.
    pub view: ArcRwSignal<Option<SessionView>>,
    /// Its messages.
    pub messages: History,
    /// Whether there are older ones.
    pub has_older: ArcRwSignal<bool>,
    /// What the server has of the message that is being written; none before the first answer.
    pub draft: ArcRwSignal<Option<String>>,
    seen: ArcStoredValue<Seen>,
}

/// Two are equal when they are the same one.
impl PartialEq for LiveSession {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && self.view == other.view
    }
}

impl LiveSession {
    /// A session of which nothing is known yet.
    pub fn unknown(id: SessionId) -> Self {
        Self {
            id,
            view: ArcRwSignal::new(None),
            messages: History::new(Vec::new()),
            has_older: ArcRwSignal::new(false),
            draft: ArcRwSignal::new(None),
            seen: ArcStoredValue::new(Seen::default()),
        }
    }

    /// The session that came with this revision.
    pub fn known(
        view: SessionView,
        page: MessagePage,
        draft: String,
        epoch: &str,
        rev: u64,
    ) -> Self {
        Self {
            id: view.id,
            view: ArcRwSignal::new(Some(view)),
            messages: History::new(page.messages),
            has_older: ArcRwSignal::new(page.has_older),
            draft: ArcRwSignal::new(Some(draft)),
            seen: ArcStoredValue::new(Seen::at(epoch, rev)),
        }
    }

    /// What to tell the server that is already here.
    pub fn since(&self) -> Option<Since> {
        self.seen.with_value(Seen::since)
    }

    /// The server said that something was missed.
    pub fn forget(&self) {
        self.seen.update_value(Seen::forget);
    }

    /// Takes the answer of `session.subscribe`.
    pub fn take(&self, snapshot: SessionSnapshot) {
        let is_same_run = self.seen.with_value(|seen| seen.is_of(&snapshot.epoch));
        self.seen.set_value(Seen::at(&snapshot.epoch, snapshot.rev));
        if let Some(page) = snapshot.page {
            self.take_newest(page, is_same_run);
        }
        if let Some(view) = snapshot.session {
            self.settle(view);
        }
        if snapshot.draft.is_some() {
            self.draft.set(snapshot.draft);
        }
    }

    /// Takes a notification, if it is about this session and news.
    pub fn apply(&self, notification: &Notification) {
        if notification.session_id() != Some(self.id) {
            return;
        }
        if self.seen.try_update_value(|seen| seen.admits(notification.rev())) != Some(true) {
            return;
        }
        match notification {
            Notification::MessageAdded { message, .. }
            | Notification::MessageUpdated { message, .. } => self.messages.upsert(message.clone()),
            Notification::SessionStateChanged { session, .. }
            | Notification::TurnStarted { session, .. }
            | Notification::TurnCompleted { session, .. } => self.settle(session.clone()),
            Notification::DraftChanged { text, .. } => self.draft.set(Some(text.clone())),
            Notification::TaskCreated { .. }
            | Notification::TaskUpdated { .. }
            | Notification::TaskDeleted { .. }
            | Notification::AgentUpdated { .. }
            | Notification::ProfilesChanged { .. }
            | Notification::Resync { .. } => {}
        }
    }

    /// Takes a page of history that ends where the messages here begin.
    pub fn take_older(&self, page: MessagePage) {
        self.messages.prepend(page.messages);
        self.has_older.set(page.has_older);
    }

    /// Messages that are here stay where the page joins them; else they would lie behind a gap. What
    /// an earlier run of the server told may not have outlived it.
    fn take_newest(&self, page: MessagePage, is_same_run: bool) {
        let known = self.messages.first_key().zip(untrack(|| self.messages.last_key()));
        let joins = match (page.messages.first(), known) {
            (Some(new), Some((first, last))) => {
                is_same_run && (first..=last + 1).contains(&new.seq)
            }
            _ => false,
        };
        if joins {
            for message in page.messages {
                self.messages.upsert(message);
            }
        } else {
            self.messages.replace(page.messages);
            self.has_older.set(page.has_older);
        }
    }

    fn settle(&self, view: SessionView) {
        if self.view.with_untracked(|known| known.as_ref() != Some(&view)) {
            self.view.set(Some(view));
        }
    }
}

/// How the last turn ended, as the line under it; none while one runs or before the first.
pub fn turn_line(session: &SessionView) -> Option<String> {
    let turn = session.turn.as_ref()?;
    let took = format::duration(turn.ended_at?.seconds_since(turn.started_at));
    Some(match turn.outcome? {
        TurnOutcome::Completed => format!("Worked for {took}"),
        TurnOutcome::Cancelled => format!("Stopped after {took}"),
        TurnOutcome::Refused => format!("Refused after {took}"),
        TurnOutcome::Failed => format!("Failed after {took}"),
        TurnOutcome::Interrupted => format!("Interrupted after {took}"),
    })
}

/// What can be done about a session that does not work: why, and the words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// Its shape.
    pub icon: Icon,
    /// What is the matter.
    pub fact: &'static str,
    /// What the button says.
    pub act: &'static str,
}

/// The offer to start the agent, where it has not begun or has ended against its will.
pub fn start_offer(session: &SessionView) -> Option<Offer> {
    let outcome = session.turn.as_ref().and_then(|turn| turn.outcome);
    let (icon, fact, act) = match (session.state, outcome) {
        (SessionState::Created, _) => {
            (Icon::Queued, "The agent has not started.", "Start the agent")
        }
        (SessionState::Failed, _) => (
            Icon::Failed,
            "The last turn failed. Starting again repeats your last message.",
            "Start again",
        ),
        (SessionState::Cancelled | SessionState::Completed, _) => {
            (Icon::Stopped, "The agent has ended.", "Start again")
        }
        (SessionState::WaitingForInput, Some(TurnOutcome::Interrupted)) => (
            Icon::Stopped,
            "The turn was interrupted. Starting again repeats your last message.",
            "Start again",
        ),
        (SessionState::WaitingForInput | SessionState::Starting | SessionState::Running, _) => {
            return None;
        }
    };
    Some(Offer { icon, fact, act })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::{MessageView, Timestamp};

    fn texts(session: &LiveSession) -> Vec<String> {
        session.messages.list().iter().map(|row| row.record.get().content).collect()
    }

    fn page(messages: Vec<MessageView>, has_older: bool) -> MessagePage {
        MessagePage { messages, has_older }
    }

    fn live(messages: Vec<MessageView>) -> LiveSession {
        let view = samples::session(SessionState::Running);
        LiveSession::known(view, page(messages, true), String::new(), "a", 5)
    }

    fn snapshot(rev: u64, messages: Vec<MessageView>) -> SessionSnapshot {
        SessionSnapshot {
            epoch: "a".into(),
            rev,
            session: Some(samples::session(SessionState::WaitingForInput)),
            page: Some(page(messages, true)),
            draft: None,
        }
    }

    #[test]
    fn k_004_text_streams_in_place_and_twice_is_once() {
        let session = live(vec![samples::message(1, "prompt")]);
        let rows = session.messages.list();
        for (rev, text) in [(6, "Hel"), (7, "Hello"), (7, "Hello"), (6, "Hel")] {
            let message = samples::message(2, text);
            session.apply(&Notification::MessageUpdated { rev, message });
        }
        assert_eq!(texts(&session), ["prompt", "Hello"]);
        assert!(rows[0] == session.messages.list()[0], "the other row was left alone");
    }

    #[test]
    fn another_sessions_message_is_not_shown_here() {
        let session = live(vec![]);
        let mut message = samples::message(1, "elsewhere");
        message.session_id = SessionId::from_bytes([99; 16]);
        session.apply(&Notification::MessageAdded { rev: 9, message });
        assert!(texts(&session).is_empty());
        assert_eq!(session.since().unwrap().rev, 5, "its revision is not ours either");
    }

    #[test]
    fn older_messages_come_first_and_the_rest_stays() {
        let session = live(vec![samples::message(3, "c")]);
        session.take_older(page(vec![samples::message(1, "a"), samples::message(2, "b")], false));
        assert_eq!(texts(&session), ["a", "b", "c"]);
        assert!(!session.has_older.get_untracked());
    }

    #[test]
    fn a_change_of_a_message_that_is_not_here_leaves_no_gap() {
        let session = live(vec![samples::message(8, "h")]);
        session.apply(&Notification::MessageUpdated { rev: 6, message: samples::message(2, "b") });
        assert_eq!(texts(&session), ["h"]);
    }

    #[test]
    fn a_snapshot_that_reaches_back_keeps_history_and_one_that_does_not_drops_it() {
        let session = live(vec![samples::message(1, "a"), samples::message(2, "b")]);
        session.take(snapshot(8, vec![samples::message(2, "B"), samples::message(3, "c")]));
        assert_eq!(texts(&session), ["a", "B", "c"]);
        session.take(snapshot(9, vec![samples::message(7, "g")]));
        assert_eq!(texts(&session), ["g"]);
        assert!(session.has_older.get_untracked());
    }

    #[test]
    fn q_007_what_the_server_lost_in_a_crash_is_gone_from_the_page_too() {
        let session = live(vec![samples::message(1, "a"), samples::message(2, "lost")]);
        let page = vec![samples::message(1, "a")];
        session.take(SessionSnapshot { epoch: "b".into(), ..snapshot(1, page) });
        assert_eq!(texts(&session), ["a"]);
    }

    #[test]
    fn k_004_turns_say_how_they_ended_and_how_long_they_took() {
        let mut view = samples::session(SessionState::WaitingForInput);
        assert_eq!(turn_line(&view), None);
        let mut turn = samples::turn();
        turn.ended_at = Some(Timestamp::from_millis(turn.started_at.as_millis() + 72_000));
        turn.outcome = Some(TurnOutcome::Interrupted);
        view.turn = Some(turn);
        assert_eq!(turn_line(&view).unwrap(), "Interrupted after 1 min 12 s");
        assert_eq!(start_offer(&view).unwrap().act, "Start again");
    }

    #[test]
    fn a_session_that_works_or_waits_for_a_message_offers_no_start() {
        for state in [SessionState::Starting, SessionState::Running, SessionState::WaitingForInput]
        {
            assert_eq!(start_offer(&samples::session(state)), None, "{state:?}");
        }
        let created = start_offer(&samples::session(SessionState::Created)).unwrap();
        assert_eq!(created.act, "Start the agent");
    }
}
