//! Recorded frames of real agents, replayed against what stands beside each recording.

use std::{fs, path::Path};

use model::{AgentKind, Departure, MessageKind, ToolStatus};
use serde::Deserialize;
use serde_json::{Value, json};
use shell_output::ShellCall;

use crate::support::{fixtures, replay};

/// What a recording must come to: `<recording>.expected.json`.
#[derive(Deserialize)]
struct Expected {
    /// The departures of the recorded program's version.
    departures: Vec<String>,
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
    truncated: bool,
    stdout: Option<String>,
    stderr: Option<String>,
}

fn departure(word: &str) -> Departure {
    match word {
        "shell_metadata_block" => Departure::ShellMetadataBlock,
        "aggregated_output" => Departure::AggregatedOutput,
        "exit_code_prefix" => Departure::ExitCodePrefix,
        "exit_flag" => Departure::ExitFlag,
        other => panic!("no departure {other:?}"),
    }
}

fn check(agent: AgentKind, path: &Path) {
    let name = path.display().to_string();
    let expected = fs::read_to_string(path.with_extension("expected.json")).unwrap();
    let expected: Expected = serde_json::from_str(&expected).unwrap();
    let departures: Vec<_> = expected.departures.iter().map(|word| departure(word)).collect();
    let replayed = replay(agent, &departures, path);
    assert_eq!(replayed.kind, Some(expected.kind), "{name}");
    if let Some(command) = &expected.command {
        check_command(&name, &replayed.call, command);
    }
}

fn check_command(name: &str, call: &ShellCall, expected: &ExpectedCommand) {
    let mut exec = call.exec();
    let output = exec.output.take().unwrap_or_default();
    assert_eq!(call.title(), expected.title, "{name}");
    assert_eq!(call.status(), expected.status, "{name}");
    assert_eq!(serde_json::to_value(exec).unwrap(), expected.exec, "{name}");
    assert_eq!(output.exit_code, expected.exit_code, "{name}");
    assert_eq!(output.truncated, expected.truncated, "{name}");
    assert_eq!(call.stdout(), expected.stdout.as_deref(), "{name}");
    assert_eq!(call.stderr(), expected.stderr.as_deref(), "{name}");
}

/// Every recording of an agent, at least `count` of them.
fn check_all(agent: AgentKind, folder: &str, count: usize) {
    let mut paths: Vec<_> =
        fs::read_dir(fixtures().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    assert!(paths.len() >= count, "{folder} has lost recordings: {}", paths.len());
    for path in paths {
        check(agent, &path);
    }
}

#[test]
fn s_007_opencode_replays() {
    check_all(AgentKind::OpenCode, "opencode", 10);
}

#[test]
fn s_005_codex_replays() {
    check_all(AgentKind::Codex, "codex", 12);
}

#[test]
fn s_005_the_older_codex_adapter_replays() {
    check_all(AgentKind::Codex, "codex-zed", 7);
}

#[test]
fn s_006_claude_replays() {
    check_all(AgentKind::Claude, "claude", 10);
}

#[test]
fn s_006_older_claude_adapters_replay() {
    check_all(AgentKind::Claude, "claude-old", 6);
    check_all(AgentKind::Claude, "claude-zed", 3);
}

/// What a recording comes to in the same dialect when the program names no version.
fn by_the_letter(agent: AgentKind, recording: &str) -> (ToolStatus, Option<i64>, String) {
    let call = replay(agent, &[], &fixtures().join(recording)).call;
    let code = call.exec().output.and_then(|output| output.exit_code);
    (call.status(), code, call.stdout().unwrap_or_default().to_owned())
}

#[test]
fn g_001_shell_metadata_block_is_output_of_a_program_without_a_version() {
    check(AgentKind::OpenCode, &fixtures().join("opencode/timeout.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::OpenCode, "opencode/timeout.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, None));
    assert!(stdout.starts_with("begin\n\n\n<shell_metadata>\n"), "{stdout}");
    let silent = by_the_letter(AgentKind::OpenCode, "opencode/silent.jsonl");
    assert_eq!(silent, (ToolStatus::Complete, Some(0), "(no output)".into()));
}

#[test]
fn g_001_aggregated_output_counts_for_the_measured_codex_only() {
    check(AgentKind::Codex, &fixtures().join("codex-zed/big.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Codex, "codex-zed/big.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, Some(0)));
    assert!(stdout.starts_with("Total output lines: 20000\n\nline 000001"), "{stdout}");
}

#[test]
fn g_001_exit_code_prefix_is_output_of_a_program_without_a_version() {
    for recording in ["claude/exit4.jsonl", "claude-zed/exit4.jsonl"] {
        check(AgentKind::Claude, &fixtures().join(recording));
        let (status, _, stdout) = by_the_letter(AgentKind::Claude, recording);
        assert_eq!((status, &*stdout), (ToolStatus::Error, "Exit code 4\none\ntwo"), "{recording}");
    }
}

#[test]
fn g_001_exit_flag_is_an_exit_code_of_a_program_without_a_version() {
    check(AgentKind::Claude, &fixtures().join("claude-old/exit4.jsonl"));
    let (status, code, _) = by_the_letter(AgentKind::Claude, "claude-old/exit4.jsonl");
    assert_eq!((status, code), (ToolStatus::Error, Some(1)));
}

#[test]
fn s_003_the_command_fills_in_while_the_call_is_under_way() {
    let path = fixtures().join("claude/exit4.jsonl");
    let seen: Vec<_> = replay(AgentKind::Claude, &[], &path).commands;
    assert_eq!(seen.first().map(String::as_str), Some(""));
    assert!(seen.last().unwrap().starts_with("printf"), "{seen:?}");
}

#[test]
fn s_020_output_is_there_while_the_command_runs() {
    let path = fixtures().join("opencode/live.jsonl");
    let running = replay(AgentKind::OpenCode, &[], &path).live_outputs;
    let ticks = |n| (1..=n).map(|i| format!("tick {i}\n")).collect::<String>();
    assert_eq!(running, (1..=5).map(ticks).collect::<Vec<_>>());
}

#[test]
fn s_030_a_replayed_call_is_stored_without_what_is_absent() {
    let path = fixtures().join("codex/silent.jsonl");
    let exec = replay(AgentKind::Codex, &[], &path).call.exec();
    assert_eq!(
        serde_json::to_value(exec).unwrap(),
        json!({
            "command": "true",
            "work_dir": "/workspace/demo",
            "output": {"exit_code": 0, "truncated": false}
        })
    );
}
