//! Recordings that the engine writes itself: no secret is in them, and they replay to what was
//! stored.

use std::{fs, os::unix::fs::PermissionsExt as _};

use anyhow::{Context as _, Result, ensure};
use engine::{
    Engine, Options,
    recording::{Recorder, replay},
};
use model::{AgentKind, ToolStatus, wire::NewTaskAgent};
use store::Store;

use crate::support::{Bench, fake_agent};

const SECRET: &str = "plain-words-that-nobody-guesses";

#[tokio::test]
async fn a_recording_has_no_secret_and_replays_to_what_was_stored() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let store = Store::open(&dir.path().join("kandev.redb"), &store::Options::default())?;
    let records = dir.path().join("records");
    let recorder = Recorder::new(&records)?;
    let mut bench = Bench::with(
        Engine::start_with(store, Options { recorder: Some(recorder), ..Options::default() })
            .await?,
    )?;
    let prompt = format!("run echo {SECRET} sk-0123456789abcdef => 4 | key {SECRET}\\n");
    let mut task = bench.new_task(&prompt, &fake_agent()?);
    let NewTaskAgent::Custom(command) = &mut task.agent else { unreachable!("it is custom") };
    command.env = format!("ACME_TOKEN={SECRET}");
    let card = bench.engine.create_task(task).await?;
    let session_id = card.session.context("a session")?.id;
    let row = bench.until_tool(ToolStatus::Error).await?;
    let stored = bench.engine.shell_output(session_id, row.id).await?.output;
    bench.engine.shutdown().await;

    let path = records.join(format!("{session_id}.jsonl"));
    assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path)?;
    ensure!(!text.contains(SECRET) && !text.contains("sk-0123456789abcdef"), "{text}");
    let messages = replay(text.as_bytes(), AgentKind::Generic).await?.messages()?;
    let [message] = &messages[..] else { panic!("{messages:?}") };
    let exec = message.shell_exec().context("a shell row")?;
    assert_eq!(exec.command, "echo [redacted] [redacted]");
    let output = exec.output.clone().context("an output")?;
    assert_eq!(output.exit_code, Some(4));
    let expected = stored.stdout.context("a text")?.replace(SECRET, "[redacted]");
    assert_eq!(output.stdout, Some(expected));
    Ok(())
}

#[tokio::test]
async fn a_place_that_is_no_directory_cannot_be_recorded_into() -> Result<()> {
    let file = tempfile::NamedTempFile::new()?;
    ensure!(Recorder::new(file.path()).is_err());
    Ok(())
}
