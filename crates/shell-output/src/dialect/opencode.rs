//! OpenCode: cumulative text content, and at the end `rawOutput.output`.

use model::Departure;
use serde_json::Value;

use super::{Ending, Grammar, Scene, Trim, raw_weight, replacing};
use crate::{
    body::{Edit, Output, Weight},
    frame::ToolFrame,
    raw_output,
    value::text_of,
};

const BLOCK_OPEN: &str = "\n\n<shell_metadata>\n";
const BLOCK_CLOSE: &str = "\n</shell_metadata>";
const NOTHING: &str = "(no output)";

#[derive(Debug)]
pub(super) struct OpenCode {
    /// Output carries words for the model: a trailing block, and a word for no output.
    has_words: bool,
}

impl OpenCode {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self { has_words: departures.contains(&Departure::ShellMetadataBlock) }
    }
}

impl Grammar for OpenCode {
    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = Vec::new();
        if let Some(chunk) = frame.terminal_output_delta() {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        if let Some(text) = frame.terminal_output() {
            outputs.push(Output::stdout(Weight::Live, Edit::Continue(text)));
        }
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
        if !self.has_words || !scene.is_settled {
            return Trim::all(text);
        }
        // A block was only recorded where the command did not end by itself.
        let block = if scene.has_code { None } else { trailing_block(text) };
        let output = block.map_or(text, |block| &text[..text.len() - block.len()]);
        let end = if scene.is_whole && output == NOTHING { 0 } else { output.len() };
        Trim { ending: block.and_then(ending), ..Trim::part(0..end) }
    }
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
