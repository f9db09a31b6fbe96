//! A machine and a store, without anything that runs.

mod history;
mod late;

use acp::{AgentEvent, StopReason};
use anyhow::{Context as _, Result};
use model::{
    AgentIdentity, AgentKind, MessageKind, ProfileId, Session, SessionId, SessionState, StepId,
    Task, TaskId, TaskState, Timestamp, ToolStatus, WholeMessage, WorkflowId,
};
use serde_json::{Value, json};
use shell_output::{Dialect, FrameOrigin, ToolFrame};
use store::{Op, Store};
use tempfile::TempDir;

use crate::{
    clock,
    session::{changes::Changes, machine::Machine, transcript::Stamp},
};

fn stamp() -> Stamp {
    Stamp { now: Timestamp::from_millis(1_000), new_id: clock::new_id }
}

/// A session whose agent runs, and which stores whatever changes.
struct Bench {
    machine: Machine,
    store: Store,
    _dir: TempDir,
}

impl Bench {
    async fn new(agent: AgentKind) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let store = Store::open(&dir.path().join("kandev.redb"), &store::Options::default())?;
        let (task, session) = records(agent);
        store.commit_lazy(vec![Op::PutTask(task), Op::PutSession(session.clone())]).await?;
        let machine = Machine::new(session, None, 0, Dialect::new(agent, &[]));
        let mut bench = Self { machine, store, _dir: dir };
        bench.prompt().await?;
        bench.machine.ready(stamp(), "agent-1".into());
        bench.keep().await?;
        Ok(bench)
    }

    /// Begins a turn.
    async fn prompt(&mut self) -> Result<()> {
        self.machine.prompt(stamp(), "do it".into(), None).ok().context("a turn is under way")?;
        self.keep().await?;
        Ok(())
    }

    /// The agent ends the turn.
    async fn end_turn(&mut self) -> Result<()> {
        for token in 1..10 {
            let result = Ok(StopReason::EndTurn);
            self.machine.agent(stamp(), AgentEvent::PromptEnded { token, result });
        }
        self.keep().await?;
        Ok(())
    }

    /// The agent ends, and another one takes its place in the same session or in a new one.
    async fn restart(&mut self, resumes: bool) -> Result<()> {
        self.machine.agent(stamp(), AgentEvent::Exited(acp::Exit::default()));
        self.keep().await?;
        self.prompt().await?;
        let dialect = Dialect::new(self.machine.session().agent, &[]);
        self.machine.identified(stamp(), AgentIdentity::default(), dialect);
        if resumes {
            self.machine.resumed(stamp(), "agent-1".into());
        } else {
            self.machine.ready(stamp(), "agent-2".into());
        }
        self.keep().await?;
        Ok(())
    }

    async fn call(&mut self, frame: &Value) -> Result<Changes> {
        self.frame(FrameOrigin::Call, frame).await
    }

    async fn update(&mut self, frame: &Value) -> Result<Changes> {
        self.frame(FrameOrigin::Update, frame).await
    }

    async fn history(&mut self, origin: FrameOrigin, frame: &Value) -> Result<Changes> {
        let frame = ToolFrame::parse(origin, frame).context("no frame")?;
        self.event(AgentEvent::History(frame)).await
    }

    async fn frame(&mut self, origin: FrameOrigin, frame: &Value) -> Result<Changes> {
        let frame = ToolFrame::parse(origin, frame).context("no frame")?;
        self.event(AgentEvent::Tool(frame)).await
    }

    /// Takes an event as the driver does; what changed is stored.
    async fn event(&mut self, event: AgentEvent) -> Result<Changes> {
        if let Some(recall) = self.machine.recall(&event)
            && let Some(row) = self.store.read(|reader| recall.read(reader))?
        {
            self.machine.recalled(stamp(), row);
        }
        self.machine.agent(stamp(), event);
        self.keep().await
    }

    async fn keep(&mut self) -> Result<Changes> {
        self.machine.take_effects();
        let changes = self.machine.take_changes();
        self.store.commit_lazy(changes.to_ops()).await?;
        Ok(changes)
    }

    /// A row as it is stored.
    fn row(&self, call_id: &str) -> Result<WholeMessage> {
        let session_id = self.machine.session().id;
        self.store
            .read(|reader| {
                let Some(row) = reader.message_by_tool_call(session_id, call_id)? else {
                    return Ok(None);
                };
                reader.whole_message(session_id, row.id)
            })?
            .context("no such row")
    }

    /// Status, exit code and first stream of a row.
    fn end_of(&self, call_id: &str) -> Result<(Option<ToolStatus>, Option<i64>, Option<String>)> {
        let row = self.row(call_id)?;
        let output = row.shell_exec().and_then(|exec| exec.output.clone()).unwrap_or_default();
        Ok((row.metadata.status, output.exit_code, output.stdout))
    }

    fn rows(&self) -> Result<usize> {
        let session_id = self.machine.session().id;
        let (messages, _) = self.store.read(|reader| reader.messages(session_id, None, 10_000))?;
        Ok(messages.iter().filter(|message| message.metadata.status.is_some()).count())
    }
}

/// A command that runs and has printed `one`.
fn running(id: &str) -> Value {
    json!({"toolCallId": id, "kind": "execute", "title": "make", "status": "in_progress",
        "rawInput": {"command": "make", "cwd": "/d"},
        "_meta": {"terminal_output_delta": {"data": "one\n"}}})
}

fn records(agent: AgentKind) -> (Task, Session) {
    let now = Timestamp::from_millis(0);
    let (task_id, session_id) = (TaskId::from_bytes([1; 16]), SessionId::from_bytes([2; 16]));
    let profile_id = ProfileId::from_bytes([3; 16]);
    let task = Task {
        id: task_id,
        workflow_id: WorkflowId::from_bytes([4; 16]),
        step_id: StepId::from_bytes([5; 16]),
        title: "Make".into(),
        description: String::new(),
        state: TaskState::InProgress,
        folder: "/d".into(),
        profile_id,
        session_id: Some(session_id),
        created_at: now,
        updated_at: now,
    };
    let session = Session {
        id: session_id,
        task_id,
        profile_id,
        agent_name: "Fake".into(),
        agent,
        identity: AgentIdentity::default(),
        work_dir: "/d".into(),
        state: SessionState::Created,
        agent_session_id: None,
        agent_session_seq: 0,
        queue: Vec::new(),
        error: None,
        created_at: now,
        updated_at: now,
    };
    (task, session)
}
