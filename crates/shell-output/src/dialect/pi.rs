//! Pi: chunks under `terminal_output`, a 0/1 flag for an exit code, and lines that close the text.

use model::Departure;

use super::{Ending, Grammar, NO_OUTPUT, Scene, Trim, raw_weight, replacing};
use crate::{
    body::{Edit, Output, Weight},
    closing::{self, Line},
    exit::Exit,
    frame::ToolFrame,
    raw_output,
};

/// The tool's name: the title of a call of which Pi does not tell the command.
const TOOL: &str = "bash";

#[derive(Debug)]
pub(super) struct Pi {
    /// `terminal_exit.exit_code` says no more than whether the command failed.
    has_exit_flag: bool,
    /// The text of a failed command ends with a line on how it ended.
    has_closing_line: bool,
    /// Silence is put in a word.
    has_word: bool,
    /// A large output comes as a window on its newest end, with a note on what was left out.
    has_window: bool,
}

impl Pi {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_exit_flag: departures.contains(&Departure::ExitFlag),
            has_closing_line: departures.contains(&Departure::ClosingLines),
            has_word: departures.contains(&Departure::NoOutputWord),
            has_window: departures.contains(&Departure::MovingWindow),
        }
    }

    /// What stands before the line on how a failed command ended, and that line.
    fn split_end<'a>(&self, text: &'a str, scene: &Scene<'_>) -> (&'a str, Option<Line>) {
        if !self.has_closing_line || !scene.has_failed {
            return (text, None);
        }
        match closing::last(text, scene.is_whole) {
            Some((output, end @ (Line::Exited(_) | Line::TimedOut | Line::Aborted))) => {
                (output, Some(end))
            }
            _ => (text, None),
        }
    }

    /// What stands before the note on a window, and how many lines the output had.
    fn split_note<'a>(&self, text: &'a str) -> (&'a str, Option<usize>) {
        let Some((output, Line::Showing)) = closing::last(text, false) else {
            return (text, None);
        };
        match total_lines(&text[output.len()..]) {
            Some(total) if self.has_window => (output, Some(total)),
            _ => (text, None),
        }
    }
}

impl Grammar for Pi {
    fn titled_command<'a>(&self, title: &'a str) -> Option<&'a str> {
        Some(title).filter(|title| *title != TOOL)
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        let exit = Exit::read(frame);
        if self.has_exit_flag { exit.with_flag() } else { exit }
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = Vec::new();
        if let Some(text) = frame.content_text() {
            outputs.push(Output::stdout(Weight::Fallback, Edit::Replace(text)));
        }
        if let Some(chunk) = frame.terminal_output_delta() {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        if let Some(chunk) = frame.terminal_output() {
            let edit = if self.has_window { Edit::Window(chunk) } else { Edit::Append(chunk) };
            outputs.push(Output::stdout(Weight::Live, edit));
        }
        if let Some(raw) = &frame.raw_output {
            outputs.extend(replacing(raw_output::streams(raw), raw_weight(is_final)));
        }
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        if !scene.is_settled {
            return Trim::all(text);
        }
        let (output, end) = self.split_end(text, scene);
        let (output, total) = self.split_note(output);
        // Windows that overlapped may have been put together to all that there was.
        let held = output.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let is_word = self.has_word && scene.is_whole && output == NO_OUTPUT;
        let mut trim = Trim::part(0..if is_word { 0 } else { output.len() });
        trim.cut = total.is_some_and(|total| held < total);
        match end {
            Some(Line::Exited(code)) => trim.code = Some(code),
            Some(Line::TimedOut) => trim.ending = Some(Ending::TimedOut),
            Some(Line::Aborted) => trim.ending = Some(Ending::Aborted),
            _ => {}
        }
        trim
    }
}

/// The lines of the output, by `[Showing lines A-B of N (50.0KB limit). Full output: FILE]`.
fn total_lines(note: &str) -> Option<usize> {
    let (range, rest) = note.trim_start().strip_prefix("[Showing lines ")?.split_once(" of ")?;
    let (first, last) = range.split_once('-')?;
    let total = &rest[..rest.find(|c: char| !c.is_ascii_digit())?];
    let is_note = first.parse::<usize>().is_ok() && last == total;
    total.parse().ok().filter(|_| is_note && rest.contains(". Full output: "))
}
