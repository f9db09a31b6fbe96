//! Auggie: its tags, what stands around them, and what it made up.

use model::{AgentKind, Departure, ToolStatus};
use serde_json::{Value, json};
use shell_output::{Dialect, ShellCall};

use crate::{
    recordings::{by_the_letter, check},
    support::{after, exit_code, recordings, replay, update},
};

const ABORTED: &str = "\nProcess error: The operation was aborted";

fn run() -> Value {
    json!({
        "kind": "execute", "title": "Run `make`",
        "rawInput": {"command": "make", "wait": true, "max_wait_seconds": 60, "cwd": "."}
    })
}

/// The last frame, as Auggie words it.
fn results(code: i64, output: &str) -> Value {
    let text = format!(
        "Here are the results from executing the command.\n<return-code>\n{code}\n</return-code>\n\
         <output>\n{output}\n</output>"
    );
    ended(code != 0, &text)
}

fn ended(failed: bool, text: &str) -> Value {
    let mut frame = json!({"status": "completed", "rawOutput": {"output": text}});
    if failed {
        frame["status"] = "failed".into();
        frame["content"] = fenced(text);
    }
    frame
}

fn fenced(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": format!("```\n{text}\n```")}}])
}

fn measured(frame: Value) -> ShellCall {
    let mut call = ShellCall::new(Dialect::new(AgentKind::Auggie, &[Departure::ClosingLines]));
    for frame in [run(), frame] {
        let _ = call.apply(&update(frame));
    }
    call
}

fn by_letter(frame: Value) -> ShellCall {
    after(AgentKind::Auggie, [run(), frame])
}

fn row(call: &ShellCall) -> (ToolStatus, Option<i64>, Option<&str>) {
    (call.status(), exit_code(call), call.stdout())
}

#[test]
fn g_001_an_abort_of_auggie_is_a_code_and_a_line_without_a_version() {
    check(&recordings().join("auggie/cancel.jsonl"));
    let letter = by_the_letter(AgentKind::Auggie, "auggie/cancel.jsonl");
    assert_eq!(letter, (ToolStatus::Error, Some(-1), format!("started\n{ABORTED}")));
}

#[test]
fn s_008_auggies_tags_are_read_with_a_version_and_without() {
    for play in [measured, by_letter] {
        let call = play(results(4, "one\ntwo\n"));
        assert_eq!(row(&call), (ToolStatus::Error, Some(4), Some("one\ntwo\n")));
        assert_eq!((call.exec().command, call.exec().timeout), ("make".into(), Some(60_000)));
        assert_eq!(row(&play(results(0, ""))), (ToolStatus::Complete, Some(0), Some("")));
    }
    let letter = by_the_letter(AgentKind::Auggie, "auggie/ok.jsonl");
    assert_eq!(letter, (ToolStatus::Complete, Some(0), "one\ntwo\n".into()));
}

#[test]
fn s_008_a_command_that_still_runs_has_an_unknown_exit() {
    let text = "Command may still be running.\nTerminal ID 7\nOutput so far:\n\
                <output>\n<return-code>0</return-code>\n\n</output>";
    let expected = Some("<return-code>0</return-code>\n");
    for play in [measured, by_letter] {
        assert_eq!(row(&play(ended(false, text))), (ToolStatus::Complete, None, expected));
    }
}

#[test]
fn s_008_tags_in_what_a_command_printed_are_output() {
    let printed = "<output>\na\n</output>\n<stderr>b</stderr> <return-code>7</return-code>\n";
    for play in [measured, by_letter] {
        let call = play(results(0, printed));
        assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some(printed)));
        assert_eq!(call.stderr(), None);
    }
}

#[test]
fn s_008_a_text_without_a_closed_tag_stays_whole() {
    for text in ["Failed to launch process: no shell", "<output>\none\n", "a </output> b"] {
        let call = by_letter(ended(true, text));
        assert_eq!(row(&call), (ToolStatus::Error, None, Some(text)));
    }
}

#[test]
fn s_008_the_fenced_copy_is_no_output() {
    let call = by_letter(ended(true, "<return-code>1</return-code>"));
    assert_eq!(row(&call), (ToolStatus::Error, Some(1), None));
    let alone = json!({"status": "failed", "content": fenced("no such tool")});
    assert_eq!(by_letter(alone).stdout(), Some("```\nno such tool\n```"));
}

#[test]
fn s_013_a_malformed_return_code_is_unknown_and_the_text_stays() {
    let text = "<return-code>none</return-code><output>a</output>";
    assert_eq!(row(&by_letter(ended(false, text))), (ToolStatus::Complete, None, Some("a")));
}

#[test]
fn s_013_fields_come_before_auggies_tag() {
    let mut frame = results(3, "a");
    frame["_meta"] = json!({"terminal_exit": {"exit_code": 5}});
    assert_eq!(exit_code(&by_letter(frame.clone())), Some(5));
    frame["_meta"] = json!({});
    frame["rawOutput"]["exit_code"] = 6.into();
    assert_eq!(exit_code(&by_letter(frame)), Some(6));
}

#[test]
fn s_018_only_an_abort_loses_its_line_and_its_code() {
    let aborted = measured(results(-1, &format!("a\n{ABORTED}")));
    assert_eq!(row(&aborted), (ToolStatus::Cancelled, None, Some("a\n")));
    for (code, output) in [
        (4, format!("a{ABORTED}")),
        (-1, format!("a{ABORTED}\n")),
        (-1, "a\nProcess error: spawn failed".to_owned()),
        (-1, "a\n".to_owned()),
    ] {
        let expected = (ToolStatus::Error, Some(code), Some(&*output));
        assert_eq!(row(&measured(results(code, &output))), expected);
    }
    let printed = format!("a{ABORTED}");
    let call = measured(results(0, &printed));
    assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some(&*printed)));
}

#[test]
fn s_015_what_auggie_left_out_counts_as_truncated() {
    let is_truncated = |output: &str| {
        by_letter(results(0, output)).exec().output.is_some_and(|output| output.truncated)
    };
    assert!(is_truncated("a\n... additional lines truncated ...\nz\n"));
    assert!(!is_truncated("a\nsee '... additional lines truncated ...'\nz\n"));
}

#[test]
fn s_012_auggies_last_text_replaces_what_came_live() {
    let live = json!({"_meta": {"terminal_output_delta": {"data": "one\n"}}});
    let mut call = after(AgentKind::Auggie, [run(), live]);
    assert_eq!(row(&call), (ToolStatus::InProgress, None, Some("one\n")));
    let _ = call.apply(&update(results(0, "one\ntwo\n")));
    assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some("one\ntwo\n")));
}

#[test]
fn s_019_auggies_question_outside_a_turn_makes_no_row() {
    let path = recordings().join("auggie/ok.jsonl");
    let asked = std::fs::read_to_string(&path).unwrap();
    assert!(asked.contains(r#""toolCallId": "workspace-indexing-permission""#));
    assert_eq!(replay(&path).calls.len(), 1);
}
