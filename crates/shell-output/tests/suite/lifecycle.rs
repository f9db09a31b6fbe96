//! Status, cancels, sweeps, and what a call is besides its output.

use model::{AgentKind, Departure, ToolStatus};
use serde_json::{Value, json};
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

use crate::support::{after, call, exit_code, update};

fn started() -> Value {
    json!({"kind": "execute", "status": "in_progress", "title": "make", "rawInput": {"command": "make"}})
}

fn output(data: &str) -> Value {
    json!({"_meta": {"terminal_output_delta": {"data": data}}})
}

/// The status after `status` from the agent, with an exit code or none.
fn ended(status: &str, code: Option<i64>) -> ToolStatus {
    let end = json!({"status": status, "_meta": {"terminal_exit": {"exit_code": code}}});
    after(AgentKind::Codex, [started(), end]).status()
}

#[test]
fn s_022_a_known_exit_decides_unless_the_agent_knows_of_a_failure() {
    assert_eq!(ended("completed", Some(0)), ToolStatus::Complete);
    assert_eq!(ended("completed", Some(4)), ToolStatus::Error);
    assert_eq!(ended("completed", None), ToolStatus::Complete);
    assert_eq!(ended("failed", Some(0)), ToolStatus::Error);
    assert_eq!(ended("failed", Some(4)), ToolStatus::Error);
    assert_eq!(ended("failed", None), ToolStatus::Error);
    assert_eq!(ended("in_progress", Some(0)), ToolStatus::Complete);
    assert_eq!(ended("in_progress", Some(-1)), ToolStatus::Error);
}

#[test]
fn s_022_cancelled_stays_cancelled_with_transcript_and_exit_code() {
    let end = json!({"status": "cancelled", "rawOutput": {"exit_code": 130}});
    let call = after(AgentKind::Codex, [started(), output("so far\n"), end]);
    assert_eq!(call.status(), ToolStatus::Cancelled);
    assert_eq!((call.stdout(), exit_code(&call)), (Some("so far\n"), Some(130)));
}

#[test]
fn s_022_after_the_users_cancel_only_an_exit_code_says_otherwise() {
    for (status, code, expected) in [
        ("completed", None, ToolStatus::Cancelled),
        ("failed", None, ToolStatus::Cancelled),
        ("completed", Some(0), ToolStatus::Complete),
        ("failed", Some(137), ToolStatus::Error),
        ("cancelled", Some(130), ToolStatus::Cancelled),
    ] {
        let mut call = after(AgentKind::Codex, [started(), output("so far\n")]);
        assert!(call.cancel(CancelReason::User).changed);
        let end = json!({"status": status, "_meta": {"terminal_exit": {"exit_code": code}}});
        let _ = call.apply(&update(end));
        assert_eq!(call.status(), expected, "{status} {code:?}");
        assert_eq!(call.stdout(), Some("so far\n"));
    }
}

#[test]
fn s_023_failed_and_cancelled_are_terminal_without_an_exit_code() {
    for status in ["failed", "cancelled"] {
        let call = after(AgentKind::Generic, [started(), json!({"status": status})]);
        assert!(call.status().is_terminal(), "{status}");
        assert_eq!(exit_code(&call), None);
    }
}

#[test]
fn s_025_a_sweep_is_provisional() {
    let mut call = after(AgentKind::OpenCode, [started()]);
    assert!(call.cancel(CancelReason::Sweep).changed);
    assert_eq!(call.status(), ToolStatus::Cancelled);
    assert!(!call.cancel(CancelReason::Sweep).changed);

    assert!(call.apply(&update(output("late\n"))).changed);
    assert_eq!((call.status(), call.stdout()), (ToolStatus::Cancelled, Some("late\n")));

    let mut with_exit = call.clone();
    let end =
        json!({"status": "completed", "rawOutput": {"output": "all\n", "metadata": {"exit": 2}}});
    assert!(with_exit.apply(&update(end)).changed);
    assert_eq!((with_exit.status(), exit_code(&with_exit)), (ToolStatus::Error, Some(2)));
    assert_eq!(with_exit.stdout(), Some("all\n"));

    assert!(call.apply(&update(json!({"status": "completed"}))).changed);
    assert_eq!(call.status(), ToolStatus::Complete);
}

