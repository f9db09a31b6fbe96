//! Agents that say too much, too little, or what makes no sense.

use std::{collections::HashMap, time::Instant};

use anyhow::{Context as _, Result};
use model::{MessageKind, MessageView, SessionState, ToolStatus, wire::Notification};
use serde_json::{Value, json};

use crate::support::Bench;

fn call(id: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute", "title": id,
        "status": "in_progress", "rawInput": {"command": id}})
}

fn update(id: &str, status: Option<&str>, text: Option<&str>) -> Value {
    let mut frame = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    if let Some(status) = status {
        frame["status"] = status.into();
    }
    if let Some(text) = text {
        frame["_meta"] = json!({"terminal_output_delta": {"data": text}});
    }
    frame
}

fn rows(messages: &[MessageView]) -> Vec<&MessageView> {
    messages.iter().filter(|m| m.metadata.status.is_some()).collect()
}

#[tokio::test]
async fn s_027_four_hundred_tiny_updates_are_few_stored_ones_and_the_whole_text() -> Result<()> {
    let mut bench = Bench::new().await?;
    let begun = Instant::now();
    let (_, session_id) = bench.task("start make\ntiny 400\nexit 0").await?;
    let mut told = 0_u32;
    let row = bench
        .until(|notification| match notification {
            Notification::MessageAdded { message, .. }
            | Notification::MessageUpdated { message, .. }
                if message.shell_exec().is_some() =>
            {
                told += 1;
                let is_over = message.metadata.status == Some(ToolStatus::Complete);
                is_over.then(|| message.clone())
            }
            _ => None,
        })
        .await?;
    let seconds = begun.elapsed().as_secs_f64().ceil();
    assert!(told > 3, "it was seen to run");
    assert!(f64::from(told) <= 10.0 * seconds, "{told} in {seconds} s");
    bench.until_state(SessionState::WaitingForInput).await?;
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    let expected: String = (0..400).map(|n| format!("tick {n:04}\n")).collect();
    assert_eq!(output.stdout.as_deref(), Some(&*expected));
    Ok(())
}

#[tokio::test]
async fn s_017_s_019_frames_without_ids_are_passed_over_and_one_id_is_one_row() -> Result<()> {
    let mut bench = Bench::new().await?;
    let frames = [
        json!({"sessionUpdate": "tool_call", "kind": "execute", "title": "no id"}),
        json!({"sessionUpdate": "tool_call_update", "status": "completed"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": null, "title": "null"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": 7, "title": "seven"}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "hollow"}),
        call("twice"),
        update("twice", None, Some("one\n")),
        call("twice"),
        update("twice", None, Some("two\n")),
        // An update that comes first makes its row.
        update("early", Some("completed"), Some("out\n")),
        json!({"sessionUpdate": "tool_call", "toolCallId": "early", "kind": "execute",
            "rawInput": {"command": "echo out"}}),
        update("twice", Some("completed"), None),
    ];
    let prompt: String = frames.iter().map(|frame| format!("update {frame}\n")).collect();
    let (card, session_id) = bench.task(&format!("{prompt}say done")).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let messages = bench.page(&card).await?.messages;
    let rows = rows(&messages);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(rows[0].metadata.tool_call_id.as_deref(), Some("twice"));
    assert_eq!(rows[1].shell_exec().map(|exec| exec.command.as_str()), Some("echo out"));
    for (row, text) in [(rows[0], "one\ntwo\n"), (rows[1], "out\n")] {
        assert_eq!(row.metadata.status, Some(ToolStatus::Complete));
        let output = bench.engine.shell_output(session_id, row.id).await?.output;
        assert_eq!(output.stdout.as_deref(), Some(text));
    }
    Ok(())
}

#[tokio::test]
async fn s_013_an_exit_code_of_any_type_is_a_number_or_unknown() -> Result<()> {
    let codes = [
        (json!(0), Some(0)),
        (json!(4), Some(4)),
        (json!(-1), Some(-1)),
        (json!(7.0), Some(7)),
        (json!("12"), Some(12)),
        (json!(1.5), None),
        (json!("x"), None),
        (json!(""), None),
        (json!(true), None),
        (json!(null), None),
        (json!([1]), None),
        (json!({"code": 1}), None),
        (json!(1e300), None),
        (json!("99999999999999999999"), None),
    ];
    let mut prompt = String::new();
    for (n, (code, _)) in codes.iter().enumerate() {
        let mut end = update(&format!("c{n}"), Some("completed"), None);
        end["_meta"] = json!({"terminal_exit": {"exit_code": code}});
        prompt += &format!("update {}\nupdate {end}\n", call(&format!("c{n}")));
    }
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task(&prompt).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let messages = bench.page(&card).await?.messages;
    let rows: HashMap<_, _> = rows(&messages).into_iter().map(|m| (m.content.clone(), m)).collect();
    for (n, (code, expected)) in codes.iter().enumerate() {
        let row = rows.get(&format!("c{n}")).context("no row")?;
        let known = row.shell_exec().and_then(|exec| exec.output.exit_code);
        assert_eq!(known, *expected, "{code}");
        let failed = expected.is_some_and(|code| code != 0);
        let status = if failed { ToolStatus::Error } else { ToolStatus::Complete };
        assert_eq!(row.metadata.status, Some(status), "{code}");
    }
    Ok(())
}

