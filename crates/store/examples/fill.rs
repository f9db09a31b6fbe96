//! Fills a data directory that a server has made, for `cargo xtask bench page`: `fill DIR AGENT ARGS`.
//!
//! The server must not run. `AGENT ARGS` is how the agent of the new tasks is started.

use std::{env, path::Path};

use anyhow::{Context as _, Result};
use model::{
    AgentProfile, BodyChange, BodyExtent, BodyStream, MessageId, OutputRecord, ProfileId, Session,
    SessionId, StoredMessage, Task, TaskId, Workflow, shell::STREAM_LIMIT_BYTES,
};
use serde_json::{Value, json};
use store::{Op, Options, Store};

/// Messages that go into the store at once.
const BATCH: u64 = 64;
/// Some moment: nothing of what is measured depends on it.
const BEGAN: &str = "2026-07-16T12:00:00Z";

/// What a message's command has written.
#[derive(Clone, Copy)]
enum Output {
    Nothing,
    /// All that is kept of both streams.
    BothStreams,
    /// All that is kept of one, in lines as programs write them.
    Lines,
    /// The same without a line break.
    OneLine,
}

/// A task that is measured; `end2end/bench` finds it by its title.
struct Scene {
    title: &'static str,
    messages: u64,
    /// What the messages have written; the last ones may have something else.
    output: Output,
    last: &'static [Output],
}

const SCENES: [Scene; 5] = [
    Scene { title: "Bench: empty", messages: 1_000, output: Output::Nothing, last: &[] },
    Scene { title: "Bench: full", messages: 1_000, output: Output::BothStreams, last: &[] },
    Scene { title: "Bench: long", messages: 100_000, output: Output::Nothing, last: &[] },
    Scene {
        title: "Bench: bodies",
        messages: 1_000,
        output: Output::Nothing,
        last: &[Output::Lines, Output::OneLine],
    },
    Scene { title: "Bench: stream", messages: 1_000, output: Output::Nothing, last: &[] },
];

impl Scene {
    fn output(&self, seq: u64) -> Output {
        let n_before_last = self.messages - self.last.len() as u64;
        let at = seq.checked_sub(n_before_last + 1).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.last.get(at)).copied().unwrap_or(self.output)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut args = env::args().skip(1);
    let dir = args.next().context("usage: fill DIR AGENT ARGS")?;
    let program = args.next().context("usage: fill DIR AGENT ARGS")?;
    let store = Store::open(&Path::new(&dir).join("kandev.redb"), &Options::default())?;
    let workflows = store.read(store::Reader::workflows)?;
    let workflow = workflows.first().context("no server has made this data directory")?;
    let profile = profile(&program, &args.collect::<Vec<_>>())?;
    store.commit(vec![Op::PutProfile(profile.clone())]).await?;
    for (number, scene) in (1..).zip(&SCENES) {
        fill(&store, scene, number, workflow, &profile, &dir).await?;
    }
    store.close();
    Ok(())
}

// Records are written as JSON, as an older version could have left them: what they have gained
// since then has a default.

fn profile(program: &str, args: &[String]) -> Result<AgentProfile> {
    // Codex's frames have only what is new: with others, a flood would measure the pipe.
    record(json!({
        "id": ProfileId::from_bytes([u8::MAX; 16]), "name": "Scripted", "agent": "codex",
        "command": {"program": program, "args": args},
    }))
}

async fn fill(
    store: &Store,
    scene: &Scene,
    number: u8,
    workflow: &Workflow,
    profile: &AgentProfile,
    folder: &str,
) -> Result<()> {
    let session_id = SessionId::from_bytes([number; 16]);
    let task: Task = record(json!({
        "id": TaskId::from_bytes([number; 16]), "workflow_id": workflow.id,
        "step_id": workflow.steps.first().context("a workflow has steps")?.id,
        "title": scene.title, "state": "REVIEW", "folder": folder, "profile_id": profile.id,
        "session_id": session_id, "created_at": BEGAN, "updated_at": BEGAN,
    }))?;
    let session: Session = record(json!({
        "id": session_id, "task_id": task.id, "profile_id": profile.id,
        "agent_name": profile.name, "agent": profile.agent, "work_dir": folder,
        "state": "WAITING_FOR_INPUT", "created_at": BEGAN, "updated_at": BEGAN,
    }))?;
    store.commit(vec![Op::PutTask(task), Op::PutSession(session)]).await?;
    for begin in (1..=scene.messages).step_by(BATCH as usize) {
        let mut ops = Vec::new();
        for seq in begin..=scene.messages.min(begin + BATCH - 1) {
            ops.extend(message(session_id, seq, scene.output(seq))?);
        }
        store.commit_lazy(ops).await?;
    }
    Ok(())
}

/// A command that has ended, and what it wrote.
fn message(session_id: SessionId, seq: u64, output: Output) -> Result<Vec<Op>> {
    let bodies = match output {
        Output::Nothing => vec![],
        Output::BothStreams => {
            vec![(BodyStream::Stdout, lines(seq)), (BodyStream::Stderr, lines(seq + 1))]
        }
        Output::Lines => vec![(BodyStream::Stdout, lines(seq))],
        Output::OneLine => vec![(BodyStream::Stdout, lines(seq).replace('\n', " "))],
    };
    let mut output = OutputRecord { exit_code: Some(0), ..OutputRecord::default() };
    let mut ops = Vec::new();
    for (stream, text) in bodies {
        let extent = BodyExtent { start: 0, end: text.len() as u64 };
        *output.extent_mut(stream) = Some(extent);
        let change = BodyChange::Replace { text };
        ops.push(Op::ChangeBody { session_id, seq, stream, change, extent });
    }
    ops.push(Op::PutMessage(command(session_id, seq, &output)?));
    Ok(ops)
}

fn command(session_id: SessionId, seq: u64, output: &OutputRecord) -> Result<StoredMessage> {
    let command = format!("cargo nextest run --package merger --run-number {seq}");
    let mut id = *session_id.as_bytes();
    id[8..].copy_from_slice(&seq.to_be_bytes());
    record(json!({
        "id": MessageId::from_bytes(id), "session_id": session_id, "seq": seq,
        "type": "tool_execute", "author": "agent", "content": command,
        "metadata": {"tool_call_id": format!("call-{seq}"), "status": "complete", "normalized": {
            "kind": "shell_exec", "shell_exec": {"command": command, "output": output}}},
        "created_at": BEGAN, "updated_at": BEGAN,
    }))
}

fn record<T: serde::de::DeserializeOwned>(json: Value) -> Result<T> {
    serde_json::from_value(json).context("a record cannot be read")
}

/// As much as is kept of a stream, in lines of 80 bytes.
fn lines(salt: u64) -> String {
    let line = |n: u64| {
        format!("{n:06} {:>64} {:>7}\n", "merger::segment never_waits_for_merge ... ok", n ^ salt)
    };
    let mut text: String = (0..).map(line).take(STREAM_LIMIT_BYTES / 80 + 1).collect();
    text.truncate(STREAM_LIMIT_BYTES);
    text
}
