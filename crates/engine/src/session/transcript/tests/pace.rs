//! How often one call is stored and told (S-027).

use serde_json::json;
use shell_output::FrameOrigin;

use super::*;

fn at(millis: i64) -> Stamp {
    Stamp { now: Timestamp::from_millis(millis), ..stamp() }
}

fn printed(id: &str, text: &str) -> ToolFrame {
    update(&json!({"toolCallId": id, "_meta": {"terminal_output_delta": {"data": text}}}))
}

/// What these changes bring to the first stream.
fn brought(changes: &[Changed]) -> String {
    let mut text = String::new();
    for (_, change, _) in changes.iter().flat_map(|changed| &changed.bodies) {
        match change {
            BodyChange::Append { text: more, .. } => text.push_str(more),
            BodyChange::Replace { text: whole } => text.clone_from(whole),
        }
    }
    text
}

/// The most of these points in time that lie within one second.
fn most_in_a_second(times: &[i64]) -> usize {
    let counts = times
        .iter()
        .map(|first| times.iter().filter(|time| (0..=1000).contains(&(*time - first))).count());
    counts.max().unwrap_or(0)
}

#[test]
fn s_027_a_call_that_is_looked_at_all_the_time_is_told_ten_times_a_second_at_most() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    let mut told = Vec::new();
    let mut changes = Vec::new();
    let look = |transcript: &mut Transcript, millis, told: &mut Vec<i64>| {
        let due = transcript.take_due(Timestamp::from_millis(millis));
        told.extend(due.iter().map(|_| millis));
        due
    };
    for millis in 0..3000 {
        transcript.tool(at(millis), &printed("1", "x\n"));
        // As if something that cannot wait came with every update.
        changes.extend(look(&mut transcript, millis, &mut told));
    }
    let end = json!({"toolCallId": "1", "_meta": {"terminal_exit": {"exit_code": 0}}});
    transcript.tool(at(3001), &update(&end));
    changes.extend(look(&mut transcript, 3001, &mut told));
    transcript.tool(at(3002), &printed("1", "late\n"));
    assert!(
        look(&mut transcript, 3002, &mut told).is_empty(),
        "the end does not wait, the rest does"
    );
    changes.extend(transcript.take_changes());
    told.push(3002);

    assert!(told.len() > 15, "{told:?}");
    assert!(most_in_a_second(&told) <= 10, "{told:?}");
    assert_eq!(brought(&changes), format!("one\n{}late\n", "x\n".repeat(3000)));
}

#[test]
fn s_027_what_waits_says_for_how_long_and_is_taken_then() {
    let mut transcript = transcript();
    assert_eq!(transcript.next_due(Timestamp::from_millis(0)), None);
    running(&mut transcript, "1");
    let now = |millis| Timestamp::from_millis(millis);
    assert_eq!(transcript.next_due(now(0)), Some(Duration::ZERO));
    transcript.take_due(now(0));
    transcript.tool(at(50), &printed("1", "two\n"));
    let wait = transcript.next_due(now(50)).unwrap();
    assert_eq!(wait, crate::session::FLUSH_INTERVAL - Duration::from_millis(50));
    let due = 50 + i64::try_from(wait.as_millis()).unwrap();
    assert!(transcript.take_due(now(due - 1)).is_empty());
    assert!(transcript.has_changes());
    assert_eq!(brought(&transcript.take_due(now(due))), "two\n");
    assert_eq!(transcript.next_due(now(due)), None);
}

#[test]
fn s_027_a_call_waits_for_itself_alone() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.take_due(Timestamp::from_millis(0));
    transcript.tool(at(1), &printed("1", "two\n"));
    running(&mut transcript, "2");
    transcript.text(at(1), MessageKind::Message, "And now");
    transcript.ask(at(1), PermissionKey::from(json!(1)), None, Vec::new());
    let due = transcript.take_due(Timestamp::from_millis(1));
    let kinds: Vec<_> = due.iter().map(|changed| changed.message.kind).collect();
    let expected = [MessageKind::ToolExecute, MessageKind::Message, MessageKind::PermissionRequest];
    assert_eq!(kinds, expected);
    let (message_id, _) = transcript.first_ask().unwrap();
    transcript.close_asks(at(2), &PermissionAnswer::Void);
    let due = transcript.take_due(Timestamp::from_millis(2));
    assert!(matches!(&due[..], [changed] if changed.message.id == message_id));
}

#[test]
fn s_027_what_waits_outlasts_the_end_of_the_turn_the_next_one_and_the_agent() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.tool(at(0), &finished("1"));
    transcript.take_due(Timestamp::from_millis(0));
    transcript.tool(at(1), &printed("1", "late\n"));
    transcript.end_turn(at(2), CancelReason::Sweep);
    transcript.begin_turn(at(3), TurnId::from_bytes([3; 16]), "more".into(), None);
    transcript.agent_gone(at(4), &PermissionAnswer::Void);
    transcript.forget_calls();
    let due = transcript.take_due(Timestamp::from_millis(5));
    assert!(due.iter().all(|changed| changed.message.seq != 2), "it waits");
    assert!(transcript.has_changes());
    assert_eq!(brought(&transcript.take_due(Timestamp::from_millis(1000))), "late\n");
    assert!(transcript.live.values().all(|live| live.message.seq != 2), "and is let go");
}

#[test]
fn s_027_the_sweep_is_told_with_the_end_of_the_turn() {
    let mut transcript = transcript();
    running(&mut transcript, "1");
    transcript.take_due(Timestamp::from_millis(0));
    transcript.tool(at(1), &printed("1", "two\n"));
    transcript.end_turn(at(2), CancelReason::Sweep);
    let due = transcript.take_due(Timestamp::from_millis(2));
    assert_eq!(due[0].message.metadata.status, Some(model::ToolStatus::Cancelled));
    assert_eq!(brought(&due), "two\n");
}

#[test]
fn s_027_a_clock_that_is_set_back_holds_nothing_up() {
    let mut transcript = transcript();
    let frame = json!({"toolCallId": "1", "kind": "read", "title": "x"});
    transcript.tool(at(1_000_000), &ToolFrame::parse(FrameOrigin::Call, &frame).unwrap());
    transcript.take_due(Timestamp::from_millis(1_000_000));
    transcript.tool(at(0), &update(&json!({"toolCallId": "1", "title": "y"})));
    assert_eq!(transcript.next_due(Timestamp::from_millis(0)), Some(Duration::ZERO));
}
