//! Auggie: one text at the end, with `<return-code>` and `<output>` in it.

use model::Departure;

use super::{Ending, Grammar, Scene, Trim, raw_weight, replacing, terminal};
use crate::{
    body::{Edit, Output, Weight},
    exit::Exit,
    frame::ToolFrame,
    raw_output::{self, Streams},
    tagged,
};

/// How Auggie closes the output of a command that it aborted; its return code is then made up.
const ABORTED: &str = "\nProcess error: The operation was aborted";
const ABORTED_CODE: i64 = -1;
/// The line that stands where Auggie left out the middle of an output.
const LEFT_OUT: &str = "... additional lines truncated ...";

#[derive(Debug)]
pub(super) struct Auggie {
    has_closing_line: bool,
}

impl Auggie {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self { has_closing_line: departures.contains(&Departure::ClosingLines) }
    }
}

impl Grammar for Auggie {
    fn exit(&self, frame: &ToolFrame) -> Exit {
        let (streams, code) = frame.raw_output.as_ref().map(read).unwrap_or_default();
        let is_aborted = self.has_closing_line
            && code == Some(ABORTED_CODE)
            && streams.stdout.is_some_and(|text| text.ends_with(ABORTED));
        Exit { tag: code.filter(|_| !is_aborted), ..Exit::read(frame) }
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = terminal(frame);
        let raw = frame.raw_output.as_ref().map(read).unwrap_or_default();
        if raw == Default::default()
            && let Some(text) = frame.content_text()
        {
            // Beside a text in rawOutput it is a fenced copy of that.
            outputs.push(Output::stdout(Weight::Fallback, Edit::Replace(text)));
        }
        let stdout = raw.0.stdout.as_deref().unwrap_or_default();
        let cut = stdout.lines().any(|line| line == LEFT_OUT);
        let whole = replacing(raw.0, raw_weight(is_final));
        outputs.extend(whole.map(|output| Output { cut, ..output }));
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        let may_be_aborted =
            self.has_closing_line && scene.is_settled && scene.has_failed && !scene.has_code;
        match text.strip_suffix(ABORTED).filter(|_| may_be_aborted) {
            Some(output) => Trim { ending: Some(Ending::Aborted), ..Trim::all(output) },
            None => Trim::all(text),
        }
    }
}

fn read(raw: &serde_json::Value) -> (Streams<'_>, Option<i64>) {
    raw_output::streams_by(raw, tagged::read_within)
}
