//! The messages of a session that are here: the newest ones, without a gap.

use leptos::prelude::*;
use model::MessageView;

#[cfg(test)]
use super::rows::Row;
use super::rows::{Keyed, Rows};

impl Keyed for MessageView {
    type Key = u64;

    fn key(&self) -> u64 {
        self.seq
    }
}

/// Messages in pages, oldest first. The last page grows; older ones come in above it, each as a
/// whole, so that nothing that is shown has to move. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub struct History {
    pages: ArcRwSignal<Vec<Rows<MessageView>>>,
}

impl History {
    /// These messages, as one page.
    pub fn new(messages: Vec<MessageView>) -> Self {
        Self { pages: ArcRwSignal::new(vec![Rows::new(messages)]) }
    }

    /// The pages, oldest first, each with its distance from the last, which never changes. Tracks
    /// which pages there are.
    pub fn pages(&self) -> Vec<(usize, Rows<MessageView>)> {
        let pages = self.pages.get();
        let count = pages.len();
        pages.into_iter().enumerate().map(|(at, rows)| (count - at, rows)).collect()
    }

    /// The rows of all pages.
    #[cfg(test)]
    pub fn list(&self) -> Vec<Row<MessageView>> {
        self.pages.get().iter().flat_map(Rows::list).collect()
    }

    /// The sequence number of the oldest message, without tracking.
    pub fn first_key(&self) -> Option<u64> {
        self.pages.with_untracked(|pages| pages.iter().find_map(Rows::first_key))
    }

    /// The sequence number of the newest message. Tracked.
    pub fn last_key(&self) -> Option<u64> {
        self.pages.with(|pages| pages.last().and_then(|rows| rows.list().last().map(|row| row.key)))
    }

    /// Puts a message in its place. One that is older than all that are here would leave a gap, and
    /// is passed over.
    pub fn upsert(&self, message: MessageView) {
        let page = self.pages.with_untracked(|pages| {
            let holds = |rows: &&Rows<MessageView>| rows.first_key() <= Some(message.seq);
            pages.iter().rev().find(holds).cloned()
        });
        if let Some(rows) = page {
            rows.upsert(message);
        }
    }

    /// Puts a page above all that are here.
    pub fn prepend(&self, messages: Vec<MessageView>) {
        self.pages.update(|pages| pages.insert(0, Rows::new(messages)));
    }

    /// Makes these messages all there are.
    pub fn replace(&self, messages: Vec<MessageView>) {
        let Some(newest) = self.pages.with_untracked(|pages| pages.last().cloned()) else { return };
        newest.replace(messages);
        if self.pages.with_untracked(|pages| pages.len() > 1) {
            self.pages.set(vec![newest]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples::message;

    fn texts(history: &History) -> Vec<String> {
        history.list().iter().map(|row| row.record.get_untracked().content).collect()
    }

    #[test]
    fn older_pages_come_in_above_and_leave_the_others_alone() {
        let history = History::new(vec![message(5, "e")]);
        let before = history.pages();
        history.prepend(vec![message(3, "c"), message(4, "d")]);
        history.upsert(message(6, "f"));
        history.upsert(message(3, "C"));
        assert_eq!(texts(&history), ["C", "d", "e", "f"]);
        let after = history.pages();
        assert_eq!((before[0].0, after[1].0, after[0].0), (1, 1, 2), "distances stay");
        assert_eq!((history.first_key(), history.last_key()), (Some(3), Some(6)));
    }

    #[test]
    fn a_message_from_before_all_pages_leaves_no_gap() {
        let history = History::new(vec![message(5, "e")]);
        history.upsert(message(2, "b"));
        assert_eq!(texts(&history), ["e"]);
    }

    #[test]
    fn the_first_message_of_all_is_taken() {
        let history = History::new(Vec::new());
        history.upsert(message(1, "a"));
        assert_eq!(texts(&history), ["a"]);
    }

    #[test]
    fn replacing_drops_older_pages() {
        let history = History::new(vec![message(5, "e")]);
        history.prepend(vec![message(4, "d")]);
        history.replace(vec![message(9, "i")]);
        assert_eq!(texts(&history), ["i"]);
    }
}
