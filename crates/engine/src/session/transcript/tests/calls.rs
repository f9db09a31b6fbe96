//! The rows of tool calls.

use model::{BodyStream, ToolStatus};
use serde_json::json;
use shell_output::FrameOrigin;

use super::*;

#[test]
fn s_020_output_of_a_running_command_is_there_to_be_stored() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert!(changed.added);
    assert_eq!(changed.message.metadata.status, Some(ToolStatus::InProgress));
    let [(BodyStream::Stdout, change, extent)] = &changed.bodies[..] else { panic!("{changed:?}") };
    assert!(
        matches!(change, BodyChange::Append { text, .. } | BodyChange::Replace { text } if text == "one\n")
    );
    assert_eq!(extent.len(), 4);
}

#[test]
fn s_006_a_mark_that_follows_the_end_withdraws_what_was_no_output() {
    let mut transcript = transcript();
    transcript.set_dialect(Dialect::new(AgentKind::Claude, &[]));
    let name = json!({"toolName": "Bash"});
    let refusal = json!({"terminal_output": {"data": "Auto mode could not evaluate this"}});
    transcript.tool(
        stamp(),
        &call(&json!({
            "toolCallId": "1", "kind": "execute", "title": "ls", "rawInput": {"command": "ls"},
            "_meta": {"claudeCode": name}
        })),
    );
    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "status": "failed"})));
    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "_meta": refusal})));
    transcript.take_changes();
    let mark = json!({
        "claudeCode": {"toolName": "Bash", "nonExecutionKind": "automode-parsing-error"},
        "terminal_exit": {"exit_code": null}
    });
    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "_meta": mark})));
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    let summary = changed.message.to_view().shell_exec().map(|exec| exec.output.clone());
    assert_eq!(summary.map(|output| output.has_output), Some(false));
    assert_eq!(changed.message.metadata.status, Some(ToolStatus::Error));
}

#[test]
fn s_019_a_row_is_made_by_whatever_comes_first_and_a_second_call_is_an_update() {
    let value = json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls"}});
    for origin in [FrameOrigin::Call, FrameOrigin::Update, FrameOrigin::Permission] {
        let mut transcript = transcript();
        transcript.tool(stamp(), &ToolFrame::parse(origin, &value).unwrap());
        let titled =
            json!({"toolCallId": "1", "kind": "read", "title": "list", "status": "completed"});
        transcript.tool(stamp(), &call(&titled));
        let changes = transcript.take_changes();
        let [changed] = &changes[..] else { panic!("{origin:?}: {changes:?}") };
        assert_eq!(changed.message.kind, MessageKind::ToolExecute, "{origin:?}");
        assert_eq!(changed.message.content, "list");
        assert_eq!(changed.message.metadata.status, Some(ToolStatus::Complete));
        assert_eq!(changed.message.shell_exec().unwrap().command, "ls");
    }
}

#[test]
fn s_019_a_read_stays_a_read_with_a_command_or_without() {
    let mut transcript = transcript();
    let read = json!({"toolCallId": "1", "kind": "read", "name": "bash", "title": "Read x",
        "rawInput": {"command": "cat x"}});
    transcript.tool(stamp(), &call(&read));
    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "kind": "execute"})));
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.kind, MessageKind::ToolRead);
    assert_eq!(changes[0].message.shell_exec(), None);
}

#[test]
fn s_019_a_command_that_is_known_as_one_late_keeps_what_was_said_before() {
    let mut transcript = transcript();
    let first = json!({"toolCallId": "1", "title": "List", "rawInput": {"command": "ls -la"},
        "content": [{"type": "content", "content": {"type": "text", "text": "one\n"}}]});
    transcript.tool(stamp(), &call(&first));
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.kind, MessageKind::ToolCall);
    assert!(changes[0].bodies.is_empty());

    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "kind": "execute"})));
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((changed.added, changed.message.kind), (false, MessageKind::ToolExecute));
    assert_eq!(changed.message.content, "List");
    assert_eq!(changed.message.shell_exec().unwrap().command, "ls -la");
    let [(BodyStream::Stdout, BodyChange::Append { text, start: 0 }, extent)] = &changed.bodies[..]
    else {
        panic!("{changed:?}")
    };
    assert_eq!((text.as_str(), extent.end), ("one\n", 4));
}

