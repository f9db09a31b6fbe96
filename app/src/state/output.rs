//! A command's output as it is shown, from what the shell-output endpoint gave.

use model::ShellSnapshot;

use super::clean::clean;

/// An output ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownOutput {
    /// Combined text, or the first of two streams; empty when there is none.
    pub stdout: String,
    /// The agent's separate error stream; empty when there is none.
    pub stderr: String,
    /// Something was dropped.
    pub is_truncated: bool,
    /// Nothing more will come.
    pub is_final: bool,
}

impl ShownOutput {
    /// All that there is to read, as it is copied.
    pub fn text(&self) -> String {
        let between = if self.stdout.is_empty() || self.stdout.ends_with('\n') { "" } else { "\n" };
        match self.stderr.as_str() {
            "" => self.stdout.clone(),
            stderr => format!("{}{between}{stderr}", self.stdout),
        }
    }

    /// There is nothing to read.
    pub const fn is_empty(&self) -> bool {
        self.stdout.is_empty() && self.stderr.is_empty()
    }
}

impl From<ShellSnapshot> for ShownOutput {
    fn from(snapshot: ShellSnapshot) -> Self {
        let text = |stream: Option<String>| stream.as_deref().map(clean).unwrap_or_default();
        let output = snapshot.output;
        Self {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
            is_truncated: output.truncated.unwrap_or_default(),
            is_final: snapshot.status.is_terminal(),
        }
    }
}

/// Lines of a block; `task.css` knows it too.
const BLOCK_LINES: usize = 64;
/// A line that is longer than this is cut, as if it ended there, in bytes.
const BLOCK_BYTES: usize = 16 * 1024;

/// A text in pieces that a page lays out one by one: the same pieces, but the last, when it grows.
pub fn blocks(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let near = &text[..text.floor_char_boundary(BLOCK_BYTES)];
        let end = near.split_inclusive('\n').take(BLOCK_LINES).map(str::len).sum();
        // Only the last block may end within a line, unless the line is too long for any.
        let end = match near[..end].rfind('\n') {
            Some(at) if end < text.len() => at + 1,
            _ => end,
        };
        let (block, rest) = text.split_at(end);
        text = rest;
        (!block.is_empty()).then_some(block)
    })
}

/// What stands in the way of showing the newest output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The last request failed; it can be tried again.
    Unavailable,
    /// There is no such output any more.
    Gone,
}

impl Trouble {
    /// The words for it; `has_older`: an older state is shown.
    pub const fn words(self, has_older: bool) -> &'static str {
        match (self, has_older) {
            (Self::Unavailable, true) => {
                "Output unavailable. This is the last state that was read."
            }
            (Self::Unavailable, false) => "Output unavailable.",
            (Self::Gone, true) => {
                "The output is no longer kept. This is the last state that was read."
            }
            (Self::Gone, false) => "The output is no longer kept.",
        }
    }

    /// The same of what another tool has to show.
    pub const fn content_words(self, has_older: bool) -> &'static str {
        match (self, has_older) {
            (Self::Unavailable, true) => {
                "Content unavailable. This is the last state that was read."
            }
            (Self::Unavailable, false) => "Content unavailable.",
            (Self::Gone, _) => "The content is no longer kept.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::{CommandStatus, ShellOutput};

    #[test]
    fn s_050_what_is_shown_is_clean_and_keeps_the_streams_apart() {
        let output = ShellOutput {
            stdout: Some("\u{1b}[32mok\u{1b}[0m\n10%\r100%".into()),
            stderr: Some("warning\u{7}".into()),
            truncated: Some(true),
            ..ShellOutput::default()
        };
        let shown = ShownOutput::from(samples::snapshot(CommandStatus::Complete, output));
        assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("ok\n100%", "warning"));
        assert!(shown.is_truncated && shown.is_final);
        assert_eq!(shown.text(), "ok\n100%\nwarning");
    }

    #[test]
    fn blocks_are_the_whole_text_and_stay_when_it_grows() {
        let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
        let few: Vec<_> = blocks(&text[..text.len() - 5]).collect();
        let all: Vec<_> = blocks(&text).collect();
        assert_eq!(all.concat(), text);
        assert_eq!((few.len(), all.len()), (4, 4));
        assert_eq!(few[..3], all[..3]);
        assert!(all.iter().all(|block| block.ends_with('\n')));
        assert_eq!(blocks("").count(), 0);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_between_characters() {
        let text = format!("short\n{}\nshort", "\u{fc}".repeat(BLOCK_BYTES));
        let all: Vec<_> = blocks(&text).collect();
        assert_eq!(all.concat(), text);
        assert_eq!(all[0], "short\n");
        assert!(all.iter().all(|block| block.len() <= BLOCK_BYTES), "{}", all.len());
    }

    #[test]
    fn an_output_that_was_never_emitted_is_empty() {
        let snapshot = samples::snapshot(CommandStatus::Running, ShellOutput::default());
        let shown = ShownOutput::from(snapshot);
        assert!(shown.is_empty() && !shown.is_final && !shown.is_truncated);
    }
}
