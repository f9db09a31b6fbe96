//! Copilot and Qwen: fields of their own, and what of their words is no output.

use model::{AgentKind, Departure, Signal, ToolStatus};
use serde_json::{Value, json};
use shell_output::{Dialect, ShellCall};

use crate::{
    recordings::{by_the_letter, check},
    support::{after, exit_code, recordings, replay_as, update},
};

fn measured(agent: AgentKind, departure: Departure, frames: &[Value]) -> ShellCall {
    let mut call = ShellCall::new(Dialect::new(agent, &[departure]));
    for frame in frames {
        let _ = call.apply(&update(frame.clone()));
    }
    call
}

fn content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

#[test]
fn s_013_copilots_exit_stands_in_a_list() {
    let call = after(
        AgentKind::Copilot,
        [
            json!({"title": "Lists files", "kind": "execute", "rawInput": {"command": "ls; exit 4"}}),
            json!({"status": "completed", "rawOutput": {
                "content": "one\n",
                "contents": [{"type": "text"}, {"type": "shell_exit", "exitCode": 4, "cwd": "/d"}]}}),
        ],
    );
    let exec = call.exec();
    assert_eq!((&*exec.command, exec.work_dir.as_deref()), ("ls; exit 4", Some("/d")));
    assert_eq!((call.status(), exit_code(&call)), (ToolStatus::Error, Some(4)));
    assert_eq!(call.stdout(), Some("one\n"));
}

#[test]
fn s_012_copilots_cumulative_content_replaces() {
    let call = after(
        AgentKind::Copilot,
        [json!({"content": content("one\n")}), json!({"content": content("one\ntwo\n")})],
    );
    assert_eq!((call.status(), call.stdout()), (ToolStatus::InProgress, Some("one\ntwo\n")));
}

#[test]
fn s_013_qwens_result_has_a_code_a_signal_and_a_directory() {
    let result = |code: i64, signal: Option<i64>| {
        json!({"status": "completed", "rawOutput": {
        "type": "shell_result", "output": "one\n", "directory": "/d", "exitCode": code,
        "signal": signal, "truncated": true}})
    };
    let call = after(AgentKind::Qwen, [json!({"rawInput": {"command": "ls"}}), result(4, Some(9))]);
    let exec = call.exec();
    let output = exec.output.unwrap();
    assert_eq!((exec.work_dir.as_deref(), output.exit_code), (Some("/d"), Some(4)));
    assert_eq!((output.signal, output.truncated), (Some(Signal::Number(9)), true));
    assert_eq!((call.status(), call.stdout()), (ToolStatus::Error, Some("one\n")));
    let other = json!({"status": "completed", "rawOutput": {"type": "other", "exitCode": 4}});
    assert_eq!(exit_code(&after(AgentKind::Qwen, [other])), None);
}

#[test]
fn g_001_copilots_closing_line_is_output_without_a_version() {
    check(&recordings().join("copilot/exit4.jsonl"));
    let letter = by_the_letter(AgentKind::Copilot, "copilot/exit4.jsonl");
    let text = "one\ntwo\n<shellId: 0 completed with exit code 4>".to_owned();
    assert_eq!(letter, (ToolStatus::Error, Some(4), text));
}

#[test]
fn g_001_copilots_words_for_a_large_output_are_output_without_a_version() {
    check(&recordings().join("copilot/big.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Copilot, "copilot/big.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, Some(0)));
    assert!(stdout.starts_with("Output too large to read at once (507.8 KB). Saved to: "));
}

#[test]
fn g_001_copilots_window_is_not_known_to_be_cut_without_a_version() {
    let is_cut = |call: &ShellCall| call.exec().output.is_some_and(|output| output.truncated);
    let play = |text: &str| {
        measured(AgentKind::Copilot, Departure::MovingWindow, &[json!({"content": content(text)})])
    };
    let full = "\u{e9}".repeat(10_240);
    assert!(is_cut(&play(&full)));
    assert!(!is_cut(&play(&full[2..])));
    assert!(!is_cut(&after(AgentKind::Copilot, [json!({"content": content(&full)})])));
}

#[test]
fn s_018_copilots_closing_line_is_one_line_at_the_end_of_a_command_that_ended() {
    let play = |text: &str, exits: bool| {
        let contents =
            if exits { json!([{"type": "shell_exit", "exitCode": 0}]) } else { json!([]) };
        let raw = json!({"content": text, "contents": contents});
        let frames = [json!({"status": "completed", "rawOutput": raw})];
        let call = measured(AgentKind::Copilot, Departure::ClosingLines, &frames);
        call.stdout().unwrap_or_default().to_owned()
    };
    let line = "<shellId: 12 completed with exit code 0>";
    assert_eq!(play(&format!("a\n{line}"), true), "a\n");
    assert_eq!(play(&format!("\n{line}"), true), "");
    assert_eq!(play(line, true), "");
    assert_eq!(play(&format!("{line}\n{line}"), true), format!("{line}\n"));
    for other in [
        "a <shellId: 0 completed with exit code 0>",
        "a\n<shellId: 0 completed with exit code 0>\n",
        "a\n<shellId: 0 completed with exit code zero>",
        "a\n<shellId: 0 1 completed with exit code 0>",
    ] {
        assert_eq!(play(other, true), other);
    }
    assert_eq!(play(&format!("a\n{line}"), false), format!("a\n{line}"));
}

#[test]
fn g_001_a_code_beside_qwens_signal_is_a_code_without_a_version() {
    check(&recordings().join("qwen/signal.jsonl"));
    let letter = by_the_letter(AgentKind::Qwen, "qwen/signal.jsonl");
    assert_eq!(letter, (ToolStatus::Error, Some(0), "before".into()));
    let raw = json!({"type": "shell_result", "output": "", "exitCode": 4, "signal": 15});
    let frames = [json!({"status": "failed", "rawOutput": raw})];
    let call = measured(AgentKind::Qwen, Departure::CodeBesideSignal, &frames);
    assert_eq!(exit_code(&call), Some(4), "a code that is not 0 was given by somebody");
}

#[test]
fn g_001_qwens_words_for_its_model_are_output_without_a_version() {
    for (recording, begin) in [
        ("qwen/background.jsonl", "Background shell bg_"),
        ("qwen/exit4.reject.jsonl", "Tool \"run_shell_command\" was canceled by the user."),
    ] {
        check(&recordings().join(recording));
        let replayed = replay_as(AgentKind::Qwen, &[], &recordings().join(recording));
        let stdout = replayed.calls[0].call.stdout().unwrap_or_default();
        assert!(stdout.starts_with(begin), "{recording}: {stdout}");
    }
}
