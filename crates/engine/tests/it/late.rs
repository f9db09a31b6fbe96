//! What an agent says when its turn is over.

use anyhow::{Context as _, Result, ensure};
use model::{
    ErrorCode, MessageKind, PermissionAnswer, SessionState, TaskState, ToolStatus,
    wire::Notification,
};
use serde_json::{Value, json};

use crate::support::Bench;

fn call(id: &str, more: &Value) -> Value {
    let mut frame = json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute",
        "title": id, "status": "in_progress", "rawInput": {"command": id}});
    for (name, value) in more.as_object().into_iter().flatten() {
        frame[name] = value.clone();
    }
    frame
}

fn update(id: &str, more: &Value) -> Value {
    let mut frame = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
    for (name, value) in more.as_object().into_iter().flatten() {
        frame[name] = value.clone();
    }
    frame
}

fn printed(text: &str) -> Value {
    json!({"_meta": {"terminal_output_delta": {"data": text}}})
}

fn exited(code: i64) -> Value {
    json!({"status": "completed", "_meta": {"terminal_exit": {"exit_code": code}}})
}

/// Directives that end one command after the other, so that earlier ones are no longer held.
fn others() -> String {
    let one = |n: i64| format!("update {}\n", call(&format!("other-{n}"), &exited(0)));
    (0..9).map(one).collect()
}

#[tokio::test]
async fn s_024_an_end_that_comes_turns_later_changes_its_row_and_nothing_else() -> Result<()> {
    let mut bench = Bench::new().await?;
    let first = format!("update {}\n{}", call("a", &printed("one\n")), others());
    let (card, session_id) = bench.task(&first).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let unknown = update("nobody", &exited(1));
    let end = update(
        "a",
        &json!({"status": "completed",
        "rawOutput": {"stdout": "one\ntwo\n", "exit_code": 4}}),
    );
    let second = format!("say Done\nlater 50 {unknown}\nlater 0 {end}");
    bench.engine.prompt(card.id, session_id, second, None).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let is_review = |told: &Notification| matches!(told, Notification::TaskUpdated { task, .. } if task.state == TaskState::Review);
    bench.until(|told| is_review(told).then_some(())).await?;
    let before = bench.page(&card).await?;

    // From here on nothing may be told but the row.
    let row = bench
        .until(|told| match told {
            Notification::MessageUpdated { message, .. } => Some(Ok(message.clone())),
            other => Some(Err(format!("{other:?}"))),
        })
        .await?;
    let row = row.map_err(anyhow::Error::msg)?;
    assert_eq!((row.content.as_str(), row.metadata.status), ("a", Some(ToolStatus::Error)));
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    assert_eq!((output.exit_code, output.stdout.as_deref()), (Some(4), Some("one\ntwo\n")));

    let after = bench.page(&card).await?;
    assert_eq!(after.session, before.session);
    assert_eq!(after.task.map(|task| task.state), before.task.map(|task| task.state));
    let ids = |page: &[model::MessageView]| page.iter().map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(ids(&after.messages), ids(&before.messages));
    Ok(())
}

#[tokio::test]
async fn s_025_a_background_command_goes_on_when_its_prompt_has_ended() -> Result<()> {
    let mut bench = Bench::new().await?;
    let begun = call("serve", &json!({"rawInput": {"command": "serve", "wait": false}}));
    let prompt = format!(
        "update {begun}\nlater 50 {}\nlater 300 {}",
        update("serve", &printed("listening\n")),
        update("serve", &exited(0)),
    );
    let (_, session_id) = bench.task(&prompt).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let row =
        bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    assert_eq!(row.metadata.status, Some(ToolStatus::InProgress));
    let row = bench.until_tool(ToolStatus::Complete).await?;
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    assert_eq!((output.exit_code, output.stdout.as_deref()), (Some(0), Some("listening\n")));
    Ok(())
}

#[tokio::test]
async fn s_025_a_background_command_ends_with_its_agent() -> Result<()> {
    let mut bench = Bench::new().await?;
    let begun =
        call("serve", &json!({"rawInput": {"command": "serve", "run_in_background": true}}));
    let (card, _) = bench.task(&format!("update {begun}\nsay up")).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let status = |page: &model::InitialState| page.messages[1].metadata.status;
    assert_eq!(status(&bench.page(&card).await?), Some(ToolStatus::InProgress));
    bench.engine.shutdown().await;
    assert_eq!(status(&bench.page(&card).await?), Some(ToolStatus::Cancelled));
    Ok(())
}