#[test]
fn s_025_a_sweep_after_the_users_cancel_does_not_soften_it() {
    let mut call = after(AgentKind::OpenCode, [started()]);
    let _ = call.cancel(CancelReason::User);
    let _ = call.cancel(CancelReason::Sweep);
    let _ = call.apply(&update(json!({"status": "completed"})));
    assert_eq!(call.status(), ToolStatus::Cancelled);
}

#[test]
fn s_025_a_command_that_has_ended_or_goes_on_in_the_background_is_not_swept() {
    let mut ended = after(AgentKind::Codex, [started(), json!({"status": "completed"})]);
    assert!(!ended.cancel(CancelReason::Sweep).changed);
    assert!(!ended.cancel(CancelReason::User).changed);
    assert_eq!(ended.status(), ToolStatus::Complete);
    let background = json!({"rawInput": {"command": "serve", "run_in_background": true}});
    let mut call = after(AgentKind::Claude, [background]);
    assert!(!call.cancel(CancelReason::Sweep).changed);
    assert_eq!(call.status(), ToolStatus::InProgress);
    assert!(call.cancel(CancelReason::User).changed);
}

#[test]
fn s_021_an_update_without_a_status_counts_as_in_progress() {
    for fields in [
        json!({"title": "make"}),
        json!({"rawInput": {"command": "make"}}),
        json!({"content": [{"type": "terminal", "terminalId": "t"}]}),
        json!({"locations": [{"path": "/p"}]}),
        output("x"),
    ] {
        let call = after(AgentKind::Generic, [json!({"status": "pending"}), fields.clone()]);
        assert_eq!(call.status(), ToolStatus::InProgress, "{fields}");
    }
}

#[test]
fn s_021_an_empty_update_changes_nothing() {
    let mut call = after(AgentKind::Claude, [json!({"status": "pending"})]);
    let empty = json!({"_meta": {"claudeCode": {"toolName": "Bash"}}});
    assert!(!call.apply(&update(empty)).changed);
    assert_eq!(call.status(), ToolStatus::Pending);
}

#[test]
fn s_021_a_status_never_goes_back() {
    let mut call = after(AgentKind::OpenCode, [started()]);
    let ask = json!({"toolCallId": "a", "status": "pending", "rawInput": {"command": "make"}});
    let ask = ToolFrame::parse(FrameOrigin::Permission, &ask).unwrap();
    assert!(!call.apply(&ask).changed);
    assert_eq!(call.status(), ToolStatus::InProgress);
    let _ = call.apply(&update(json!({"status": "completed"})));
    let _ = call.apply(&update(json!({"status": "in_progress", "title": "late"})));
    assert_eq!((call.status(), call.title()), (ToolStatus::Complete, "late"));
}

#[test]
fn s_019_a_row_may_begin_with_a_permission_request() {
    let ask = json!({"toolCallId": "a", "title": "make all", "rawInput": {"command": "make all"}});
    let mut call = call(AgentKind::Gemini);
    let _ = call.apply(&ToolFrame::parse(FrameOrigin::Permission, &ask).unwrap());
    assert_eq!((call.status(), call.title()), (ToolStatus::Pending, "make all"));
    assert_eq!(call.exec().command, "make all");
}

#[test]
fn s_019_a_second_tool_call_with_the_same_id_is_an_update() {
    let frame = |raw_input: Value| {
        let value = json!({"toolCallId": "a", "kind": "execute", "status": "pending", "rawInput": raw_input});
        ToolFrame::parse(FrameOrigin::Call, &value).unwrap()
    };
    let mut call = call(AgentKind::Claude);
    let _ = call.apply(&frame(json!({})));
    let _ = call.apply(&update(output("x\n")));
    assert!(call.apply(&frame(json!({"command": "make", "description": "Build"}))).changed);
    assert_eq!((call.exec().command.as_str(), call.stdout()), ("make", Some("x\n")));
}

#[test]
fn s_030_what_is_absent_stays_absent() {
    let call = after(AgentKind::Generic, [started()]);
    assert_eq!(serde_json::to_value(call.exec()).unwrap(), json!({"command": "make"}));
    let call = after(AgentKind::Generic, [started(), output("abc")]);
    assert_eq!(
        serde_json::to_value(call.exec()).unwrap()["output"],
        json!({"truncated": false, "stdout": {"start": 0, "end": 3}})
    );
}

