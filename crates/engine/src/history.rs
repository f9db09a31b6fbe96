//! A session's messages, read backwards a page at a time.

use model::{SessionId, StoredMessage};
use store::{Reader, StoreError};

/// Messages that are read at once.
const PAGE: usize = 200;

/// Pages of messages, the newest page first, each oldest first. It ends behind the first message,
/// or behind an error.
pub(crate) fn newest_first(
    reader: &Reader,
    session_id: SessionId,
) -> impl Iterator<Item = Result<Vec<StoredMessage>, StoreError>> {
    let mut before = None;
    let mut has_older = true;
    std::iter::from_fn(move || {
        if !std::mem::take(&mut has_older) {
            return None;
        }
        let read = reader.messages(session_id, before, PAGE);
        Some(read.map(|(page, older)| {
            before = page.first().map(|first| first.seq);
            has_older = older;
            page
        }))
    })
}
