//! Qwen: one result at the end, with an exit code, a signal and a directory of its own.

use model::{BodyStream, Departure};
use serde_json::Value;

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{
    body::Output,
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    value::{exit_code, signal},
};

#[derive(Debug)]
pub(super) struct Qwen {
    /// Words for the model stand in the place of output.
    has_preface: bool,
    /// A command that a signal ended has exit code 0 beside it.
    has_made_up_code: bool,
}

impl Qwen {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_preface: departures.contains(&Departure::Preface),
            has_made_up_code: departures.contains(&Departure::CodeBesideSignal),
        }
    }
}

impl Grammar for Qwen {
    fn input(&self, frame: &ToolFrame) -> Input {
        let mut input = Input::read(frame);
        let dir = result(frame, "directory").and_then(Value::as_str).filter(|dir| !dir.is_empty());
        input.work_dir = input.work_dir.or_else(|| dir.map(str::to_owned));
        let background = frame.raw_input.as_ref().and_then(|raw| raw.get("is_background"));
        input.background |= background == Some(&Value::Bool(true));
        input
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        let mut exit = Generic.exit(frame);
        exit.signal = exit.signal.or_else(|| result(frame, "signal").and_then(signal));
        let is_made_up = |code: &i64| self.has_made_up_code && *code == 0 && exit.signal.is_some();
        let stated = result(frame, "exitCode").and_then(exit_code);
        exit.native = exit.native.or(stated).filter(|code| !is_made_up(code));
        exit
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        if self.has_preface && is_final && is_for_the_model(frame) {
            return vec![Output::withdrawn(BodyStream::Stdout)];
        }
        let cut = result(frame, "truncated") == Some(&Value::Bool(true));
        let outputs = Generic.outputs(frame, is_final).into_iter();
        outputs.map(|output| Output { cut: output.cut || cut, ..output }).collect()
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        Generic.trim(text, scene)
    }
}

/// Whether a last frame has no output but says that a command was refused or goes on unseen.
fn is_for_the_model(frame: &ToolFrame) -> bool {
    let is_between = |text: &str, begin: &str, end: &str| {
        text.strip_prefix(begin).is_some_and(|rest| rest.ends_with(end))
    };
    match &frame.raw_output {
        Some(Value::String(text)) => {
            is_between(text, "Background shell ", ").") && text.contains(" started (pid ")
        }
        Some(_) => false,
        None => frame
            .content_text()
            .is_some_and(|text| is_between(&text, "Tool \"", "\" was canceled by the user.")),
    }
}

/// A field of a `rawOutput` that says it is a shell's.
fn result<'a>(frame: &'a ToolFrame, key: &str) -> Option<&'a Value> {
    let raw = frame.raw_output.as_ref()?;
    (raw.get("type")? == "shell_result").then(|| raw.get(key)).flatten()
}
