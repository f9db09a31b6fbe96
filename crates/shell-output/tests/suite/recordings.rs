//! Recorded frames of real agents, replayed against what stands beside each recording.

use std::{fs, path::Path};

use model::{AgentKind, Departure, MessageKind, ToolStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use shell_output::{Dialect, ShellCall};

use crate::support::{Replayed, ReplayedCall, recordings, replay, replay_as, update};

/// What a recording must come to: `<recording>.expected.json`, written by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// What a reader may wonder about: what the provider lost, say.
    #[serde(default, rename = "note")]
    _note: Option<String>,
    /// The stored tool messages, in order of creation.
    calls: Vec<ExpectedCall>,
    /// The calls that only a `session/load` told again.
    #[serde(default)]
    history: Vec<ExpectedCall>,
}

#[derive(Deserialize)]
struct ExpectedCall {
    kind: MessageKind,
    /// None where the call is no shell command.
    #[serde(flatten)]
    command: Option<ExpectedCommand>,
}

#[derive(Deserialize)]
struct ExpectedCommand {
    title: String,
    status: ToolStatus,
    /// The payload without its output.
    exec: Value,
    exit_code: Option<i64>,
    signal: Option<Value>,
    truncated: bool,
    stdout: Option<ExpectedText>,
    stderr: Option<ExpectedText>,
}

/// A text, or of a long one its two ends and its length.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ExpectedText {
    Whole(String),
    Ends { begins: String, ends: String, bytes: usize },
}

impl ExpectedText {
    fn check(expected: Option<&Self>, actual: Option<&str>, name: &str) {
        match (expected, actual) {
            (Some(Self::Ends { begins, ends, bytes }), Some(actual)) => {
                let head = &actual[..actual.floor_char_boundary(begins.len())];
                let tail =
                    &actual[actual.ceil_char_boundary(actual.len().saturating_sub(ends.len()))..];
                assert_eq!((head, tail, actual.len()), (&**begins, &**ends, *bytes), "{name}");
            }
            (Some(Self::Whole(expected)), actual) => {
                assert_eq!(actual, Some(&**expected), "{name}");
            }
            (None, actual) => assert_eq!(actual, None, "{name}"),
            (expected, None) => panic!("{name}: no text, but {expected:?} was expected"),
        }
    }
}

pub(crate) fn check(path: &Path) {
    let name = path.display().to_string();
    let expected = fs::read_to_string(path.with_extension("expected.json"))
        .unwrap_or_else(|err| panic!("{name} has no expectation: {err}"));
    let expected: Expected =
        serde_json::from_str(&expected).unwrap_or_else(|err| panic!("{name}: {err}"));
    let Replayed { calls, history } = replay(path);
    check_calls(&name, &calls, &expected.calls);
    check_calls(&format!("{name} (history)"), &history, &expected.history);
}

fn check_calls(name: &str, calls: &[ReplayedCall], expected: &[ExpectedCall]) {
    let kind = |call: &ReplayedCall| call.kind.unwrap_or(MessageKind::ToolCall);
    let kinds: Vec<_> = calls.iter().map(kind).collect();
    let expected_kinds: Vec<_> = expected.iter().map(|call| call.kind).collect();
    assert_eq!(kinds, expected_kinds, "{name}");
    for (call, expected) in calls.iter().zip(expected) {
        if let Some(command) = &expected.command {
            check_command(name, call, command);
        } else {
            assert_ne!(expected.kind, MessageKind::ToolExecute, "{name}: what did it run?");
        }
    }
}