#[tokio::test]
async fn s_020_output_behind_the_end_is_output_all_the_same() -> Result<()> {
    let mut bench = Bench::new().await?;
    let frames = [
        call("a"),
        update("a", Some("completed"), Some("one\n")),
        update("a", None, Some("two\n")),
    ];
    let prompt: String = frames.iter().map(|frame| format!("update {frame}\n")).collect();
    let (_, session_id) = bench.task(&prompt).await?;
    let is_whole = |m: &MessageView| {
        m.shell_exec().is_some_and(|exec| exec.output.stdout_bytes == 8)
            && m.metadata.status == Some(ToolStatus::Complete)
    };
    let row = bench.until_message(is_whole).await?;
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    assert_eq!(output.stdout.as_deref(), Some("one\ntwo\n"));
    Ok(())
}

#[tokio::test]
async fn s_022_output_behind_a_cancel_is_kept_and_the_command_stays_cancelled() -> Result<()> {
    let mut bench = Bench::new().await?;
    let late = update("a", Some("completed"), Some("two\n"));
    let early = update("a", None, Some("one\n"));
    let prompt = format!("update {}\nupdate {early}\non-cancel {late}\nhang", call("a"));
    let (_, session_id) = bench.task(&prompt).await?;
    bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    bench.engine.cancel(session_id).await?;
    let row = bench
        .until_over_with(|m| m.shell_exec().is_some_and(|exec| exec.output.stdout_bytes == 8))
        .await?;
    assert_eq!(row.metadata.status, Some(ToolStatus::Cancelled));
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    assert_eq!((output.stdout.as_deref(), output.exit_code), (Some("one\ntwo\n"), None));
    Ok(())
}

#[tokio::test]
async fn d_014_an_agent_that_ends_in_the_middle_of_a_frame_is_named_and_started_again() -> Result<()>
{
    let mut bench = Bench::new().await?;
    let prompt = format!("say before\nupdate {}\ntorn 9", call("a"));
    let (card, session_id) = bench.task(&prompt).await?;
    bench.until_state(SessionState::Failed).await?;
    let page = bench.page(&card).await?;
    let error = page.session.and_then(|session| session.error).context("no error")?;
    assert!(error.contains("in the middle of its work (exit code 9)"), "{error}");
    let said: Vec<_> = page.messages.iter().map(|m| (m.kind, m.content.as_str())).collect();
    assert!(said.contains(&(MessageKind::Message, "before")), "{said:?}");
    assert!(!said.iter().any(|(_, text)| text.contains("never whole")), "{said:?}");
    assert_eq!(rows(&page.messages)[0].metadata.status, Some(ToolStatus::Cancelled));
    bench.engine.prompt(card.id, session_id, "say after".into(), None).await?;
    bench.until_message(|m| m.content == "after").await?;
    Ok(())
}

#[tokio::test]
async fn s_017_a_line_of_twenty_megabytes_ends_nothing() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("bigline 20971520\ngarbage\ninvalid-utf8\nsay  still here").await?;
    bench.until_message(|m| m.content.contains("still here")).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let messages = bench.page(&card).await?.messages;
    assert!(messages.iter().all(|m| m.content.len() <= 64 * 1024));
    Ok(())
}

#[tokio::test]
async fn s_017_an_answer_of_twenty_megabytes_fails_its_turn_with_a_sentence() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say x\nbiganswer 20971520").await?;
    bench.until_state(SessionState::Failed).await?;
    let error = bench.page(&card).await?.session.and_then(|session| session.error);
    assert!(error.context("no error")?.contains("too large"));
    bench.engine.prompt(card.id, session_id, "say after".into(), None).await?;
    bench.until_message(|m| m.content == "after").await?;
    Ok(())
}
