//! Shell output: stored while it runs, listed without bodies, fetched on demand.

use anyhow::{Context as _, Result};
use engine::Route;
use model::{CommandStatus, ErrorCode, MessageId, SessionId, SessionState, ToolStatus};
use serde_json::json;

use crate::support::Bench;

#[tokio::test]
async fn s_001_a_command_becomes_one_shell_row_with_its_exact_exit() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (_, session_id) = bench.task("run printf one; exit 4 => 4 | one\\n").await?;
    let row = bench.until_tool(ToolStatus::Error).await?;
    let exec = row.shell_exec().context("not a shell row")?;
    assert_eq!(exec.command, "printf one; exit 4");
    assert_eq!(exec.output.exit_code, Some(4));
    assert_eq!(exec.output.stdout_bytes, 4);
    let snapshot = bench.engine.shell_output(session_id, row.id).await?;
    assert_eq!(snapshot.status, CommandStatus::Failed);
    assert_eq!(snapshot.output.stdout.as_deref(), Some("one\n"));
    Ok(())
}

#[tokio::test]
async fn s_020_output_of_a_running_command_is_stored_while_it_runs() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("start make\nout step 1\\n\nhang").await?;
    let row =
        bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    let snapshot = bench.engine.shell_output(session_id, row.id).await?;
    assert_eq!(snapshot.status, CommandStatus::Running);
    assert_eq!(snapshot.output.stdout.as_deref(), Some("step 1\n"));
    // A page that is loaded now starts from the same.
    let listed = bench.page(&card).await?.messages;
    assert!(
        listed
            .iter()
            .any(|m| m.id == row.id && m.shell_exec().is_some_and(|e| e.output.stdout_bytes == 7))
    );
    Ok(())
}

#[tokio::test]
async fn s_031_s_032_no_list_boot_state_or_notification_carries_a_body() -> Result<()> {
    const SENTINEL: &str = "SENTINEL-7f3a";
    let mut bench = Bench::new().await?;
    let mut told = bench.engine.subscribe();
    let (card, session_id) = bench
        .task(&format!("start make\nout {SENTINEL}\\n\nsleep 150\nout {SENTINEL}\\n\nexit 0"))
        .await?;
    let row = bench.until_tool(ToolStatus::Complete).await?;
    bench.until_state(SessionState::WaitingForInput).await?;

    let mut sent = String::new();
    while let Ok(notification) = told.try_recv() {
        sent += &serde_json::to_string(&*notification)?;
    }
    assert!(sent.contains("session.message.updated") || sent.contains("session.message.added"));
    sent += &serde_json::to_string(&bench.engine.boot(Route::Task(card.id)).await?)?;
    sent += &serde_json::to_string(&bench.engine.boot(Route::Board).await?)?;
    sent += &serde_json::to_string(&bench.engine.messages(session_id, None, None).await?)?;
    sent += &serde_json::to_string(&bench.engine.session_snapshot(session_id, None).await?)?;
    // The prompt itself names it; everything else must not.
    let in_prompts = sent.matches(&format!("out {SENTINEL}")).count();
    assert!(in_prompts > 0);
    assert_eq!(sent.matches(SENTINEL).count(), in_prompts);

    let fetched = bench.engine.shell_output(session_id, row.id).await?;
    assert_eq!(fetched.output.stdout.context("no body")?.matches(SENTINEL).count(), 2);
    Ok(())
}

#[tokio::test]
async fn s_033_an_output_that_is_elsewhere_or_none_is_not_found_alike() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("run ls => 0 | a\\n").await?;
    let row = bench.until_tool(ToolStatus::Complete).await?;
    let prompt = bench.page(&card).await?.messages[0].id;
    let elsewhere = SessionId::from_bytes([9; 16]);
    let mut errors = Vec::new();
    for (session, message) in
        [(session_id, prompt), (elsewhere, row.id), (session_id, MessageId::from_bytes([9; 16]))]
    {
        errors.push(bench.engine.shell_output(session, message).await.unwrap_err());
    }
    assert_eq!(errors[0].code, ErrorCode::NotFound);
    assert!(errors.iter().all(|err| *err == errors[0]));
    Ok(())
}

#[tokio::test]
async fn s_033_a_command_that_has_emitted_nothing_has_an_empty_output() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (_, session_id) = bench.task("start sleep 9\nhang").await?;
    let row = bench.until_message(|m| m.shell_exec().is_some()).await?;
    let snapshot = serde_json::to_value(bench.engine.shell_output(session_id, row.id).await?)?;
    assert_eq!(snapshot["output"], json!({}));
    assert_eq!(snapshot["status"], "running");
    Ok(())
}

#[tokio::test]
async fn s_024_a_late_end_reconciles_the_row_without_a_new_turn() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("start make\nout working\\n\nlate 200 3").await?;
    bench.until_tool(ToolStatus::Cancelled).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let row = bench.until_tool(ToolStatus::Error).await?;
    assert_eq!(row.shell_exec().and_then(|exec| exec.output.exit_code), Some(3));
    let page = bench.page(&card).await?;
    assert_eq!(page.session.context("no session")?.state, SessionState::WaitingForInput);
    assert_eq!(page.messages.iter().filter(|m| m.shell_exec().is_some()).count(), 1);
    Ok(())
}
