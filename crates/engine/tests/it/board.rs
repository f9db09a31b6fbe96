//! The board's commands.

use anyhow::{Context as _, Result};
use model::{
    ErrorCode, SessionState, StepId, TaskState,
    wire::{NewTask, NewTaskAgent, Notification, Since},
};

use crate::support::{Bench, fake_agent};

#[tokio::test]
async fn k_001_a_new_store_has_a_workspace_the_default_workflow_and_agents() -> Result<()> {
    let bench = Bench::new().await?;
    let state = bench.engine.boot(engine::Route::Board).await?.initial_state;
    let board = state.board.context("no board")?;
    let steps: Vec<_> = board.workflow.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps, ["Backlog", "In Progress", "Review", "Done"]);
    let names: Vec<_> = state.profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert!(["OpenCode", "Codex", "Claude"].iter().all(|name| names.contains(name)), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn k_001_a_task_that_waits_stands_in_the_first_step_and_everyone_is_told() -> Result<()> {
    let mut bench = Bench::new().await?;
    let new = NewTask { start: false, ..bench.new_task("say later", &fake_agent()?) };
    let card = bench.engine.create_task(new).await?;
    let board = bench.engine.board_snapshot(None).await?.board.context("no board")?;
    assert_eq!(card.step_id, board.workflow.steps[0].id);
    assert_eq!(card.state, TaskState::Todo);
    let told = bench
        .until(|told| match told {
            Notification::TaskCreated { task, .. } => Some(task.id),
            _ => None,
        })
        .await?;
    assert_eq!(told, card.id);

    let session_id = card.session.context("no session")?.id;
    bench.engine.start_session(session_id).await?;
    bench.until_message(|m| m.content == "later").await?;
    Ok(())
}

#[tokio::test]
async fn a_task_moves_and_the_last_step_is_where_it_is_done() -> Result<()> {
    let bench = Bench::new().await?;
    let new = NewTask { start: false, ..bench.new_task("say x", &fake_agent()?) };
    let card = bench.engine.create_task(new).await?;
    let steps = bench.engine.board_snapshot(None).await?.board.context("no board")?.workflow.steps;
    let done = bench.engine.move_task(card.id, steps[3].id).await?;
    assert_eq!((done.step_id, done.state), (steps[3].id, TaskState::Completed));
    let back = bench.engine.move_task(card.id, steps[2].id).await?;
    assert_eq!(back.state, TaskState::Review);
    let nowhere = bench.engine.move_task(card.id, StepId::from_bytes([9; 16])).await;
    assert_eq!(nowhere.unwrap_err().code, ErrorCode::NotFound);
    Ok(())
}

#[tokio::test]
async fn a_deleted_task_takes_its_agent_and_its_messages_along() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("start make\nhang").await?;
    bench.until_message(|m| m.shell_exec().is_some()).await?;
    let process =
        bench.engine.store().read(store::Reader::processes)?.pop().context("no process")?;
    bench.engine.delete_task(card.id).await?;
    assert!(!acp::process::alive(&process));
    let messages = bench.engine.messages(session_id, None, None).await;
    assert_eq!(messages.unwrap_err().code, ErrorCode::NotFound);
    assert_eq!(bench.engine.delete_task(card.id).await.unwrap_err().code, ErrorCode::NotFound);
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_a_task_is_refused_by_field() -> Result<()> {
    let bench = Bench::new().await?;
    let good = bench.new_task("say x", &fake_agent()?);
    let unknown = NewTaskAgent::Profile(model::ProfileId::from_bytes([9; 16]));
    for (new, field) in [
        (NewTask { prompt: "  ".into(), ..good.clone() }, "prompt"),
        (NewTask { folder: "relative".into(), ..good.clone() }, "folder"),
        (NewTask { agent: unknown, ..good.clone() }, "agent"),
    ] {
        let err = bench.engine.create_task(new).await.unwrap_err();
        assert_eq!((err.code, err.field.as_deref()), (ErrorCode::ValidationError, Some(field)));
    }
    assert_eq!(bench.engine.board_snapshot(None).await?.board.context("no board")?.tasks, []);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_was_used_is_offered_again() -> Result<()> {
    let bench = Bench::new().await?;
    let new = NewTask { start: false, ..bench.new_task("say x", &fake_agent()?) };
    let folder = new.folder.clone();
    bench.engine.create_task(new).await?;
    let state = bench.engine.boot(engine::Route::Board).await?.initial_state;
    assert_eq!(state.folders, [folder]);
    Ok(())
}

#[tokio::test]
async fn a_client_that_is_current_gets_no_snapshot_and_one_that_is_behind_does() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (_, session_id) = bench.task("say x").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let now = bench.engine.session_snapshot(session_id, None).await?;
    let since = Since { epoch: now.epoch, rev: now.rev };
    assert!(bench.engine.session_snapshot(session_id, Some(&since)).await?.session.is_none());
    let behind = Since { rev: 1, ..since };
    assert!(bench.engine.session_snapshot(session_id, Some(&behind)).await?.session.is_some());
    Ok(())
}