fn check_command(name: &str, replayed: &ReplayedCall, expected: &ExpectedCommand) {
    let call = &replayed.call;
    let mut exec = call.exec();
    let output = exec.output.take().unwrap_or_default();
    assert_eq!(call.title(), expected.title, "{name}");
    assert_eq!(serde_json::to_value(exec).unwrap(), expected.exec, "{name}");
    ExpectedText::check(expected.stdout.as_ref(), call.stdout(), &format!("{name}: stdout"));
    ExpectedText::check(expected.stderr.as_ref(), call.stderr(), &format!("{name}: stderr"));
    assert_eq!(output.exit_code, expected.exit_code, "{name}");
    let signal = output.signal.map(|signal| serde_json::to_value(signal).unwrap());
    assert_eq!(signal, expected.signal, "{name}");
    assert_eq!(output.truncated, expected.truncated, "{name}");
    assert_eq!(call.status(), expected.status, "{name}");
}

/// Every recording in a folder, at least `count` of them.
fn check_all(folder: &str, count: usize) {
    let mut paths: Vec<_> = fs::read_dir(recordings().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    paths.sort();
    assert!(paths.len() >= count, "{folder} has lost recordings: {}", paths.len());
    for path in paths {
        check(&path);
    }
}

#[test]
fn s_007_opencode_replays() {
    check_all("opencode", 19);
}

#[test]
fn s_007_opencode_with_failing_providers_replays() {
    check_all("opencode-logs", 18);
}

#[test]
fn s_013_copilot_replays() {
    check_all("copilot", 26);
}

#[test]
fn s_013_qwen_replays() {
    check_all("qwen", 26);
}

#[test]
fn s_005_codex_replays() {
    check_all("codex", 33);
}

#[test]
fn s_005_the_older_codex_adapter_replays() {
    check_all("codex-zed", 15);
}

#[test]
fn s_006_claude_replays() {
    check_all("claude", 30);
}

#[test]
fn s_006_older_claude_adapters_replay() {
    check_all("claude-old", 9);
    check_all("claude-zed", 6);
}

#[test]
fn s_005_pi_replays() {
    check_all("pi", 22);
}

#[test]
fn s_008_auggie_replays() {
    check_all("auggie", 9);
}

#[test]
fn s_009_omp_replays() {
    check_all("omp", 22);
}

#[test]
fn s_003_gemini_replays() {
    check_all("gemini", 6);
}

/// What a recording's one call comes to in the same dialect when the program names no version.
pub(crate) fn by_the_letter(
    agent: AgentKind,
    recording: &str,
) -> (ToolStatus, Option<i64>, String) {
    let replayed = replay_as(agent, &[], &recordings().join(recording));
    let [call] = &replayed.calls[..] else { panic!("{recording} has not one call") };
    let code = call.call.exec().output.and_then(|output| output.exit_code);
    (call.call.status(), code, call.call.stdout().unwrap_or_default().to_owned())
}

#[test]
fn g_001_shell_metadata_block_is_output_of_a_program_without_a_version() {
    check(&recordings().join("opencode/timeout.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::OpenCode, "opencode/timeout.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, None));
    assert!(stdout.starts_with("begin\n\n\n<shell_metadata>\n"), "{stdout}");
}

#[test]
fn g_001_a_word_for_no_output_is_output_of_a_program_without_a_version() {
    check(&recordings().join("opencode/silent.jsonl"));
    let silent = by_the_letter(AgentKind::OpenCode, "opencode/silent.jsonl");
    assert_eq!(silent, (ToolStatus::Complete, Some(0), "(no output)".into()));
}

#[test]
fn g_001_aggregated_output_counts_for_the_measured_codex_only() {
    check(&recordings().join("codex-zed/big.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Codex, "codex-zed/big.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, Some(0)));
    assert!(stdout.starts_with("Total output lines: 20000\n\nline 000001"), "{stdout}");
}

#[test]
fn g_001_exit_code_prefix_is_output_of_a_program_without_a_version() {
    for recording in ["claude/exit4.jsonl", "claude-zed/exit4.jsonl"] {
        check(&recordings().join(recording));
        let (status, _, stdout) = by_the_letter(AgentKind::Claude, recording);
        assert_eq!((status, &*stdout), (ToolStatus::Error, "Exit code 4\none\ntwo"), "{recording}");
    }
}

#[test]
fn g_001_exit_flag_is_an_exit_code_of_a_program_without_a_version() {
    check(&recordings().join("claude-old/exit4.jsonl"));
    let (status, code, _) = by_the_letter(AgentKind::Claude, "claude-old/exit4.jsonl");
    assert_eq!((status, code), (ToolStatus::Error, Some(1)));
}

/// The one call of a recording.
fn one_call(recording: &str) -> ReplayedCall {
    let mut calls = replay(&recordings().join(recording)).calls;
    assert_eq!(calls.len(), 1, "{recording}");
    calls.remove(0)
}

#[test]
fn s_003_the_command_fills_in_while_the_call_is_under_way() {
    let seen = one_call("claude/exit4.jsonl").commands;
    assert_eq!(seen.first().map(String::as_str), Some(""));
    assert!(seen.last().unwrap().starts_with("printf"), "{seen:?}");
}

#[test]
fn s_020_output_is_there_while_the_command_runs() {
    let running = one_call("opencode/live.jsonl").live_outputs;
    let ticks = |n| (1..=n).map(|i| format!("tick {i}\n")).collect::<String>();
    assert_eq!(running, (1..=5).map(ticks).collect::<Vec<_>>());
}

#[test]
fn s_030_a_replayed_call_is_stored_without_what_is_absent() {
    let exec = one_call("codex/silent.jsonl").call.exec();
    assert_eq!(
        serde_json::to_value(exec).unwrap(),
        json!({
            "command": "true",
            "work_dir": "/workspace/demo",
            "output": {"exit_code": 0, "truncated": false}
        })
    );
}

#[test]
fn g_001_a_preface_is_output_of_a_program_without_a_version() {
    check(&recordings().join("gemini/cancel.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Gemini, "gemini/cancel.jsonl");
    assert_eq!((status, code), (ToolStatus::Cancelled, None));
    assert_eq!(stdout, "Command cancelled by user.\n\nOutput before cancellation:\nstarted");
    check(&recordings().join("opencode/big.jsonl"));
    let (_, _, stdout) = by_the_letter(AgentKind::OpenCode, "opencode/big.jsonl");
    assert!(stdout.starts_with("...output truncated...\n\nFull output saved to: "));
}

#[test]
fn g_001_omps_closing_lines_are_output_of_a_program_without_a_version() {
    check(&recordings().join("omp/exit4.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Omp, "omp/exit4.jsonl");
    assert_eq!((status, code), (ToolStatus::Error, Some(4)));
    assert!(stdout.ends_with("\n\nWall time: 1.11 seconds\n\nCommand exited with code 4"));
}

#[test]
fn g_001_omps_word_for_no_output_is_output_of_a_program_without_a_version() {
    check(&recordings().join("omp/silent.jsonl"));
    let (_, code, stdout) = by_the_letter(AgentKind::Omp, "omp/silent.jsonl");
    assert_eq!((code, &*stdout), (None, "(no output)\n\nWall time: 0.13 seconds"));
}

/// `omp/big.jsonl` shows that OMP cuts what it shows at 4000 characters; its own echo is one.
#[test]
fn g_001_omps_cut_echo_is_output_of_a_program_without_a_version() {
    let command = format!("echo {}", "x".repeat(5_000));
    let text = format!("$ {}\u{2026}\nout\n", &command[..3_997]);
    let frame = json!({"rawInput": {"command": command}, "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": text}}]});
    let play = |departures: &[Departure]| {
        let mut call = ShellCall::new(Dialect::new(AgentKind::Omp, departures));
        let _ = call.apply(&update(frame.clone()));
        call.stdout().unwrap_or_default().to_owned()
    };
    assert_eq!(play(&[Departure::CutEcho]), "out\n");
    assert_eq!(play(&[]), text);
}
