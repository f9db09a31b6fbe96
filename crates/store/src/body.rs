//! Bodies: a stream's bytes in segments, numbered by their offset since the stream began.
//!
//! An append touches the last segment, and moving the start deletes whole segments, so neither
//! costs more for a long body. What a segment holds outside the extent is never read.

use model::{BodyChange, BodyExtent, BodyStream, SessionId};
use redb::{ReadableTable, Table};

use crate::{StoreError, key, table::Readable};

/// Bytes of a whole segment: with its key and redb's headers it just fits four pages; a full
/// 16 KiB would take eight, since redb rounds up to a power of two.
pub(crate) const SEGMENT_BYTES: u64 = 16 * 1024 - 256;

type MessagesMut<'txn> = Table<'txn, &'static [u8], &'static [u8]>;

/// One stream of one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    pub(crate) session: SessionId,
    pub(crate) seq: u64,
    pub(crate) stream: BodyStream,
}

/// A run of bytes within one segment.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'a> {
    segment: u64,
    /// Where it begins in the segment.
    at: usize,
    bytes: &'a [u8],
}

/// Cuts `bytes`, which begin at the offset `begin` of the stream, at the segments' borders.
fn pieces(mut begin: u64, mut bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        let (segment, at) = (begin / SEGMENT_BYTES, (begin % SEGMENT_BYTES) as usize);
        let room = SEGMENT_BYTES as usize - at;
        let (piece, rest) = bytes.split_at(room.min(bytes.len()));
        begin += piece.len() as u64;
        bytes = rest;
        (!piece.is_empty()).then_some(Piece { segment, at, bytes: piece })
    })
}

impl Body {
    fn key(self, segment: u64) -> Vec<u8> {
        key::segment(self.session, self.seq, self.stream, segment)
    }

    /// Makes a change, which leads to `extent`.
    pub(crate) fn change(
        self,
        table: &mut MessagesMut<'_>,
        change: &BodyChange,
        extent: BodyExtent,
    ) -> Result<(), StoreError> {
        match change {
            BodyChange::Append { text, start } => {
                let begin = extent.end.checked_sub(text.len() as u64);
                let Some(begin) = begin.filter(|_| extent.start == *start && *start <= extent.end)
                else {
                    return Err(mismatch(change, extent));
                };
                // A text that is longer than what is kept has lost its own beginning.
                let dropped = extent.start.saturating_sub(begin) as usize;
                self.append(table, begin.max(extent.start), &text.as_bytes()[dropped..])?;
                self.drop_before(table, extent.start)
            }
            BodyChange::Replace { text } => {
                if extent != (BodyExtent { start: 0, end: text.len() as u64 }) {
                    return Err(mismatch(change, extent));
                }
                self.replace(table, text.as_bytes())
            }
        }
    }

    fn append(
        self,
        table: &mut MessagesMut<'_>,
        begin: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        for piece in pieces(begin, bytes) {
            let key = self.key(piece.segment);
            let mut segment = match piece.at {
                0 => Vec::new(),
                _ => table.get(&*key)?.map_or_else(Vec::new, |kept| kept.value().to_vec()),
            };
            // Zeros stand for bytes before the extent, which nobody reads.
            segment.resize(piece.at, 0);
            segment.extend_from_slice(piece.bytes);
            table.insert(&*key, &*segment)?;
        }
        Ok(())
    }

    fn drop_before(self, table: &mut MessagesMut<'_>, start: u64) -> Result<(), StoreError> {
        let first_kept = start / SEGMENT_BYTES;
        if first_kept > 0 {
            let (first, end) = (self.key(0), self.key(first_kept));
            table.retain_in::<&[u8], _>(&*first..&*end, |_, _| false)?;
        }
        Ok(())
    }

    /// Writes only the segments that differ: most agents that replace send what they sent before
    /// and a little more.
    fn replace(self, table: &mut MessagesMut<'_>, bytes: &[u8]) -> Result<(), StoreError> {
        for piece in pieces(0, bytes) {
            let key = self.key(piece.segment);
            let same = table.get(&*key)?.is_some_and(|kept| kept.value() == piece.bytes);
            if !same {
                table.insert(&*key, piece.bytes)?;
            }
        }
        let end = (bytes.len() as u64).div_ceil(SEGMENT_BYTES);
        let (first, last) = (self.key(end), self.key(u64::MAX));
        table.retain_in::<&[u8], _>(&*first..=&*last, |_, _| false)?;
        Ok(())
    }

    /// The text in an extent. Bytes that are not UTF-8 (an extent that cuts a character) come as
    /// replacement characters.
    pub(crate) fn text(
        self,
        table: &impl Readable,
        extent: BodyExtent,
    ) -> Result<String, StoreError> {
        Ok(String::from_utf8(self.bytes(table, extent)?)
            .unwrap_or_else(|err| String::from_utf8_lossy(err.as_bytes()).into_owned()))
    }

    /// The bytes in an extent: fewer, where they are not stored.
    pub(crate) fn bytes(
        self,
        table: &impl Readable,
        extent: BodyExtent,
    ) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        if !extent.is_empty() {
            let first = self.key(extent.start / SEGMENT_BYTES);
            let last = self.key((extent.end - 1) / SEGMENT_BYTES);
            for entry in table.range::<&[u8]>(&*first..=&*last)? {
                let (key, segment) = entry?;
                bytes.extend_from_slice(within(extent, key.value(), segment.value()));
            }
        }
        Ok(bytes)
    }
}

/// The part of a segment that lies in the extent.
fn within<'a>(extent: BodyExtent, key: &[u8], segment: &'a [u8]) -> &'a [u8] {
    let base = key::segment_number(key).unwrap_or(0) * SEGMENT_BYTES;
    let clamp = |offset: u64| (offset.saturating_sub(base) as usize).min(segment.len());
    &segment[clamp(extent.start)..clamp(extent.end)]
}

fn mismatch(change: &BodyChange, extent: BodyExtent) -> StoreError {
    let (kind, bytes) = match change {
        BodyChange::Append { text, .. } => ("append", text.len()),
        BodyChange::Replace { text } => ("replacement", text.len()),
    };
    StoreError::Invalid(format!("a body's {kind} of {bytes} bytes cannot lead to {extent:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_append_touches_one_segment() {
        let offset = 9 * SEGMENT_BYTES + 5;
        let touched: Vec<_> = pieces(offset, b"more").collect();
        assert_eq!(touched, [Piece { segment: 9, at: 5, bytes: b"more" }]);
    }

    #[test]
    fn nothing_touches_nothing() {
        assert_eq!(pieces(SEGMENT_BYTES, b"").count(), 0);
    }

    proptest! {
        #[test]
        fn pieces_are_the_bytes_at_their_offsets(begin in 0..5 * SEGMENT_BYTES, len in 0..60_000usize) {
            let bytes: Vec<u8> = (0..len).map(|n| n as u8).collect();
            let mut offset = begin;
            let mut joined = Vec::new();
            for piece in pieces(begin, &bytes) {
                prop_assert_eq!(piece.segment * SEGMENT_BYTES + piece.at as u64, offset);
                prop_assert!(piece.at + piece.bytes.len() <= SEGMENT_BYTES as usize);
                offset += piece.bytes.len() as u64;
                joined.extend_from_slice(piece.bytes);
            }
            prop_assert_eq!(joined, bytes);
        }
    }
}
