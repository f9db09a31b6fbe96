//! Copilot: cumulative content, and at the end a list with the exit among its items.

use std::borrow::Cow;

use serde_json::Value;

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{
    body::{Edit, Output, Weight},
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    value::{exit_code, text_of},
};

#[derive(Debug)]
pub(super) struct Copilot;

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
            // What is beside it in the frame is the same text.
            Some(text) => vec![Output::stdout(Weight::Live, Edit::Replace(text))],
            None => Generic.outputs(frame, is_final),
        }
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        Generic.trim(text, scene)
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
