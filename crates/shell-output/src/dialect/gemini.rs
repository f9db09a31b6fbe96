//! Gemini: the command is the title, and there is output only after a cancel.

use model::Departure;

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{
    body::Output,
    exit::Exit,
    frame::{FrameOrigin, ToolFrame},
    input::Input,
};

/// What stands in front of the output of a command that was cancelled.
const PREFACE: &str = "Command cancelled by user.\n\nOutput before cancellation:\n";

#[derive(Debug)]
pub(super) struct Gemini {
    has_preface: bool,
}

impl Gemini {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self { has_preface: departures.contains(&Departure::Preface) }
    }
}

impl Grammar for Gemini {
    /// A request for leave says where the command runs, and what for:
    /// `[current working directory /d] (lists the files)`.
    fn input(&self, frame: &ToolFrame) -> Input {
        let mut input = Input::read(frame);
        input.command = input.command.or_else(|| frame.title.clone());
        if frame.origin == FrameOrigin::Permission
            && let Some(text) = frame.any_content_text()
            && let Some(rest) = text.strip_prefix("[current working directory ")
            && let Some((dir, rest)) = rest.split_once(']')
        {
            input.work_dir = input.work_dir.or_else(|| Some(dir.to_owned()));
            let words = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            input.description = input.description.or_else(|| words.map(str::to_owned));
        }
        input
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        Generic.exit(frame)
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        Generic.outputs(frame, is_final)
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        if self.has_preface && scene.is_whole && text.starts_with(PREFACE) {
            return Trim::part(PREFACE.len()..text.len());
        }
        Generic.trim(text, scene)
    }
}
