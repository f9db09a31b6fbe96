//! OpenCode: cumulative text content, and at the end `rawOutput.output`.

use model::Departure;
use serde_json::Value;

use super::{Ending, Grammar, NO_OUTPUT, Scene, Trim, raw_weight, replacing, terminal};
use crate::{
    body::{Edit, Output, Weight},
    frame::ToolFrame,
    raw_output,
    value::text_of,
};

const BLOCK_OPEN: &str = "\n\n<shell_metadata>\n";
const BLOCK_CLOSE: &str = "\n</shell_metadata>";

/// What OpenCode shows of a large output while the command runs.
const LIVE_BYTES: usize = 30_000;

#[derive(Debug)]
pub(super) struct OpenCode {
    /// Output ends with a block for the model where the command did not end by itself.
    has_block: bool,
    /// Silence is put in a word.
    has_word: bool,
    /// What is left of a large output has sentences in front.
    has_preface: bool,
}

impl OpenCode {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_block: departures.contains(&Departure::ShellMetadataBlock),
            has_word: departures.contains(&Departure::NoOutputWord),
            has_preface: departures.contains(&Departure::Preface),
        }
    }
}

impl Grammar for OpenCode {
    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = terminal(frame);
        let raw = frame.raw_output.as_ref();
        let field = |key: &str| raw?.get(key).and_then(text_of);
        if let Some(text) = frame.content_text() {
            // The content of a failed call is its error, which may not cost a transcript.
            let is_error = field("error").is_some_and(|error| error == text);
            let weight = if is_error { Weight::Fallback } else { Weight::Live };
            outputs.push(Output::stdout(weight, Edit::Replace(text)));
        }
        if let Some(text) = field("output") {
            let cut = raw.and_then(|raw| raw.pointer("/metadata/truncated"));
            let output = Output::stdout(raw_weight(is_final), Edit::Replace(text));
            outputs.push(Output { cut: cut == Some(&Value::Bool(true)), ..output });
        } else if let Some(raw) = raw {
            outputs.extend(replacing(raw_output::streams(raw), raw_weight(is_final)));
        }
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        let begin = preface(text).filter(|_| self.has_preface && scene.is_whole).unwrap_or(0);
        if !scene.is_settled {
            return Trim { cut: begin > 0, ..Trim::part(begin..text.len()) };
        }
        // A block was only recorded where the command did not end by itself.
        let block = trailing_block(text).filter(|_| self.has_block && !scene.has_code);
        let output = block.map_or(text, |block| &text[..text.len() - block.len()]);
        let is_word = self.has_word && scene.is_whole && output == NO_OUTPUT;
        let end = if is_word { 0 } else { output.len() };
        Trim { ending: block.and_then(ending), cut: begin > 0, ..Trim::part(begin.min(end)..end) }
    }
}

/// The length of what stands in front of the newest end of a large output: an ellipsis while the
/// command runs, and at last where the rest is.
fn preface(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix("...output truncated...\n\nFull output saved to: ") {
        let (_, output) = rest.split_once("\n\n")?;
        return Some(text.len() - output.len());
    }
    let output = text.strip_prefix("...\n\n").filter(|output| output.len() >= LIVE_BYTES)?;
    Some(text.len() - output.len())
}

fn trailing_block(text: &str) -> Option<&str> {
    if !text.ends_with(BLOCK_CLOSE) {
        return None;
    }
    text.rfind(BLOCK_OPEN).map(|at| &text[at..])
}

fn ending(block: &str) -> Option<Ending> {
    if block.contains("terminated command after exceeding timeout") {
        Some(Ending::TimedOut)
    } else if block.contains("User aborted the command") {
        Some(Ending::Aborted)
    } else {
        None
    }
}
