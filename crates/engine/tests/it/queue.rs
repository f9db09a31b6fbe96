//! Follow-ups that wait for the turn before them.

use anyhow::{Context as _, Result};
use engine::{Engine, Route};
use model::{ErrorCode, MAX_QUEUED, QueuedPrompt, SessionState, TaskCard, TurnOutcome};

use crate::support::Bench;

async fn queue(bench: &Bench, card: &TaskCard) -> Result<Vec<QueuedPrompt>> {
    Ok(bench.page(card).await?.session.context("no session")?.queue)
}

fn texts(queue: &[QueuedPrompt]) -> Vec<&str> {
    queue.iter().map(|queued| queued.content.as_str()).collect()
}

#[tokio::test]
async fn k_045_follow_ups_are_sent_in_order_as_turns_complete() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one\nsleep 300").await?;
    bench.until_message(|m| m.content == "one").await?;
    for (n, text) in ["say two", "say three"].into_iter().enumerate() {
        for _ in 0..2 {
            let id = Some(format!("mine-{n}"));
            bench.engine.prompt(card.id, session_id, text.into(), id).await?;
        }
    }
    assert_eq!(texts(&queue(&bench, &card).await?), ["say two", "say three"], "each once");
    bench.until_message(|m| m.content == "two").await?;
    bench.until_message(|m| m.content == "three").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    assert!(queue(&bench, &card).await?.is_empty());
    let page = bench.page(&card).await?;
    let prompts: Vec<_> = page.messages.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(prompts, ["say one\nsleep 300", "one", "say two", "two", "say three", "three"]);
    let sent_again =
        bench.engine.prompt(card.id, session_id, "say two".into(), Some("mine-0".into())).await?;
    assert_eq!(sent_again, page.messages[2].id, "the same message");
    Ok(())
}

#[tokio::test]
async fn k_045_at_most_ten_wait_and_each_can_be_taken_back() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one\nhang").await?;
    bench.until_message(|m| m.content == "one").await?;
    for n in 0..MAX_QUEUED {
        bench.engine.prompt(card.id, session_id, format!("say {n}"), None).await?;
    }
    let refused = bench.engine.prompt(card.id, session_id, "say more".into(), None).await;
    assert_eq!(refused.err().map(|err| err.code), Some(ErrorCode::Conflict));
    let waiting = queue(&bench, &card).await?;
    let taken = bench.engine.unqueue(session_id, waiting[3].id).await?;
    assert_eq!(taken.content, "say 3");
    let again = bench.engine.unqueue(session_id, waiting[3].id).await;
    assert_eq!(again.err().map(|err| err.code), Some(ErrorCode::NotFound));
    assert_eq!(queue(&bench, &card).await?.len(), MAX_QUEUED - 1);
    Ok(())
}

#[tokio::test]
async fn k_045_behind_a_turn_that_was_stopped_they_wait_for_the_person() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one\nhang").await?;
    bench.until_message(|m| m.content == "one").await?;
    bench.engine.prompt(card.id, session_id, "say two".into(), None).await?;
    let id = queue(&bench, &card).await?[0].id;
    let early = bench.engine.send_queued(session_id, id).await;
    assert_eq!(early.err().map(|err| err.code), Some(ErrorCode::Conflict));
    bench.engine.cancel(session_id).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let session = bench.page(&card).await?.session.context("no session")?;
    assert_eq!(texts(&session.queue), ["say two"]);
    let outcome = session.turn.and_then(|turn| turn.outcome);
    assert_eq!(outcome, Some(TurnOutcome::Cancelled));
    bench.engine.send_queued(session_id, id).await?;
    bench.until_message(|m| m.content == "two").await?;
    assert!(queue(&bench, &card).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn k_045_what_waits_outlives_the_server() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one\nhang").await?;
    bench.until_message(|m| m.content == "one").await?;
    bench.engine.prompt(card.id, session_id, "say two".into(), None).await?;
    let copy = bench.dir.path().join("copy.redb");
    bench.engine.store().backup_to(&copy)?;
    bench.engine.shutdown().await;
    let killed = Engine::start(store::Store::open(&copy, &store::Options::default())?).await?;
    for engine in [&bench.engine, &killed] {
        let page = engine.boot(Route::Task(card.id)).await?.initial_state;
        assert_eq!(texts(&page.session.context("no session")?.queue), ["say two"]);
    }
    killed.shutdown().await;
    Ok(())
}
