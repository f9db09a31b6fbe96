//! Codex: chunks under either key, and from some adapters a final `formatted_output`.

use model::Departure;

use super::{Grammar, raw_weight, replacing};
use crate::{
    body::{Edit, Output, Weight},
    frame::ToolFrame,
    raw_output::{self, Streams},
    value::text_of,
};

#[derive(Debug)]
pub(super) struct Codex {
    /// The fields of `rawOutput` that have the whole text, the best first.
    whole_text: &'static [&'static str],
}

impl Codex {
    pub(super) fn new(departures: &[Departure]) -> Self {
        let is_cut_for_model = departures.contains(&Departure::AggregatedOutput);
        let whole_text: &[&str] = if is_cut_for_model {
            &["aggregated_output", "formatted_output"]
        } else {
            &["formatted_output"]
        };
        Self { whole_text }
    }
}

impl Grammar for Codex {
    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = Vec::new();
        if let Some(text) = frame.content_text() {
            outputs.push(Output::stdout(Weight::Fallback, Edit::Replace(text)));
        }
        for chunk in [frame.terminal_output_delta(), frame.terminal_output()].into_iter().flatten()
        {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        if let Some(raw) = &frame.raw_output {
            let whole = self.whole_text.iter().find_map(|key| raw.get(key).and_then(text_of));
            let streams = match whole {
                Some(text) => Streams { stdout: Some(text), stderr: None },
                None => raw_output::streams(raw),
            };
            outputs.extend(replacing(streams, raw_weight(is_final)));
        }
        outputs
    }
}
