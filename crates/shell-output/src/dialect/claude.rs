//! Claude: one whole text under `terminal_output`, and named streams where its tool gives them.

use model::Departure;
use serde_json::Value;

use super::{Grammar, Scene, Trim, replacing};
use crate::{
    body::{Edit, Output, Weight},
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    raw_output::{self, Streams},
    value::text_of,
};

#[derive(Debug)]
pub(super) struct Claude {
    /// A failed command's text begins with a line that states its exit code.
    has_code_line: bool,
    /// `terminal_exit.exit_code` says no more than whether the command failed.
    has_exit_flag: bool,
}

impl Claude {
    pub(super) fn new(departures: &[Departure]) -> Self {
        Self {
            has_code_line: departures.contains(&Departure::ExitCodePrefix),
            has_exit_flag: departures.contains(&Departure::ExitFlag),
        }
    }
}

impl Grammar for Claude {
    fn input(&self, frame: &ToolFrame) -> Input {
        let response = |key: &str| frame.claude("toolResponse")?.get(key);
        let mut input = Input::read(frame);
        input.background |= response("backgroundTaskId").is_some_and(Value::is_string);
        input.timeout = input.timeout.or_else(|| response("timedOutAfterMs")?.as_u64());
        input
    }

    fn exit(&self, frame: &ToolFrame) -> Exit {
        let exit = Exit::read(frame);
        if self.has_exit_flag { exit.with_flag() } else { exit }
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        use model::BodyStream::{Stderr, Stdout};
        if frame.claude("nonExecutionKind").is_some() {
            return vec![Output::withdrawn(Stdout), Output::withdrawn(Stderr)];
        }
        let mut outputs: Vec<Output<'a>> =
            frame.claude("toolResponse").map(named_streams).unwrap_or_default();
        if let Some(text) = frame.terminal_output() {
            outputs.push(Output::stdout(Weight::Live, Edit::Replace(text)));
        }
        if let Some(chunk) = frame.terminal_output_delta() {
            outputs.push(Output::stdout(Weight::Live, Edit::Append(chunk)));
        }
        if let Some(raw) = &frame.raw_output {
            outputs.extend(replacing(raw_output::streams(raw), Weight::Fallback));
        } else if is_final && let Some(text) = frame.content_text() {
            // Before the end, content is the model's description of the command.
            outputs.push(Output::stdout(Weight::Fallback, Edit::Replace(text)));
        }
        outputs
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        let may_begin = self.has_code_line && scene.has_failed && scene.is_whole;
        let cut = scene.is_settled && scene.has_failed && text.lines().any(is_left_out);
        match code_line(text).filter(|_| may_begin) {
            Some((code, len)) => Trim { code: Some(code), cut, ..Trim::part(len..text.len()) },
            None => Trim { cut, ..Trim::all(text) },
        }
    }
}

/// The streams that the tool itself names. They count more than the text made for the model.
fn named_streams(response: &Value) -> Vec<Output<'_>> {
    let field = |key: &str| response.get(key).filter(|value| value.is_string()).and_then(text_of);
    if response.get("isImage") == Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let streams = Streams { stdout: field("stdout"), stderr: field("stderr") };
    let cut = response.get("persistedOutputPath").is_some_and(Value::is_string);
    replacing(streams, Weight::Final).map(|output| Output { cut, ..output }).collect()
}

/// The line that stands where Claude left out the middle of a failed command's output.
fn is_left_out(line: &str) -> bool {
    let count =
        line.strip_prefix("... [").and_then(|rest| rest.strip_suffix(" characters truncated] ..."));
    count.is_some_and(|count| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The code in a leading `Exit code N` line, and the line's length with its end.
fn code_line(text: &str) -> Option<(i64, usize)> {
    let rest = text.strip_prefix("Exit code ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let code = rest[..digits].parse().ok()?;
    let behind = &rest[digits..];
    let output = if behind.is_empty() { behind } else { behind.strip_prefix('\n')? };
    Some((code, text.len() - output.len()))
}
