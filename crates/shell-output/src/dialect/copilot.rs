//! Copilot: cumulative content, and at the end a list with the exit among its items.

use std::borrow::Cow;

use model::Departure;
use serde_json::Value;

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{
    body::{Edit, Output, Weight},
    closing::{self, Line},
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    value::{exit_code, text_of},
};

/// Where an output is too large for the model, it is told where to find it instead.
const TOO_LARGE: &str = "Output too large to read at once (";
/// What a running command's content has at most, in UTF-16 units.
const WINDOW: usize = 10_240;

#[derive(Debug)]
pub(super) struct Copilot {
    /// The last text ends with a line on how the command ended.
    has_closing_line: bool,
    /// In the place of a large output stands what the model is to do about it.
    has_preface: bool,
    /// A running command's content is the newest end of it.
    has_window: bool,
}

impl Copilot {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_closing_line: departures.contains(&Departure::ClosingLines),
            has_preface: departures.contains(&Departure::Preface),
            has_window: departures.contains(&Departure::MovingWindow),
        }
    }
}

impl Grammar for Copilot {
    fn input(&self, frame: &ToolFrame) -> Input {
        let mut input = Input::read(frame);
        let dir = shell_exit(frame).and_then(|exit| exit.get("cwd")?.as_str());
        input.work_dir = input.work_dir.or_else(|| dir.map(str::to_owned));
        input
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        let mut exit = Generic.exit(frame);
        let stated = shell_exit(frame).and_then(|item| exit_code(item.get("exitCode")?));
        exit.native = exit.native.or(stated);
        exit
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        match content(frame) {
            Some(text) if self.has_preface && text.starts_with(TOO_LARGE) => {
                // What was seen of it while it ran is more, and newer.
                let preview =
                    shell_exit(frame).and_then(|exit| text_of(exit.get("outputPreview")?));
                let preview = Edit::Replace(preview.unwrap_or_default());
                vec![Output { cut: true, ..Output::stdout(Weight::Fallback, preview) }]
            }
            // What is beside it in the frame is the same text.
            Some(text) => vec![Output::stdout(Weight::Live, Edit::Replace(text))],
            None => {
                let is_full =
                    |text: &str| text.len() >= WINDOW && text.encode_utf16().count() >= WINDOW;
                let cut =
                    self.has_window && frame.content_text().is_some_and(|text| is_full(&text));
                let outputs = Generic.outputs(frame, is_final).into_iter();
                outputs.map(|output| Output { cut, ..output }).collect()
            }
        }
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        if !self.has_closing_line || !scene.is_settled || !scene.has_code {
            return Generic.trim(text, scene);
        }
        let (output, line) = text.rsplit_once('\n').unwrap_or(("", text));
        match closing::read(line) {
            Some(Line::Shell(_)) if output.is_empty() => Trim::part(0..0),
            // Its line end is most likely the output's own.
            Some(Line::Shell(_)) => Trim::part(0..output.len() + 1),
            _ => Generic.trim(text, scene),
        }
    }
}

/// The text in `rawOutput.content`.
fn content(frame: &ToolFrame) -> Option<Cow<'_, str>> {
    text_of(frame.raw_output.as_ref()?.get("content")?)
}

/// The item of `rawOutput.contents` that says how the command ended.
fn shell_exit(frame: &ToolFrame) -> Option<&Value> {
    let items = frame.raw_output.as_ref()?.get("contents")?.as_array()?;
    items.iter().find(|item| item.get("type").is_some_and(|kind| kind == "shell_exit"))
}