#[test]
fn s_019_a_request_for_leave_outside_a_turn_is_shown_and_its_call_makes_a_row_in_the_next() {
    let mut transcript = transcript();
    transcript.end_turn(stamp(), CancelReason::Sweep);
    let asked = json!({"toolCallId": "1", "kind": "execute", "rawInput": {"command": "ls"}});
    let asked = ToolFrame::parse(FrameOrigin::Permission, &asked).unwrap();
    transcript.ask(stamp(), PermissionKey::from(json!(1)), Some(&asked), Vec::new());
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(changed.message.kind, MessageKind::PermissionRequest);
    assert_eq!(changed.message.metadata.permission.as_ref().unwrap().subject, "ls");

    transcript.begin_turn(stamp(), TurnId::from_bytes([3; 16]), "more".into(), None);
    running(&mut transcript, "1");
    let changes = transcript.take_changes();
    assert_eq!(changes[1].message.kind, MessageKind::ToolExecute);
    assert!(changes[1].added);
}

#[test]
fn s_019_a_request_for_leave_that_is_about_no_tool_makes_no_row() {
    let mut transcript = transcript();
    let asked = json!({"toolCallId": "indexing", "title": "Index this folder?"});
    let asked = ToolFrame::parse(FrameOrigin::Permission, &asked).unwrap();
    transcript.ask(stamp(), PermissionKey::from(json!(1)), Some(&asked), Vec::new());
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    let ask = changed.message.metadata.permission.as_ref().unwrap();
    assert_eq!((ask.subject.as_str(), ask.is_command), ("Index this folder?", false));
}

#[test]
fn s_021_what_says_nothing_new_is_not_stored_or_told() {
    let mut transcript = transcript();
    let read = json!({"toolCallId": "1", "kind": "read", "title": "x", "status": "in_progress",
        "locations": [{"path": "/x"}]});
    transcript.tool(stamp(), &call(&read));
    transcript.take_changes();
    transcript.tool(stamp(), &call(&read));
    transcript.tool(stamp(), &update(&json!({"toolCallId": "1", "status": "pending"})));
    transcript.tool(stamp(), &update(&json!({"toolCallId": "2"})));
    assert!(!transcript.has_changes());
}

#[test]
fn s_024_outside_a_turn_an_unknown_call_makes_no_row() {
    let mut transcript = transcript();
    transcript.end_turn(stamp(), CancelReason::Sweep);
    transcript.tool(stamp(), &finished("9"));
    assert!(!transcript.has_changes());
}

#[test]
fn s_025_the_end_of_a_turn_cancels_open_calls_and_a_late_end_replaces_that() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.end_turn(stamp(), CancelReason::Sweep);
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::Cancelled));

    transcript.tool(stamp(), &finished("1"));
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(changed.message.metadata.status, Some(ToolStatus::Error));
    assert_eq!(changed.message.shell_exec().unwrap().output.clone().unwrap().exit_code, Some(4));
}

#[test]
fn s_025_a_background_command_goes_on_over_the_ends_of_turns_until_its_agent_is_gone() {
    for person_stops in [false, true] {
        let mut transcript = transcript();
        transcript.tool(stamp(), &background("bg"));
        if person_stops {
            transcript.cancel_commands(stamp());
        }
        transcript.end_turn(stamp(), CancelReason::User);
        let changes = transcript.take_changes();
        assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::InProgress));

        let printed =
            json!({"toolCallId": "bg", "_meta": {"terminal_output_delta": {"data": "up\n"}}});
        transcript.tool(stamp(), &update(&printed));
        let changes = transcript.take_changes();
        let [changed] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!(changed.message.seq, 2);
        assert_eq!(changed.bodies.len(), 1);

        transcript.begin_turn(stamp(), TurnId::from_bytes([3; 16]), "more".into(), None);
        transcript.agent_gone(stamp(), &PermissionAnswer::Void);
        let changes = transcript.take_changes();
        assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::Cancelled));
    }
}

#[test]
fn s_025_a_background_command_that_ends_outside_any_turn_ends_its_row() {
    let mut transcript = transcript();
    transcript.tool(stamp(), &background("bg"));
    transcript.end_turn(stamp(), CancelReason::Sweep);
    transcript.take_changes();
    let end = json!({"toolCallId": "bg", "_meta": {"terminal_exit": {"exit_code": 3}}});
    transcript.tool(stamp(), &update(&end));
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(changed.message.metadata.status, Some(ToolStatus::Error));
    assert!(changed.message.turn_id.is_some(), "the turn that it was made in");
}
