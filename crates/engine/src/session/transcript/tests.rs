//! Messages, as an agent's updates change them.

use model::{AgentKind, PermissionOption, ToolStatus};
use serde_json::{Value, json};
use shell_output::{FrameOrigin, ToolFrame};

use super::*;
use crate::clock;

mod calls;
mod pace;

fn stamp() -> Stamp {
    Stamp { now: Timestamp::from_millis(1_000), new_id: clock::new_id }
}

fn transcript() -> Transcript {
    let dialect = Dialect::new(AgentKind::Generic, &[]);
    let mut transcript = Transcript::new(SessionId::from_bytes([1; 16]), 0, dialect);
    let turn_id = TurnId::from_bytes([2; 16]);
    transcript.begin_turn(stamp(), turn_id, "do it".into(), None);
    transcript.take_changes();
    transcript
}

fn call(value: &Value) -> ToolFrame {
    ToolFrame::parse(FrameOrigin::Call, value).unwrap()
}

fn update(value: &Value) -> ToolFrame {
    ToolFrame::parse(FrameOrigin::Update, value).unwrap()
}

fn running(transcript: &mut Transcript, id: &str) {
    let frame = call(&json!({
        "toolCallId": id, "kind": "execute", "title": "ls", "status": "in_progress",
        "rawInput": {"command": "ls"},
        "content": [{"type": "content", "content": {"type": "text", "text": "one\n"}}]
    }));
    transcript.tool(stamp(), &frame);
}

fn finished(id: &str) -> ToolFrame {
    update(&json!({
        "toolCallId": id, "status": "completed",
        "rawOutput": {"output": "one\ntwo\n", "exit_code": 4}
    }))
}

fn background(id: &str) -> ToolFrame {
    call(&json!({
        "toolCallId": id, "kind": "execute", "title": "serve", "status": "in_progress",
        "rawInput": {"command": "serve", "run_in_background": true}
    }))
}

#[test]
fn chunks_of_one_kind_are_one_message_until_something_else_comes() {
    let mut transcript = transcript();
    transcript.text(stamp(), MessageKind::Thinking, "hm");
    transcript.text(stamp(), MessageKind::Message, "I ");
    transcript.text(stamp(), MessageKind::Message, "look.");
    running(&mut transcript, "1");
    transcript.text(stamp(), MessageKind::Message, "Done.");
    let texts: Vec<String> =
        transcript.take_changes().into_iter().map(|changed| changed.message.content).collect();
    assert_eq!(texts, ["hm", "I look.", "ls", "Done."]);
}

#[test]
fn an_update_changes_the_row_it_belongs_to() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.take_changes();
    transcript.tool(stamp(), &finished("1"));
    let changes = transcript.take_changes();
    let [changed] = &changes[..] else { panic!("{changes:?}") };
    assert!(!changed.added);
    assert_eq!(changed.message.seq, 2);
    assert_eq!(changed.message.metadata.status, Some(ToolStatus::Error));
    let output = changed.message.shell_exec().unwrap().output.clone().unwrap();
    assert_eq!(output.exit_code, Some(4));
}

#[test]
fn a_call_that_ended_makes_no_second_row_and_is_let_go_with_the_next_turn() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.tool(stamp(), &finished("1"));
    transcript.take_changes();
    transcript.tool(stamp(), &finished("1"));
    assert!(!transcript.has_changes());

    transcript.begin_turn(stamp(), TurnId::from_bytes([3; 16]), "more".into(), None);
    transcript.take_changes();
    assert!(transcript.live.is_empty() && transcript.calls.is_empty());
}

#[test]
fn only_a_few_calls_are_held_after_their_end() {
    let mut transcript = transcript();
    for n in 0..20 {
        let id = n.to_string();
        running(&mut transcript, &id);
        transcript.tool(stamp(), &finished(&id));
        transcript.take_changes();
        assert!(transcript.live.len() <= ENDED_HELD);
    }
}

