//! Prompts, cancels, failures and ends.

use anyhow::{Context as _, Result};
use model::{ErrorCode, MessageKind, SessionState, TaskState, ToolStatus, TurnOutcome};

use crate::support::{Bench, fake_agent};

#[tokio::test]
async fn a_prompt_is_answered_and_the_task_goes_to_review() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("say Hello").await?;
    assert_eq!(card.state, TaskState::InProgress);
    bench.until_state(SessionState::WaitingForInput).await?;
    let page = bench.page(&card).await?;
    let texts: Vec<_> = page.messages.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(texts, ["say Hello", "Hello"]);
    let turn = page.session.and_then(|session| session.turn).context("no turn")?;
    assert_eq!(turn.outcome, Some(TurnOutcome::Completed));
    bench
        .until(|told| match told {
            model::wire::Notification::TaskUpdated { task, .. } => {
                (task.state == TaskState::Review).then_some(())
            }
            _ => None,
        })
        .await
}

#[tokio::test]
async fn p_011_the_agent_knows_its_task_and_session() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("env KANDEV_TASK_ID\nenv KANDEV_SESSION_ID").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let answer = bench.page(&card).await?.messages.pop().context("no answer")?.content;
    assert!(
        answer.contains(&card.id.to_string()) && answer.contains(&session_id.to_string()),
        "{answer}"
    );
    Ok(())
}

#[tokio::test]
async fn a_repeated_prompt_is_delivered_once_and_a_start_is_refused_while_a_turn_runs() -> Result<()>
{
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let send = || bench.engine.prompt(card.id, session_id, "hang".into(), Some("c-1".into()));
    let first = send().await?;
    assert_eq!(send().await?, first);
    let refused = bench.engine.start_session(session_id).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Conflict);
    let prompts = bench.page(&card).await?.messages;
    assert_eq!(prompts.iter().filter(|m| m.content == "hang").count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_stop_ends_the_turn_and_the_next_prompt_works() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("start make\nout step\\n\nhang").await?;
    bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    bench.engine.cancel(session_id).await?;
    let row = bench.until_tool(ToolStatus::Cancelled).await?;
    assert!(row.shell_exec().is_some_and(|exec| exec.output.has_output), "the transcript stays");
    bench.until_state(SessionState::WaitingForInput).await?;
    bench.engine.prompt(card.id, session_id, "say again".into(), None).await?;
    bench.until_message(|m| m.content == "again").await?;
    Ok(())
}

#[tokio::test]
async fn an_agent_that_crashes_fails_the_turn_and_is_started_again() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say before\ncrash 7").await?;
    bench.until_state(SessionState::Failed).await?;
    let error =
        bench.page(&card).await?.session.and_then(|session| session.error).context("no error")?;
    assert!(error.contains("exit code 7"), "{error}");
    bench.engine.prompt(card.id, session_id, "say after".into(), None).await?;
    bench.until_message(|m| m.content == "after").await?;
    let notes = bench.page(&card).await?.messages;
    assert!(
        notes.iter().any(|m| m.kind == MessageKind::Status && m.content.contains("started again"))
    );
    Ok(())
}

#[tokio::test]
async fn a_program_that_is_not_there_fails_the_task_with_a_sentence() -> Result<()> {
    let mut bench = Bench::new().await?;
    bench.engine.create_task(bench.new_task("say x", "no-such-agent-program --acp")).await?;
    bench.until_state(SessionState::Failed).await?;
    let board = bench.engine.board_snapshot(None).await?.board.context("no board")?;
    let error =
        board.tasks[0].session.as_ref().and_then(|s| s.error.clone()).context("no error")?;
    assert!(error.contains("no-such-agent-program"), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_agent_that_ends_at_once_fails_with_its_exit_code_and_the_command() -> Result<()> {
    let mut bench = Bench::new().await?;
    bench.engine.create_task(bench.new_task("say x", "sh -c 'exit 3'")).await?;
    let error = bench.until_message(|m| m.kind == MessageKind::Error).await?.content;
    assert!(error.contains("exit code 3") && error.contains("sh -c 'exit 3'"), "{error}");
    Ok(())
}

#[tokio::test]
async fn q_007_shutdown_stores_the_turn_as_interrupted_and_leaves_no_agent() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("start make\nhang").await?;
    bench.until_message(|m| m.shell_exec().is_some()).await?;
    bench.engine.shutdown().await;
    let turn =
        bench.page(&card).await?.session.and_then(|session| session.turn).context("no turn")?;
    assert_eq!(turn.outcome, Some(TurnOutcome::Interrupted));
    assert_eq!(bench.engine.store().read(store::Reader::processes)?, []);
    let refused = bench.engine.create_task(bench.new_task("say x", &fake_agent()?)).await;
    assert_eq!(refused.unwrap_err().code, ErrorCode::Conflict);
    Ok(())
}

#[tokio::test]
async fn an_agent_that_begins_unasked_is_put_into_the_mode_in_which_it_asks() -> Result<()> {
    for (name, mode) in [("@agentclientprotocol/claude-agent-acp", "default"), ("unknown", "auto")]
    {
        let mut bench = Bench::new().await?;
        let command = format!("{} --name {name}", fake_agent()?);
        bench.engine.create_task(bench.new_task("mode", &command)).await?;
        bench.until_message(|m| m.content == format!("Mode: {mode}\n")).await?;
    }
    Ok(())
}
