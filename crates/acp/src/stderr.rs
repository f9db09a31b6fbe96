//! An agent's stderr: drained at all times, its last lines kept in memory (D-002, D-010).

use std::collections::VecDeque;

use tokio::process::ChildStderr;
use tokio_util::sync::CancellationToken;

use crate::{
    Direction, Tap,
    lines::{Line, Splitter},
    output::Output,
};

/// A longer line is dropped up to its end, in bytes.
const LINE_BYTES: usize = 64 * 1024;
/// How many lines are kept.
const TAIL_LINES: usize = 20;
/// How much of a line is kept, in characters.
const TAIL_CHARS: usize = 500;

/// Reads until the end of the stream; the last lines, oldest first.
pub(crate) async fn drain(
    stderr: ChildStderr,
    exited: CancellationToken,
    tap: Option<Tap>,
) -> Vec<String> {
    let mut output = Output::new(stderr, Splitter::new(LINE_BYTES, 0), exited);
    let mut tail = Tail::default();
    while let Some(line) = output.next().await {
        if let Some(tap) = &tap {
            tap.hear(Direction::Err, &line.kept());
        }
        tail.push(&line);
    }
    tail.0.into()
}

#[derive(Default)]
struct Tail(VecDeque<String>);

impl Tail {
    fn push(&mut self, line: &Line) {
        let Line::Whole(bytes) = line else { return };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        if self.0.len() == TAIL_LINES {
            self.0.pop_front();
        }
        self.0.push_back(text.chars().take(TAIL_CHARS).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_002_the_tail_is_bounded_in_lines_and_in_characters() {
        let mut tail = Tail::default();
        for number in 0..50 {
            tail.push(&Line::Whole(format!("{number} {}\r", "x".repeat(5000)).into_bytes()));
        }
        assert_eq!(tail.0.len(), TAIL_LINES);
        assert!(tail.0[0].starts_with("30 "), "the newest lines are kept");
        assert!(tail.0.iter().all(|line| line.len() == TAIL_CHARS));
    }

    #[test]
    fn d_002_an_over_long_line_is_dropped() {
        let mut tail = Tail::default();
        tail.push(&Line::Cut { head: b"head".to_vec(), tail: b"tail".to_vec(), bytes: 1 << 20 });
        tail.push(&Line::Whole(b"next".to_vec()));
        assert_eq!(tail.0, ["next"]);
    }
}
