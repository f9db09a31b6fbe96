//! What is written to each session and not sent yet, here and on the server.

use std::collections::HashMap;

use model::SessionId;

/// The drafts of all sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drafts(HashMap<SessionId, Draft>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Draft {
    text: String,
    /// What the server is known to have.
    kept: String,
    /// What is on its way to the server as a message: kept as a draft, it might outlive that.
    sending: Option<String>,
}

impl Drafts {
    /// The text that waits for this session; empty when none does.
    pub fn of(&self, session_id: SessionId) -> &str {
        self.0.get(&session_id).map_or("", |draft| draft.text.as_str())
    }

    /// The text is now this one.
    pub fn write(&mut self, session_id: SessionId, text: String) {
        self.0.entry(session_id).or_default().text = text;
    }

    /// A text comes back that was sent before.
    pub fn take_back(&mut self, session_id: SessionId, text: &str) {
        let draft = self.of(session_id);
        let between = if draft.is_empty() || draft.ends_with('\n') { "" } else { "\n" };
        let whole = format!("{draft}{between}{text}");
        self.write(session_id, whole);
    }

    /// The text is on its way to the server as a message.
    pub fn sending(&mut self, session_id: SessionId, text: String) {
        self.0.entry(session_id).or_default().sending = Some(text);
    }

    /// The text did not get there, or nobody knows.
    pub fn not_sent(&mut self, session_id: SessionId) {
        self.0.entry(session_id).or_default().sending = None;
    }

    /// The server has this text as a message. What was typed after it stays, as does a text that was
    /// changed.
    pub fn sent(&mut self, session_id: SessionId, text: &str) {
        self.not_sent(session_id);
        if let Some(rest) = self.of(session_id).strip_prefix(text).map(str::to_owned) {
            self.write(session_id, rest);
        }
    }

    /// The server says what it has: from another page, or an echo of this one. What is typed here
    /// and not there yet stays, and goes there next.
    pub fn heard(&mut self, session_id: SessionId, text: String) {
        let draft = self.0.entry(session_id).or_default();
        if draft.text == draft.kept {
            draft.text.clone_from(&text);
        }
        draft.kept = text;
    }

    /// The server has taken this text.
    pub fn kept(&mut self, session_id: SessionId, text: String) {
        self.0.entry(session_id).or_default().kept = text;
    }

    /// A text that the server does not have.
    pub fn unkept(&self) -> Option<(SessionId, String)> {
        let is_unkept =
            |draft: &Draft| draft.text != draft.kept && draft.sending.as_ref() != Some(&draft.text);
        let (id, draft) = self.0.iter().find(|(_, draft)| is_unkept(draft))?;
        Some((*id, draft.text.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: SessionId = SessionId::from_bytes([1; 16]);
    const OTHER: SessionId = SessionId::from_bytes([2; 16]);

    #[test]
    fn what_is_typed_while_a_message_is_on_its_way_stays() {
        let mut drafts = Drafts::default();
        drafts.write(ONE, "first and more".into());
        drafts.write(OTHER, "first".into());
        drafts.sent(ONE, "first");
        assert_eq!((drafts.of(ONE), drafts.of(OTHER)), (" and more", "first"));
        drafts.sent(ONE, "something else");
        assert_eq!(drafts.of(ONE), " and more", "a text that was changed stays");
        drafts.sent(OTHER, "first");
        assert_eq!(drafts.of(OTHER), "");
    }

    #[test]
    fn k_045_a_text_that_comes_back_stands_behind_what_is_written() {
        let mut drafts = Drafts::default();
        drafts.take_back(ONE, "one");
        drafts.take_back(ONE, "two");
        assert_eq!(drafts.of(ONE), "one\ntwo");
    }

    #[test]
    fn what_is_on_its_way_as_a_message_is_no_draft_unless_it_does_not_get_there() {
        let mut drafts = Drafts::default();
        drafts.write(ONE, "first".into());
        drafts.sending(ONE, "first".into());
        assert_eq!(drafts.unkept(), None);
        drafts.write(ONE, "first, and more".into());
        assert_eq!(drafts.unkept(), Some((ONE, "first, and more".into())));
        drafts.write(ONE, "first".into());
        drafts.not_sent(ONE);
        assert_eq!(drafts.unkept(), Some((ONE, "first".into())));
    }

    #[test]
    fn what_another_page_wrote_comes_unless_something_is_typed_here() {
        let mut drafts = Drafts::default();
        drafts.heard(ONE, "from the phone".into());
        assert_eq!(drafts.of(ONE), "from the phone");
        assert_eq!(drafts.unkept(), None);
        drafts.write(ONE, "from the phone, and here".into());
        drafts.heard(ONE, "from the phone again".into());
        assert_eq!(drafts.of(ONE), "from the phone, and here");
        assert_eq!(drafts.unkept(), Some((ONE, "from the phone, and here".into())));
    }

    #[test]
    fn an_echo_of_what_was_typed_before_takes_nothing_back() {
        let mut drafts = Drafts::default();
        drafts.write(ONE, "ab".into());
        drafts.write(ONE, "abc".into());
        drafts.heard(ONE, "ab".into());
        assert_eq!(drafts.of(ONE), "abc");
        drafts.kept(ONE, "abc".into());
        assert_eq!(drafts.unkept(), None);
    }
}
