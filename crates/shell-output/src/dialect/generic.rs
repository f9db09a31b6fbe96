//! Any other agent: every field that is known from some agent, read as it most likely is meant.

use super::{Grammar, Scene, Trim, raw_weight, replacing};
use crate::{
    body::{Edit, Output, Weight},
    exit::Exit,
    frame::ToolFrame,
    raw_output,
};

#[derive(Debug)]
pub(super) struct Generic;

impl Grammar for Generic {
    fn exit(&self, frame: &ToolFrame) -> Exit {
        let tag = frame.raw_output.as_ref().and_then(|raw| raw_output::tagged_streams(raw).1);
        Exit { tag, ..Exit::read(frame) }
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let mut outputs = Vec::new();
        if let Some(chunk) = frame.terminal_output_delta() {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        if let Some(text) = frame.content_text() {
            outputs.push(Output::stdout(Weight::Live, Edit::Replace(text)));
        }
        let raw = frame.raw_output.as_ref().map(|raw| raw_output::tagged_streams(raw).0);
        let final_stdout = raw.as_ref().and_then(|raw| raw.stdout.clone()).filter(|_| is_final);
        outputs.extend(raw.into_iter().flat_map(|raw| replacing(raw, raw_weight(is_final))));
        if let Some(text) = frame.terminal_output() {
            outputs.extend(match final_stdout {
                None => Some(Output::stdout(Weight::Live, Edit::Continue(text))),
                // The terminal's own text is better, unless it is just the last chunk of it.
                Some(all) if all.ends_with(&*text) => None,
                Some(_) => Some(Output::stdout(Weight::Final, Edit::Replace(text))),
            });
        }
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        Trim::part(scene.behind_echo(text, None, None)..text.len())
    }
}
