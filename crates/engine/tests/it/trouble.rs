//! A disk that refuses, callers that go away, what an earlier run left in the way.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use engine::{Engine, Route};
use model::{
    ErrorCode, SessionState, Timestamp, Turn, TurnId, TurnOutcome,
    wire::{NewTask, Notification},
};
use store::{Op, Store};

use crate::support::{Bench, fake_agent};

/// How long the disk refuses: longer than the store waits before it makes output durable.
const OUTAGE: Duration = Duration::from_secs(3);

/// A disk in memory that can refuse to write.
#[derive(Debug, Clone, Default)]
struct Disk {
    bytes: Arc<Mutex<Vec<u8>>>,
    refuses: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
}

impl Disk {
    fn bytes(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> io::Result<()> {
        if !self.refuses.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.refused.fetch_add(1, Ordering::SeqCst);
        Err(io::ErrorKind::StorageFull.into())
    }
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = self.bytes();
        let wanted = bytes.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(wanted);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.check()?;
        self.bytes().resize(usize::try_from(len).map_err(io::Error::other)?, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.check()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.check()?;
        let at = usize::try_from(offset).map_err(io::Error::other)?;
        self.bytes()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }
}

#[tokio::test]
async fn q_006_a_disk_that_refuses_for_a_while_leaves_nothing_wrong_and_no_turn_open() -> Result<()>
{
    let disk = Disk::default();
    let store = Store::open_backend(disk.clone(), &store::Options::default())?;
    let mut bench = Bench::on(store).await?;
    let prompt = "start make\nout AAAA\nsleep 300\nout BBBB\nsleep 300\nout CCCC\nexit 0\nsay done";
    let (card, session_id) = bench.task(prompt).await?;
    let row =
        bench.until_message(|m| m.shell_exec().is_some_and(|exec| exec.output.has_output)).await?;
    disk.refuses.store(true, Ordering::SeqCst);
    tokio::time::sleep(OUTAGE).await;
    disk.refuses.store(false, Ordering::SeqCst);
    assert!(disk.refused.load(Ordering::SeqCst) > 0);
    bench
        .until(|told| match told {
            Notification::TurnCompleted { session, .. } => Some(session.state),
            _ => None,
        })
        .await?;

    let page = bench.page(&card).await?;
    let turn = page.session.and_then(|session| session.turn).context("no turn")?;
    let output = bench.engine.shell_output(session_id, row.id).await?.output;
    let stdout = output.stdout.context("no output")?;
    // The turn may have ended before the refusal reached it; then nothing may be missing.
    let expected = match turn.outcome {
        Some(TurnOutcome::Completed) => "AAAABBBBCCCC",
        Some(TurnOutcome::Failed) => "AAAABBBBCCCC".get(..stdout.len()).unwrap_or("cut"),
        outcome => anyhow::bail!("{outcome:?}"),
    };
    assert_eq!(stdout, expected);
    assert_eq!(bench.engine.store().read(store::Reader::open_turns)?, []);

    bench.engine.prompt(card.id, session_id, "say well again".into(), None).await?;
    bench.until_message(|m| m.content == "well again").await?;
    Ok(())
}

#[tokio::test]
async fn q_007_two_open_turns_of_one_session_do_not_keep_the_server_from_starting() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say x").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    bench.engine.shutdown().await;
    let open = |n| Op::PutTurn(open_turn(session_id, n));
    bench.engine.store().commit(vec![open(0xfe), open(0xff)]).await?;
    let copy = bench.dir.path().join("copy.redb");
    bench.engine.store().backup_to(&copy)?;

    let engine = Engine::start(Store::open(&copy, &store::Options::default())?).await?;
    assert_eq!(engine.store().read(store::Reader::open_turns)?, []);
    let messages = engine.boot(Route::Task(card.id)).await?.initial_state.messages;
    assert_eq!(messages.iter().filter(|m| m.content.starts_with("Kandev stopped")).count(), 2);
    Ok(())
}

#[tokio::test]
async fn a_turn_that_nobody_works_on_any_more_is_settled_before_the_next_prompt() -> Result<()> {
    let mut bench = Bench::new().await?;
    let new = NewTask { start: false, ..bench.new_task("say x", &fake_agent()?) };
    let card = bench.engine.create_task(new).await?;
    let session_id = card.session.context("no session")?.id;
    let turn = open_turn(session_id, 1);
    bench.engine.store().commit(vec![Op::PutTurn(turn.clone())]).await?;
    bench.engine.prompt(card.id, session_id, "say y".into(), None).await?;
    bench.until_message(|m| m.content == "y").await?;
    let settled = bench.engine.store().read(|reader| reader.turn(session_id, turn.id))?;
    assert_eq!(settled.and_then(|turn| turn.outcome), Some(TurnOutcome::Interrupted));
    Ok(())
}

fn open_turn(session_id: model::SessionId, n: u8) -> Turn {
    Turn {
        id: TurnId::from_bytes([n; 16]),
        session_id,
        started_at: Timestamp::from_millis(1),
        ended_at: None,
        outcome: None,
    }
}

#[tokio::test]
async fn a_delete_goes_on_when_the_one_who_asked_is_gone() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, _) = bench.task("start make\nhang").await?;
    bench.until_message(|m| m.shell_exec().is_some()).await?;
    let asked = bench.engine.delete_task(card.id);
    // It is begun, and dropped before it can be done.
    let _ = tokio::time::timeout(Duration::from_millis(1), asked).await;
    bench.until(|told| matches!(told, Notification::TaskDeleted { .. }).then_some(())).await?;
    assert!(bench.page(&card).await.is_err());
    Ok(())
}

#[tokio::test]
async fn p_013_an_agent_of_this_run_is_not_taken_for_one_that_was_left() -> Result<()> {
    let mut bench = Bench::new().await?;
    let stubborn = format!("{} --ignore-eof --ignore-term", fake_agent()?);
    let card = bench.engine.create_task(bench.new_task("start make\nhang", &stubborn)).await?;
    let session_id = card.session.as_ref().context("no session")?.id;
    bench.until_message(|m| m.shell_exec().is_some()).await?;
    let copy = bench.dir.path().join("copy.redb");
    bench.engine.store().backup_to(&copy)?;

    let mut later = Bench::on(Store::open(&copy, &store::Options::default())?).await?;
    later.engine.prompt(card.id, session_id, "say new\nsleep 3000\nsay end".into(), None).await?;
    later.until_message(|m| m.content.contains("end")).await?;
    later.until_state(SessionState::WaitingForInput).await?;
    later.engine.shutdown().await;
    bench.engine.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_prompt_that_is_too_long_makes_no_task() -> Result<()> {
    let bench = Bench::new().await?;
    let new = bench.new_task(&"x".repeat(600 * 1024), &fake_agent()?);
    let err = bench.engine.create_task(new).await.unwrap_err();
    assert_eq!((err.code, err.field.as_deref()), (ErrorCode::ValidationError, Some("prompt")));
    assert_eq!(bench.engine.board_snapshot(None).await?.board.context("no board")?.tasks, []);
    Ok(())
}
