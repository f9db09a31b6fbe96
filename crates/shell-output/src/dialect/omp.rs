//! OMP: cumulative text, in `rawOutput.content` or behind the echo of the command, with lines that
//! close it.

use std::borrow::Cow;

use model::Departure;
use serde_json::Value;

use super::{Grammar, NO_OUTPUT, Scene, Trim, raw_weight, replacing};
use crate::{
    body::{Edit, Output, Weight},
    closing::{self, Line},
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    raw_output,
    value::{exit_code, text_of},
};

/// What stands in the place of output where a person said no.
const REJECTED: &str = "Tool call rejected by user (bash)";
/// What a title, and with it an echo, has at most, in characters.
const ECHO_CHARS: usize = 4000;

#[derive(Debug)]
pub(super) struct Omp {
    /// A text ends with lines on how the command ended, how long it took, what was left out.
    has_closing_lines: bool,
    /// Silence is put in a word.
    has_word: bool,
    /// An echo of a long command is cut.
    has_cut_echo: bool,
}

impl Omp {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_closing_lines: departures.contains(&Departure::ClosingLines),
            has_word: departures.contains(&Departure::NoOutputWord),
            has_cut_echo: departures.contains(&Departure::CutEcho),
        }
    }
}

impl Grammar for Omp {
    fn input(&self, frame: &ToolFrame) -> Input {
        let mut input = Input::read(frame);
        let is_on = |value: Option<&Value>| value == Some(&Value::Bool(true));
        input.background |= is_on(frame.raw_input.as_ref().and_then(|raw| raw.get("async")));
        input.background |= details(frame, "async").is_some();
        // OMP counts its limit in seconds.
        input.timeout = input.timeout.map(|seconds| seconds.saturating_mul(1000));
        input
    }

    /// `details.exitCode` is there only where it is not 0, and counts only at the end.
    fn exit(&self, frame: &ToolFrame) -> Exit {
        let mut exit = Exit::read(frame);
        let is_final = frame.status.is_some_and(model::ToolStatus::is_terminal);
        if is_final && exit.native.is_none() {
            exit.native = details(frame, "exitCode").and_then(exit_code);
        }
        exit
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = Vec::new();
        if let Some(chunk) = frame.terminal_output_delta() {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        let is_cut = details(frame, "meta").is_some_and(|meta| meta.get("truncation").is_some());
        match blocks(frame) {
            Some(text) if self.has_closing_lines && is_final && text == REJECTED => {
                outputs.push(Output::withdrawn(model::BodyStream::Stdout));
            }
            // The content has the same text, but cut, and its end once more.
            Some(text) => outputs.push(Output {
                cut: is_cut,
                bare: true,
                ..Output::stdout(Weight::Live, Edit::Replace(text))
            }),
            None => {
                if let Some(text) = frame.content_text() {
                    outputs.push(Output::stdout(Weight::Live, Edit::Replace(text)));
                }
                let raw = frame.raw_output.as_ref().map(raw_output::streams).unwrap_or_default();
                outputs.extend(replacing(raw, raw_weight(is_final)));
            }
        }
        if let Some(text) = frame.terminal_output() {
            outputs.push(Output::stdout(Weight::Live, Edit::Continue(text)));
        }
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        let is_known = |line| match line {
            // A running command may print them; the agent only writes them at the end.
            Line::Showing | Line::Backgrounded => self.has_closing_lines && scene.is_settled,
            Line::Exited(_) => self.has_closing_lines && scene.is_settled && scene.has_failed,
            Line::WallTime => self.has_closing_lines,
            Line::TimedOut | Line::Aborted | Line::Shell(_) => false,
        };
        let (shown, lines) = closing::split(text, scene.is_whole, is_known);
        let cut = lines.contains(&Line::Showing);
        let code = lines.iter().find_map(|line| match line {
            Line::Exited(code) => Some(*code),
            _ => None,
        });
        if self.has_word && scene.is_whole && &text[shown.clone()] == NO_OUTPUT {
            return Trim { cut, code, ..Trim::part(0..0) };
        }
        let echo_chars = self.has_cut_echo.then_some(ECHO_CHARS);
        let begin = scene.behind_echo(&text[shown.clone()], echo_chars, scene.work_dir);
        Trim { cut, code, ..Trim::part(begin..shown.end) }
    }
}

fn details<'a>(frame: &'a ToolFrame, key: &str) -> Option<&'a Value> {
    frame.raw_output.as_ref()?.get("details")?.get(key).filter(|value| !value.is_null())
}

/// The text blocks of `rawOutput.content`, where there is such a list.
fn blocks(frame: &ToolFrame) -> Option<Cow<'_, str>> {
    let content = frame.raw_output.as_ref()?.get("content").filter(|content| content.is_array())?;
    text_of(content)
}
