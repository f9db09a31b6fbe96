//! Agents of which no recording is kept: their own fields are read, and nothing is removed or
//! distrusted.

use model::{AgentKind, Signal, ToolStatus};
use serde_json::json;

use crate::support::{after, exit_code};

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
    let content =
        |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
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
