//! What an earlier run left open.

use anyhow::{Context as _, Result};
use engine::Engine;
use model::{CommandStatus, SessionState, ToolStatus, TurnOutcome};

use crate::support::Bench;

/// A copy of the store as it stands is what a kill leaves: nothing more is written.
#[tokio::test]
async fn q_006_q_007_after_a_kill_the_turn_is_interrupted_and_everything_else_is_there()
-> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say Look\nstart make\nout step 1\\n\nhang").await?;
    let row =
        bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    let copy = bench.dir.path().join("copy.redb");
    bench.engine.store().backup_to(&copy)?;

    let engine = Engine::start(store::Store::open(&copy, &store::Options::default())?).await?;
    let state = engine.boot(engine::Route::Task(card.id)).await?.initial_state;
    let session = state.session.context("no session")?;
    assert_eq!(session.state, SessionState::WaitingForInput);
    assert_eq!(session.turn.and_then(|turn| turn.outcome), Some(TurnOutcome::Interrupted));
    let texts: Vec<_> = state.messages.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(texts[1..3], ["Look", "make"]);
    assert_eq!(state.messages[2].metadata.status, Some(ToolStatus::Cancelled));
    assert!(texts[3].contains("stopped while the agent was working"));

    let snapshot = engine.shell_output(session_id, row.id).await?;
    assert_eq!(snapshot.status, CommandStatus::Cancelled);
    assert_eq!(snapshot.output.stdout.as_deref(), Some("step 1\n"));
    engine.shutdown().await;
    bench.engine.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn p_013_an_agent_that_an_earlier_run_left_is_ended() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (_, session_id) = bench.task("start make\nhang").await?;
    bench.until_message(|m| m.shell_exec().is_some()).await?;
    let left = bench.engine.store().read(store::Reader::processes)?;
    let [process] = &left[..] else { anyhow::bail!("{left:?}") };
    assert_eq!(process.session_id, session_id);
    assert!(acp::process::alive(process));

    let copy = bench.dir.path().join("copy.redb");
    bench.engine.store().backup_to(&copy)?;
    let engine = Engine::start(store::Store::open(&copy, &store::Options::default())?).await?;
    bench.until_state(SessionState::Failed).await?;
    assert!(!acp::process::alive(process));
    engine.shutdown().await;
    assert_eq!(engine.store().read(store::Reader::processes)?, []);
    bench.engine.shutdown().await;
    Ok(())
}
