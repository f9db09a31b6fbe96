//! Qwen: one result at the end, with an exit code, a signal and a directory of its own.

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
pub(super) struct Qwen;

impl Grammar for Qwen {
    fn input(&self, frame: &ToolFrame) -> Input {
        let mut input = Input::read(frame);
        let dir = result(frame, "directory").and_then(Value::as_str).filter(|dir| !dir.is_empty());
        input.work_dir = input.work_dir.or_else(|| dir.map(str::to_owned));
        input
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        let mut exit = Generic.exit(frame);
        exit.native = exit.native.or_else(|| result(frame, "exitCode").and_then(exit_code));
        exit.signal = exit.signal.or_else(|| result(frame, "signal").and_then(signal));
        exit
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        let cut = result(frame, "truncated") == Some(&Value::Bool(true));
        let outputs = Generic.outputs(frame, is_final).into_iter();
        outputs.map(|output| Output { cut: output.cut || cut, ..output }).collect()
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        Generic.trim(text, scene)
    }
}

/// A field of a `rawOutput` that says it is a shell's.
fn result<'a>(frame: &'a ToolFrame, key: &str) -> Option<&'a Value> {
    let raw = frame.raw_output.as_ref()?;
    (raw.get("type")? == "shell_result").then(|| raw.get(key)).flatten()
}
