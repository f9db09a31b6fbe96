//! Bytes -> lines, with a bound: of a line that is too long only its two ends are kept.

use std::borrow::Cow;

/// A line without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// As it came.
    Whole(Vec<u8>),
    /// Longer than the limit.
    Cut {
        /// Its first bytes.
        head: Vec<u8>,
        /// Its last bytes.
        tail: Vec<u8>,
        /// How long it was.
        bytes: u64,
    },
}

impl Line {
    /// What is kept of it, in one piece.
    pub(crate) fn kept(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Whole(bytes) => Cow::Borrowed(bytes),
            Self::Cut { head, tail, .. } => {
                Cow::Owned([head.as_slice(), b" ... ", tail.as_slice()].concat())
            }
        }
    }
}

/// Splits a stream of chunks into lines.
pub(crate) struct Splitter {
    limit: usize,
    /// Of a line over the limit, this much of either end is kept.
    kept: usize,
    line: Vec<u8>,
    /// The end of a line that is over the limit.
    tail: Vec<u8>,
    bytes: u64,
}

impl Splitter {
    /// Lines of at most `limit` bytes; of a longer one, `kept` bytes of either end.
    pub(crate) const fn new(limit: usize, kept: usize) -> Self {
        Self { limit, kept, line: Vec::new(), tail: Vec::new(), bytes: 0 }
    }

    /// Takes bytes up to the end of a line. Returns how many, and the line that they end.
    pub(crate) fn take(&mut self, chunk: &[u8]) -> (usize, Option<Line>) {
        match chunk.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.grow(&chunk[..end]);
                (end + 1, Some(self.cut_off()))
            }
            None => {
                self.grow(chunk);
                (chunk.len(), None)
            }
        }
    }

    /// What came after the last line feed.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        (self.bytes > 0).then(|| self.cut_off())
    }

    fn grow(&mut self, piece: &[u8]) {
        let was_whole = self.is_whole();
        self.bytes += piece.len() as u64;
        if self.is_whole() {
            self.line.extend_from_slice(piece);
        } else if was_whole {
            self.line.extend_from_slice(piece);
            self.tail = self.line[self.line.len().saturating_sub(self.kept)..].to_vec();
            self.line.truncate(self.kept);
            self.line.shrink_to_fit();
        } else {
            self.tail.extend_from_slice(piece);
            self.tail.drain(..self.tail.len().saturating_sub(self.kept));
        }
    }

    const fn is_whole(&self) -> bool {
        self.bytes <= self.limit as u64
    }

    fn cut_off(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        let tail = std::mem::take(&mut self.tail);
        let whole = self.is_whole();
        let bytes = std::mem::take(&mut self.bytes);
        if whole { Line::Whole(line) } else { Line::Cut { head: line, tail, bytes } }
    }
}

#[cfg(any(test, feature = "fuzzing"))]
impl Splitter {
    /// The lines of bytes that come in chunks of this size.
    pub(crate) fn split(mut self, bytes: &[u8], chunk: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for mut rest in bytes.chunks(chunk) {
            while !rest.is_empty() {
                let (taken, line) = self.take(rest);
                rest = &rest[taken..];
                lines.extend(line);
            }
        }
        lines.extend(self.finish());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` in chunks of `size` bytes.
    fn split(text: &[u8], size: usize, limit: usize) -> Vec<Line> {
        Splitter::new(limit, 3).split(text, size)
    }

    #[test]
    fn lines_do_not_depend_on_how_they_arrive() {
        for size in 1..12 {
            let lines = split(b"ab\n\n12345\nend", size, 5);
            let whole: Vec<_> = [&b"ab"[..], b"", b"12345", b"end"]
                .into_iter()
                .map(|line| Line::Whole(line.to_vec()))
                .collect();
            assert_eq!(lines, whole, "chunks of {size}");
        }
    }

    #[test]
    fn of_a_line_over_the_limit_both_ends_are_kept() {
        for size in 1..14 {
            let lines = split(b"0123456789abc\nok\n", size, 8);
            let cut = Line::Cut { head: b"012".to_vec(), tail: b"abc".to_vec(), bytes: 13 };
            assert_eq!(lines, [cut, Line::Whole(b"ok".to_vec())], "chunks of {size}");
        }
    }
}