#[tokio::test]
async fn s_027_what_came_last_is_there_when_the_server_has_ended() -> Result<()> {
    let mut bench = Bench::new().await?;
    let end = call("a", &json!({"rawOutput": {"stdout": "one\n"}, "status": "completed"}));
    let (_, session_id) = bench.task(&format!("update {end}\nflood 50\nhang")).await?;
    let row = bench.until_tool(ToolStatus::Complete).await?;
    bench.until_message(|m| m.content.ends_with("\n50\n")).await?;
    bench.engine.shutdown().await;
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    assert_eq!(output.stdout.as_deref(), Some("one\n"));
    Ok(())
}

#[tokio::test]
async fn s_019_leave_that_is_asked_outside_a_turn_can_be_given_and_makes_no_row() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say Hello\nask-later 50 git push").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let ask = bench.until_message(|m| m.kind == MessageKind::PermissionRequest).await?;
    let permission = ask.metadata.permission.clone().context("no request")?;
    assert_eq!((permission.subject.as_str(), ask.turn_id), ("git push", None));
    let option = permission.options.iter().find(|option| option.allows()).context("no option")?;
    bench.engine.answer_permission(session_id, ask.id, option.id.clone()).await?;
    bench.until_message(|m| m.content.contains(&option.kind)).await?;
    let page = bench.page(&card).await?;
    assert!(page.messages.iter().all(|m| m.metadata.status.is_none()), "{page:?}");
    assert_eq!(page.session.context("no session")?.state, SessionState::WaitingForInput);

    let call_id = ask.metadata.tool_call_id.context("no call")?;
    let later = format!("update {}", call(&call_id, &exited(0)));
    bench.engine.prompt(card.id, session_id, later, None).await?;
    let row = bench.until_tool(ToolStatus::Complete).await?;
    assert!(row.turn_id.is_some());
    Ok(())
}

#[tokio::test]
async fn s_019_leave_that_nobody_gave_is_void_with_its_agent() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("say Hello\nask-later 50 git push").await?;
    let ask = bench.until_message(|m| m.kind == MessageKind::PermissionRequest).await?;
    bench.engine.shutdown().await;
    let page = bench.page(&card).await?;
    let asked = page.messages.iter().find(|m| m.id == ask.id).context("no request")?;
    let answer = asked.metadata.permission.as_ref().and_then(|ask| ask.answer.clone());
    ensure!(answer == Some(PermissionAnswer::Void), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn s_025_a_command_that_outlives_its_cancel_is_named_and_can_be_ended() -> Result<()> {
    let mut bench = Bench::new().await?;
    let runs_on = call("a", &json!({"rawInput": {"command": "sleep 600"}}));
    let ends = call("b", &json!({"rawInput": {"command": "sleep 601"}}));
    let prompt = format!("spawn-child\nupdate {ends}\nupdate {runs_on}\nhang");
    let (card, session_id) = bench.task(&prompt).await?;
    let row = bench.until_message(|m| m.metadata.tool_call_id.as_deref() == Some("a")).await?;
    bench.engine.cancel(session_id).await?;
    let early = bench.engine.end_command(session_id, row.id).await;
    assert_eq!(early.err().map(|err| err.code), Some(ErrorCode::NotFound));

    let survivors = |told: &Notification| match told {
        Notification::SessionStateChanged { session, .. } => Some(session.survivors.clone()),
        _ => None,
    };
    let named = bench.until(|told| survivors(told).filter(|found| !found.is_empty())).await?;
    assert_eq!(named, [row.id]);
    let listed = |page: model::InitialState| page.session.map(|session| session.survivors);
    assert_eq!(listed(bench.page(&card).await?), Some(vec![row.id]));

    bench.engine.end_command(session_id, row.id).await?;
    let left = bench.until(|told| survivors(told)).await?;
    assert!(left.is_empty());
    assert_eq!(listed(bench.page(&card).await?), Some(Vec::new()));
    let again = bench.engine.end_command(session_id, row.id).await;
    assert_eq!(again.err().map(|err| err.code), Some(ErrorCode::NotFound));
    Ok(())
}

#[tokio::test]
async fn s_025_a_command_that_outlives_its_cancel_ends_with_its_agent() -> Result<()> {
    let mut bench = Bench::new().await?;
    let runs_on = call("a", &json!({"rawInput": {"command": "sleep 600"}}));
    let (card, session_id) = bench.task(&format!("spawn-child\nupdate {runs_on}\nhang")).await?;
    bench.until_message(|m| m.metadata.tool_call_id.as_deref() == Some("a")).await?;
    bench.engine.cancel(session_id).await?;
    let count = |told: &Notification| match told {
        Notification::SessionStateChanged { session, .. } => Some(session.survivors.len()),
        _ => None,
    };
    bench.until(|told| count(told).filter(|count| *count == 1)).await?;
    bench.engine.prompt(card.id, session_id, "crash".into(), None).await?;
    bench.until(|told| count(told).filter(|count| *count == 0)).await?;
    let page = bench.page(&card).await?;
    assert!(page.session.context("no session")?.survivors.is_empty());
    Ok(())
}