#[test]
fn a_request_names_the_command_and_closes_with_the_turn() {
    let mut transcript = transcript();
    let frame = ToolFrame::parse(
        FrameOrigin::Permission,
        &json!({"toolCallId": "1", "kind": "execute", "title": "Clean up", "rawInput": {"command": "rm x"}}),
    );
    let key = PermissionKey::from(json!(7));
    let option =
        PermissionOption { id: "yes".into(), name: "Yes".into(), kind: "allow_once".into() };
    transcript.ask(stamp(), key.clone(), frame.as_ref(), vec![option]);
    let (message_id, ask) = transcript.first_ask().unwrap();
    assert_eq!((ask.subject.as_str(), ask.is_command), ("rm x", true));

    let refused = transcript.answer_ask(stamp(), message_id, "maybe");
    assert_eq!(refused, Err(AskError::NoSuchOption));
    assert_eq!(transcript.answer_ask(stamp(), message_id, "yes"), Ok(key));
    assert_eq!(transcript.answer_ask(stamp(), message_id, "yes"), Err(AskError::NotOpen));
    assert_eq!(transcript.first_ask(), None);
}

#[test]
fn a_plan_is_one_message_that_follows_its_updates() {
    let mut transcript = transcript();
    let entry = |status: &str| PlanEntry { content: "Look".into(), status: status.into() };
    transcript.plan(stamp(), vec![entry("pending")]);
    transcript.take_changes();
    transcript.plan(stamp(), vec![entry("completed")]);
    let changes = transcript.take_changes();
    assert!(
        matches!(&changes[..], [changed] if changed.message.metadata.plan == [entry("completed")] && !changed.added)
    );
}

#[test]
fn an_agent_that_is_gone_leaves_nothing_open() {
    let mut transcript = transcript();
    transcript.tool(stamp(), &background("bg"));
    transcript.ask(stamp(), PermissionKey::from(json!(1)), None, Vec::new());
    transcript.end_turn(stamp(), CancelReason::Sweep);
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::InProgress), "it goes on");

    transcript.agent_gone(stamp(), &PermissionAnswer::Void);
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::Cancelled));
    let answer = changes[1].message.metadata.permission.as_ref().and_then(|ask| ask.answer.clone());
    assert_eq!(answer, Some(PermissionAnswer::Void));
}

#[test]
fn a_flood_of_text_becomes_messages_of_a_bounded_size() {
    let mut transcript = transcript();
    let flood = "\u{e9}".repeat(100_000);
    transcript.text(stamp(), MessageKind::Message, &flood);
    transcript.text(stamp(), MessageKind::Message, "end");
    let changes = transcript.take_changes();
    assert!(changes.iter().all(|changed| changed.message.content.len() <= TEXT_BYTES));
    let whole: String = changes.iter().map(|changed| changed.message.content.as_str()).collect();
    assert_eq!(whole, format!("{flood}end"));
}

#[test]
fn what_lists_carry_of_a_call_is_bounded() {
    let mut transcript = transcript();
    let long = "x".repeat(1 << 20);
    transcript.tool(
        stamp(),
        &call(&json!({
            "toolCallId": "1", "kind": "execute", "title": long, "rawInput": {"command": long}
        })),
    );
    transcript.tool(stamp(), &call(&json!({"toolCallId": "2", "kind": "edit", "title": long})));
    for changed in transcript.take_changes() {
        let json = serde_json::to_string(&changed.message).unwrap();
        assert!(json.len() < 100_000, "{}", json.len());
    }
    assert!(transcript.activity().is_some_and(|words| words.len() < 300));
}

#[test]
fn another_process_holds_nothing_of_the_last_ones_calls() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.agent_gone(stamp(), &PermissionAnswer::Void);
    transcript.end_turn(stamp(), CancelReason::Sweep);
    transcript.forget_calls();
    let changes = transcript.take_changes();
    assert_eq!(changes[0].message.metadata.status, Some(ToolStatus::Cancelled));
    assert!(transcript.live.is_empty());
}
