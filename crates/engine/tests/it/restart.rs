//! An agent that is started again, and what it remembers.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use model::{MessageKind, MessageView, SessionId, SessionState, TaskCard, ToolStatus};
use serde_json::json;

use crate::support::{Bench, fake_agent};

const FORGOTTEN: &str = "does not remember";

/// A task whose agent has lost the begin of a command's output, and its life.
struct Crashed {
    bench: Bench,
    card: TaskCard,
    session_id: SessionId,
    history: PathBuf,
}

impl Crashed {
    /// The agent is given these flags; `HISTORY` in them stands for a file.
    async fn new(flags: &str) -> Result<Self> {
        let bench = Bench::new().await?;
        let history = bench.dir.path().join("history.jsonl");
        let flags = flags.replace("HISTORY", &format!("'{}'", history.display()));
        let command = format!("{} --dialect codex {flags}", fake_agent()?);
        let lossy = json!({"sessionUpdate": "tool_call", "toolCallId": "x1", "kind": "execute",
            "title": "make", "status": "in_progress", "rawInput": {"command": "make"},
            "_meta": {"terminal_output": {"data": "two\n"}}});
        let prompt = format!("update {lossy}\nsay Working\ncrash");
        let card = bench.engine.create_task(bench.new_task(&prompt, &command)).await?;
        let session_id = card.session.as_ref().context("no session")?.id;
        let mut crashed = Self { bench, card, session_id, history };
        crashed.bench.until_state(SessionState::Failed).await?;
        Ok(crashed)
    }

    /// What the agent repeats when it loads the session.
    fn remember(&self) -> Result<()> {
        let chunk = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        let lines = [
            chunk("user_message_chunk", "the prompt"),
            json!({"sessionUpdate": "tool_call", "toolCallId": "x1", "kind": "execute",
                "title": "make", "status": "failed", "rawInput": {"command": "make"}}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "x1",
                "_meta": {"terminal_output": {"data": "one\ntwo\n"},
                    "terminal_exit": {"exit_code": 4}}}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "x2", "kind": "execute",
                "title": "never seen", "status": "completed"}),
            chunk("agent_thought_chunk", "a thought"),
            chunk("agent_message_chunk", "Working"),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Ok(std::fs::write(&self.history, text)?)
    }

    async fn prompt(&mut self, content: &str) -> Result<()> {
        self.bench.engine.prompt(self.card.id, self.session_id, content.into(), None).await?;
        Ok(())
    }

    async fn messages(&self) -> Result<Vec<MessageView>> {
        Ok(self.bench.page(&self.card).await?.messages)
    }
}

fn is_forgotten(messages: &[MessageView]) -> bool {
    messages.iter().any(|m| m.kind == MessageKind::Status && m.content.contains(FORGOTTEN))
}

#[tokio::test]
async fn s_026_a_session_that_is_loaded_is_shown_once_and_lost_output_is_there_again() -> Result<()>
{
    let mut crashed = Crashed::new("--load HISTORY").await?;
    crashed.remember()?;
    let before = crashed.messages().await?;
    let row = before.iter().find(|m| m.shell_exec().is_some()).context("no row")?;
    assert_eq!(row.metadata.status, Some(ToolStatus::Cancelled));
    let more = json!({"sessionUpdate": "tool_call_update", "toolCallId": "x1",
        "_meta": {"terminal_output": {"data": "three\n"}}});
    crashed.prompt(&format!("say again\nupdate {more}")).await?;
    let is_whole =
        |m: &MessageView| m.shell_exec().is_some_and(|exec| exec.output.stdout_bytes == 14);
    let told = crashed.bench.until_over_with(is_whole).await?;
    assert_eq!((told.id, told.metadata.status), (row.id, Some(ToolStatus::Error)));

    let snapshot = crashed.bench.engine.shell_output(crashed.session_id, row.id).await?;
    assert_eq!(snapshot.output.exit_code, Some(4));
    assert_eq!(snapshot.output.stdout.as_deref(), Some("one\ntwo\nthree\n"));
    let after = crashed.messages().await?;
    let ids = |messages: &[MessageView]| messages.iter().map(|m| m.id).collect::<Vec<_>>();
    assert_eq!(ids(&after[..before.len()]), ids(&before));
    let new: Vec<_> = after[before.len()..].iter().map(|m| (m.kind, m.content.clone())).collect();
    let [(MessageKind::Message, _), (MessageKind::Message, said)] = &new[..] else {
        anyhow::bail!("{new:?}")
    };
    assert_eq!(said, "again");
    Ok(())
}

#[tokio::test]
async fn s_026_a_session_is_resumed_where_it_cannot_be_loaded() -> Result<()> {
    let mut crashed = Crashed::new("--resume").await?;
    crashed.prompt("say again").await?;
    crashed.bench.until_message(|m| m.content == "again").await?;
    assert!(!is_forgotten(&crashed.messages().await?));
    Ok(())
}

#[tokio::test]
async fn s_026_without_either_or_when_it_fails_a_new_session_says_that_it_has_forgotten()
-> Result<()> {
    // There is no history that it could load.
    for flags in ["", "--load HISTORY", "--resume --fail session/resume"] {
        let mut crashed = Crashed::new(flags).await?;
        crashed.prompt("say again").await?;
        crashed.bench.until_message(|m| m.content == "again").await?;
        assert!(is_forgotten(&crashed.messages().await?), "{flags:?}");
    }
    Ok(())
}

#[tokio::test]
async fn d_014_an_agent_that_ends_over_its_earlier_session_begins_another_at_the_next_prompt()
-> Result<()> {
    let mut crashed = Crashed::new("--load HISTORY --die session/load").await?;
    crashed.prompt("say again").await?;
    crashed.bench.until_state(SessionState::Failed).await?;
    crashed.prompt("say again").await?;
    crashed.bench.until_message(|m| m.content == "again").await?;
    assert!(is_forgotten(&crashed.messages().await?));
    Ok(())
}

#[tokio::test]
async fn an_agent_that_goes_on_with_a_session_is_put_into_the_mode_in_which_it_asks() -> Result<()>
{
    for flags in ["--load HISTORY", "--resume"] {
        let name = "--name @agentclientprotocol/claude-agent-acp";
        let mut crashed = Crashed::new(&format!("{flags} {name}")).await?;
        crashed.remember()?;
        crashed.prompt("mode").await?;
        crashed.bench.until_message(|m| m.content == "Mode: default\n").await?;
        assert!(!is_forgotten(&crashed.messages().await?));
    }
    Ok(())
}
