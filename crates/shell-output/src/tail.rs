//! The newest end of a text that may grow without end.

use std::ops::Range;

use model::shell::STREAM_LIMIT_BYTES;

/// Room above the limit, so that a full text is moved once in [`STREAM_LIMIT_BYTES`] and not with
/// every chunk, and so that what is cut off at either end of a text need not cost what is kept.
const CAPACITY: usize = 2 * STREAM_LIMIT_BYTES;

/// The newest end of one text, as the agent sent it. Positions count bytes from the text's begin.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail {
    text: String,
    /// Bytes before `text` that are gone.
    dropped: usize,
}

/// The part of a text that is shown: at most [`STREAM_LIMIT_BYTES`], never a part of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View<'a> {
    pub(crate) text: &'a str,
    /// Position of its first byte.
    pub(crate) at: usize,
    /// Older text is missing.
    pub(crate) truncated: bool,
}

impl Tail {
    /// A text of which the first `dropped` bytes are gone.
    pub(crate) const fn restore(text: String, dropped: usize) -> Self {
        Self { text, dropped }
    }

    pub(crate) fn append(&mut self, chunk: &str) {
        if self.text.len() + chunk.len() > CAPACITY {
            let keep = STREAM_LIMIT_BYTES.saturating_sub(chunk.len());
            self.drop_front(self.text.len().saturating_sub(keep));
        }
        let skipped = chunk.ceil_char_boundary(chunk.len().saturating_sub(CAPACITY));
        self.dropped += skipped;
        self.reserve(chunk.len() - skipped);
        self.text.push_str(&chunk[skipped..]);
    }

    /// Makes room as a growing string does, by doubling, but never for more than is ever held.
    fn reserve(&mut self, more: usize) {
        let needed = self.text.len() + more;
        let capacity = self.text.capacity();
        if needed > capacity {
            let grown = (capacity * 2).min(CAPACITY).max(needed);
            self.text.reserve_exact(grown - self.text.len());
        }
    }

    fn drop_front(&mut self, at_least: usize) {
        let cut = self.text.ceil_char_boundary(at_least);
        self.text.drain(..cut);
        self.dropped += cut;
    }

    /// What `whole` has beyond this text, if it begins with it; of dropped bytes only the length
    /// can be compared.
    pub(crate) fn continued_by<'a>(&self, whole: &'a str) -> Option<&'a str> {
        let end = self.dropped + self.text.len();
        let held = whole.as_bytes().get(self.dropped..end)?;
        if held == self.text.as_bytes() { whole.get(end..) } else { None }
    }

    /// Takes `whole` in place of this text. Text that continues this one keeps its positions.
    /// Returns whether anything changed.
    pub(crate) fn replace(&mut self, whole: &str) -> bool {
        if let Some(rest) = self.continued_by(whole) {
            self.append(rest);
            return !rest.is_empty();
        }
        *self = Self::default();
        self.append(whole);
        true
    }

    /// All that is held.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Nothing was dropped: [`Self::text`] begins where the text began.
    pub(crate) fn is_whole(&self) -> bool {
        self.dropped == 0
    }

    /// What is shown of `range`, which lies in [`Self::text`].
    pub(crate) fn view(&self, range: Range<usize>) -> View<'_> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        let cut = text.ceil_char_boundary(text.len().saturating_sub(STREAM_LIMIT_BYTES));
        View {
            text: &text[cut..],
            at: self.dropped + range.start + cut,
            truncated: self.dropped > 0 || cut > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: usize = STREAM_LIMIT_BYTES;

    fn shown(tail: &Tail) -> View<'_> {
        tail.view(0..tail.text().len())
    }

    #[test]
    fn s_015_one_byte_too_many_costs_the_oldest_byte() {
        let mut tail = Tail::default();
        tail.append(&"a".repeat(LIMIT));
        assert_eq!((shown(&tail).text.len(), shown(&tail).truncated), (LIMIT, false));
        tail.append("b");
        assert_eq!((shown(&tail).text.len(), shown(&tail).truncated), (LIMIT, true));
        assert!(shown(&tail).text.ends_with('b'));
    }

    #[test]
    fn s_015_the_cut_never_splits_a_character() {
        let mut tail = Tail::default();
        tail.append(&format!("{}\u{2603}{}", "a".repeat(9), "b".repeat(LIMIT - 1)));
        assert_eq!(shown(&tail).text, "b".repeat(LIMIT - 1));
    }

    #[test]
    fn s_012_cumulative_text_continues_beyond_the_limit() {
        let whole = "0123456789abcdef\n".repeat(3 * LIMIT / 17);
        let mut tail = Tail::default();
        for end in [10, LIMIT, 2 * LIMIT, whole.len()] {
            let before = tail.dropped + tail.text.len();
            assert_eq!(tail.continued_by(&whole[..end]).map(str::len), Some(end - before));
            assert!(tail.replace(&whole[..end]));
            assert_eq!(shown(&tail).text, &whole[end.saturating_sub(LIMIT)..end]);
        }
        assert!(!tail.replace(&whole));
    }

    #[test]
    fn another_text_begins_anew() {
        let mut tail = Tail::default();
        tail.replace("one\n");
        assert!(tail.replace("two\n"));
        assert_eq!(shown(&tail), View { text: "two\n", at: 0, truncated: false });
    }

    proptest! {
        #[test]
        fn s_015_memory_stays_bounded_and_the_newest_is_kept(
            sizes in prop::collection::vec(0..3 * LIMIT, 1..8)
        ) {
            let mut tail = Tail::default();
            let mut whole = String::new();
            for size in sizes {
                let chunk = "a\u{e9}\u{2603}\u{1f600}".repeat(size / 10);
                tail.append(&chunk);
                whole.push_str(&chunk);
                prop_assert!(tail.text.capacity() <= CAPACITY);
                let newest = whole.ceil_char_boundary(whole.len().saturating_sub(LIMIT));
                prop_assert_eq!(shown(&tail).text, &whole[newest..]);
                prop_assert_eq!(shown(&tail).truncated, newest > 0);
                prop_assert_eq!(shown(&tail).at, newest);
            }
        }
    }
}
