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

/// Rows in a page that has come to its end.
const PAGE_ROWS: usize = 200;

/// Messages in pages, oldest first. The last page grows; older ones come in above it, each as a
/// whole, so that nothing that is shown has to move. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub struct History {
    pages: ArcRwSignal<Vec<Page>>,
}

/// Some of the messages. Its id never changes.
#[derive(Clone)]
pub struct Page {
    pub id: usize,
    pub rows: Rows<MessageView>,
}

impl History {
    /// These messages, as one page.
    pub fn new(messages: Vec<MessageView>) -> Self {
        let page = Page { id: 0, rows: Rows::new(messages) };
        Self { pages: ArcRwSignal::new(vec![page]) }
    }

    /// The pages, oldest first. Tracks which pages there are.
    pub fn pages(&self) -> Vec<Page> {
        self.pages.get()
    }

    /// Whether this page is the last one. Tracked.
    pub fn is_last(&self, id: usize) -> bool {
        self.pages.with(|pages| pages.last().is_some_and(|page| page.id == id))
    }

    /// The rows of all pages.
    #[cfg(test)]
    pub fn list(&self) -> Vec<Row<MessageView>> {
        self.pages.get().iter().flat_map(|page| page.rows.list()).collect()
    }

    /// The sequence number of the oldest message, without tracking.
    pub fn first_key(&self) -> Option<u64> {
        self.pages.with_untracked(|pages| pages.iter().find_map(|page| page.rows.first_key()))
    }

    /// The sequence number of the newest message. Tracked.
    pub fn last_key(&self) -> Option<u64> {
        self.pages.with(|pages| {
            pages.iter().rev().find_map(|page| page.rows.list().last().map(|row| row.key))
        })
    }

    /// Puts a message in its place. One that is older than all that are here would leave a gap, and
    /// is passed over.
    pub fn upsert(&self, message: MessageView) {
        let page = self.pages.with_untracked(|pages| {
            let holds = |page: &&Page| page.rows.first_key() <= Some(message.seq);
            pages.iter().rev().find(holds).cloned()
        });
        if let Some(page) = page {
            page.rows.upsert(message);
            self.turn_page();
        }
    }

    /// Makes the older rows of a last page that has grown long a page of their own (S-051). They are
    /// far above what is read at the end; the last page stays the same one.
    fn turn_page(&self) {
        let Some(last) = self.pages.with_untracked(|pages| pages.last().cloned()) else { return };
        if untrack(|| last.rows.len()) < 2 * PAGE_ROWS {
            return;
        }
        let rows = last.rows.split_front(PAGE_ROWS);
        self.pages.update(|pages| {
            let id = next_id(pages);
            pages.insert(pages.len().saturating_sub(1), Page { id, rows });
        });
    }

    /// Puts a page above all that are here.
    pub fn prepend(&self, messages: Vec<MessageView>) {
        self.pages.update(|pages| {
            let id = next_id(pages);
            pages.insert(0, Page { id, rows: Rows::new(messages) });
        });
    }

    /// Makes these messages all there are.
    pub fn replace(&self, messages: Vec<MessageView>) {
        let Some(newest) = self.pages.with_untracked(|pages| pages.last().cloned()) else { return };
        newest.rows.replace(messages);
        if self.pages.with_untracked(|pages| pages.len() > 1) {
            self.pages.set(vec![newest]);
        }
    }
}

fn next_id(pages: &[Page]) -> usize {
    pages.iter().map(|page| page.id + 1).max().unwrap_or_default()
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
        assert_eq!((before[0].id, after[1].id, after[0].id), (0, 0, 1), "ids stay");
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

    #[test]
    fn s_051_a_last_page_that_grows_long_leaves_its_older_rows_to_another() {
        let history = History::new(Vec::new());
        for seq in 1..=2 * PAGE_ROWS as u64 {
            history.upsert(MessageView { seq, ..message(1, "x") });
        }
        let pages = history.pages();
        assert_eq!(pages.iter().map(|page| page.rows.len()).collect::<Vec<_>>(), [200, 200]);
        assert!(history.is_last(0) && !history.is_last(1), "the last page is the same one");
        history.upsert(MessageView { seq: 7, ..message(1, "changed") });
        assert_eq!(texts(&history)[6], "changed");
        assert_eq!((history.first_key(), history.last_key()), (Some(1), Some(400)));
    }
}