#[test]
fn a_repeated_frame_changes_nothing() {
    let end = json!({"status": "completed", "title": "make", "rawOutput": {"output": "a", "metadata": {"exit": 1}}});
    let mut call = after(AgentKind::OpenCode, [started(), end.clone()]);
    assert!(!call.apply(&update(end)).changed);
}

/// A Claude whose exit code is only a flag, and whose text states the code.
fn flagged(text: &str, flag: i64) -> ShellCall {
    let departures = [Departure::ExitCodePrefix, Departure::ExitFlag];
    let mut call = ShellCall::new(Dialect::new(AgentKind::Claude, &departures));
    let _ = call.apply(&update(json!({"_meta": {"terminal_output": {"data": text}}})));
    let _ = call.apply(&update(json!({"_meta": {"terminal_exit": {"exit_code": flag}}})));
    call
}

#[test]
fn s_013_a_flag_takes_the_code_that_the_text_states() {
    let call = flagged("Exit code 4\none\n", 1);
    assert_eq!((call.status(), exit_code(&call)), (ToolStatus::Error, Some(4)));
    assert_eq!(call.stdout(), Some("one\n"));
    let call = flagged("one\n", 0);
    assert_eq!((call.status(), exit_code(&call)), (ToolStatus::Complete, Some(0)));
}

#[test]
fn s_013_a_flag_without_a_stated_code_is_a_failure_with_an_unknown_exit() {
    let call = flagged("one\n", 1);
    assert_eq!((call.status(), exit_code(&call)), (ToolStatus::Error, None));
}

#[test]
fn s_018_a_near_miss_of_the_code_line_stays() {
    for text in ["Exit code four\nx", "exit code 4\nx", "Exit code 4 is bad\n", "x\nExit code 4\n"]
    {
        assert_eq!(flagged(text, 1).stdout(), Some(text));
    }
    let succeeded = "Exit code 4\nsays the output";
    assert_eq!(flagged(succeeded, 0).stdout(), Some(succeeded));
    assert_eq!(flagged("Exit code 4\nExit code 4\n", 1).stdout(), Some("Exit code 4\n"));
    assert_eq!(flagged("Exit code 7", 1).stdout(), Some(""));
}

#[test]
fn s_018_a_metadata_block_is_only_removed_at_the_end_of_a_command_without_a_code() {
    let ended = |text: &str, exit: Option<i64>| {
        let dialect = Dialect::new(
            AgentKind::OpenCode,
            &[Departure::ShellMetadataBlock, Departure::NoOutputWord],
        );
        let mut call = ShellCall::new(dialect);
        let raw = json!({"output": text, "metadata": {"exit": exit}});
        let _ = call.apply(&update(json!({"status": "completed", "rawOutput": raw})));
        call
    };
    let block = "\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>";
    let call = ended(&format!("a\n{block}"), None);
    assert_eq!((call.status(), call.stdout()), (ToolStatus::Cancelled, Some("a\n")));
    let quoted = format!("a\n{block}");
    assert_eq!(ended(&quoted, Some(0)).stdout(), Some(&*quoted));
    let inside = format!("a{block}\nb");
    assert_eq!(ended(&inside, None).stdout(), Some(&*inside));
    assert_eq!(ended("(no output)\n", Some(0)).stdout(), Some("(no output)\n"));
    assert_eq!(ended("(no output)", Some(0)).stdout(), Some(""));
}

#[test]
fn s_018_a_running_command_may_print_what_the_agent_says_of_silent_ones() {
    let dialect = Dialect::new(AgentKind::OpenCode, &[Departure::NoOutputWord]);
    let mut call = ShellCall::new(dialect);
    let printed = json!([{"type": "content", "content": {"type": "text", "text": "(no output)"}}]);
    let _ = call.apply(&update(json!({"status": "in_progress", "content": printed})));
    assert_eq!(call.stdout(), Some("(no output)"));
}

#[test]
fn s_012_an_error_of_opencode_does_not_cost_the_transcript() {
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let failed =
        json!({"status": "failed", "content": text("boom"), "rawOutput": {"error": "boom"}});
    let call = after(
        AgentKind::OpenCode,
        [started(), json!({"content": text("so far\n")}), failed.clone()],
    );
    assert_eq!((call.status(), call.stdout()), (ToolStatus::Error, Some("so far\n")));
    assert_eq!(after(AgentKind::OpenCode, [started(), failed]).stdout(), Some("boom"));
}
