//! A recorded conversation, taken through the same machine and store as a live one.
//!
//! Nothing is started and nothing is sent: what the agent said is played to the session's machine,
//! and what the machine then stores is read back. Changes are stored when the recorded time says
//! that a live session would have stored them. The end of a recording is the end of no turn.

use std::{collections::HashMap, io::BufRead, time::Duration};

use acp::{AgentEvent, Observed, Observer};
use model::{
    AgentIdentity, AgentKind, MessageView, ProfileId, Session, SessionId, SessionState, StepId,
    StoredMessage, Task, TaskId, TaskState, Timestamp, WholeMessage, WorkflowId,
};
use shell_output::Dialect;
use store::{Op, OpenError, Store, StoreError};
use tokio::task::JoinHandle;

use super::{
    format::{Line, What},
    pending::Pending,
};
use crate::{
    clock, history,
    session::{
        FLUSH_INTERVAL,
        machine::{Effect, Machine},
        transcript::Stamp,
    },
};

/// Operations that go to the store at once.
const PENDING_OPS: usize = 512;

/// Why a recording cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A line is no line of a recording.
    #[error("line {number}: {reason}")]
    Line {
        /// Counts from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The messages could not be kept.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The messages could not be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no place for the messages.
    #[error("there is no place for temporary files: {0}")]
    Temporary(std::io::Error),
}

/// What a recording comes to.
pub struct Replayed {
    store: Store,
    session_id: SessionId,
    /// Holds the store's file.
    _dir: tempfile::TempDir,
}

impl Replayed {
    /// The stored tool messages with their bodies, in order of creation.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn messages(&self) -> Result<Vec<WholeMessage>, StoreError> {
        self.store.read(|reader| {
            let tools = self.tool_messages(reader)?.into_iter();
            let whole = tools.map(|message| reader.whole_message(message.session_id, message.id));
            Ok(whole.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        })
    }

    /// The same as a browser gets them: without bodies.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn views(&self) -> Result<Vec<MessageView>, StoreError> {
        self.store.read(|reader| {
            Ok(self.tool_messages(reader)?.iter().map(StoredMessage::to_view).collect())
        })
    }

    fn tool_messages(&self, reader: &store::Reader) -> Result<Vec<StoredMessage>, StoreError> {
        let mut tools = Vec::new();
        for page in history::newest_first(reader, self.session_id) {
            tools.extend(page?.into_iter().filter(|message| message.metadata.status.is_some()));
        }
        tools.sort_by_key(|message| message.seq);
        Ok(tools)
    }
}

impl Drop for Replayed {
    fn drop(&mut self) {
        self.store.close();
    }
}

/// Replays a recording. `agent` decides the dialect until the recorded program names itself.
///
/// # Errors
///
/// The first line that is no line of a recording; or the messages cannot be kept.
pub async fn replay(mut input: impl BufRead, agent: AgentKind) -> Result<Replayed, ReplayError> {
    let mut replay = Replay::new(agent).await?;
    let mut bytes = Vec::new();
    for number in 1.. {
        let wrong = |reason: String| ReplayError::Line { number, reason };
        bytes.clear();
        if input.read_until(b'\n', &mut bytes).map_err(|err| wrong(err.to_string()))? == 0 {
            break;
        }
        if let Some(line) = Line::parse(&bytes).map_err(wrong)? {
            replay.take(line).await?;
        }
    }
    replay.keep_changes();
    replay.commit().await?;
    Ok(Replayed { store: replay.store, session_id: replay.session_id, _dir: replay.dir })
}

struct Replay {
    agent: AgentKind,
    observer: Observer,
    machine: Machine,
    /// The machine's tokens by the observer's.
    tokens: HashMap<u64, u64>,
    is_open: bool,
    last_flush: Duration,
    /// What a live session would have stored by now; it goes to the store in larger pieces.
    pending: Pending,
    /// The piece that the store is at.
    storing: Option<JoinHandle<Result<(), StoreError>>>,
    store: Store,
    session_id: SessionId,
    dir: tempfile::TempDir,
}

impl Replay {
    async fn new(agent: AgentKind) -> Result<Self, ReplayError> {
        let dir = tempfile::tempdir().map_err(ReplayError::Temporary)?;
        let store = Store::open(&dir.path().join("replay.redb"), &store::Options::default())?;
        let (task, session) = blank(agent);
        let session_id = session.id;
        store.commit_lazy(vec![Op::PutTask(task), Op::PutSession(session.clone())]).await?;
        Ok(Self {
            agent,
            observer: Observer::new(),
            machine: Machine::new(session, None, 0, Dialect::new(agent, &[])),
            tokens: HashMap::new(),
            is_open: false,
            last_flush: Duration::ZERO,
            pending: Pending::default(),
            storing: None,
            store,
            session_id,
            dir,
        })
    }

    async fn take(&mut self, line: Line) -> Result<(), ReplayError> {
        let seen = match line.what {
            What::In(frame) => self.observer.received(frame),
            What::Out(frame) => self.observer.sent(frame),
            What::Other => return Ok(()),
        };
        for observed in seen {
            let at = stamp(line.at);
            if let Observed::Event(event) = &observed {
                self.recall(at, event).await?;
            }
            self.play(at, observed);
            if self.machine.is_urgent() || line.at >= self.last_flush + FLUSH_INTERVAL {
                self.last_flush = line.at;
                self.keep_changes();
            }
        }
        if self.pending.len() >= PENDING_OPS {
            self.commit_behind().await?;
        }
        Ok(())
    }

    fn play(&mut self, at: Stamp, observed: Observed) {
        match observed {
            Observed::Initialized(initialized) => {
                let agent = agents::dialect_agent(&initialized.identity, self.agent);
                let departures = agents::departures(&initialized.identity);
                let dialect = Dialect::new(agent, &departures);
                self.machine.identified(at, initialized.identity, dialect);
            }
            Observed::Resuming { agent_session } => {
                if self.machine.earlier_session() != Some(&agent_session) {
                    self.machine.leave_earlier_session();
                }
            }
            Observed::Opened(opened) => self.open(at, opened.id),
            Observed::Prompted { token, text } => self.prompt(at, token, text),
            Observed::Cancelled => self.machine.cancel(at),
            // Who answers changes no tool message.
            Observed::Answered { .. } => {}
            Observed::Event(AgentEvent::PromptEnded { token, result }) => {
                if let Some(token) = self.tokens.remove(&token) {
                    self.machine.agent(at, AgentEvent::PromptEnded { token, result });
                }
            }
            Observed::Event(event) => self.machine.agent(at, event),
        }
    }

    fn open(&mut self, at: Stamp, agent_session: String) {
        self.is_open = true;
        if self.machine.earlier_session() == Some(&agent_session) {
            self.machine.resumed(at, agent_session);
        } else {
            self.machine.ready(at, agent_session);
        }
    }

    fn prompt(&mut self, at: Stamp, token: u64, text: String) {
        // A recording may begin in the middle.
        if !self.is_open {
            self.open(at, "recorded".into());
        }
        // A prompt that comes during another is none of a client like this one.
        if self.machine.prompt(at, text, None).is_err() {
            return;
        }
        let sent = self.machine.take_effects().into_iter().find_map(|effect| match effect {
            Effect::Prompt { token, .. } => Some(token),
            _ => None,
        });
        self.tokens.extend(sent.map(|sent| (token, sent)));
    }

    /// Hands in a call that the event is about and only the store still has.
    async fn recall(&mut self, at: Stamp, event: &AgentEvent) -> Result<(), StoreError> {
        let Some(recall) = self.machine.recall(event) else { return Ok(()) };
        let is_about = |op: &Op| match op {
            Op::PutMessage(row) => recall.is_about(row),
            // How its turn ended says why it was cancelled.
            Op::PutTurn(_) => true,
            _ => false,
        };
        if self.pending.any(is_about) {
            self.commit().await?;
        } else {
            self.stored().await?;
        }
        if let Some(row) = self.store.read(|reader| recall.read(reader))? {
            self.machine.recalled(at, row);
        }
        Ok(())
    }

    fn keep_changes(&mut self) {
        drop(self.machine.take_effects());
        self.pending.extend(self.machine.take_changes().to_ops());
    }

    /// Gives what waits to the store, and goes on while that works.
    async fn commit_behind(&mut self) -> Result<(), StoreError> {
        self.stored().await?;
        let (store, ops) = (self.store.clone(), self.pending.take());
        self.storing = Some(tokio::spawn(async move { store.commit_lazy(ops).await }));
        Ok(())
    }

    /// Waits until the store has everything.
    async fn commit(&mut self) -> Result<(), StoreError> {
        self.stored().await?;
        match self.pending.take() {
            ops if ops.is_empty() => Ok(()),
            ops => self.store.commit_lazy(ops).await,
        }
    }

    async fn stored(&mut self) -> Result<(), StoreError> {
        match self.storing.take() {
            Some(storing) => storing.await.unwrap_or(Err(StoreError::Closed)),
            None => Ok(()),
        }
    }
}

/// Times count from the start of the recording.
fn stamp(at: Duration) -> Stamp {
    let millis = i64::try_from(at.as_millis()).unwrap_or(i64::MAX);
    Stamp { now: Timestamp::from_millis(millis), new_id: clock::new_id }
}

/// The session that is played to, and the task it belongs to.
fn blank(agent: AgentKind) -> (Task, Session) {
    let now = Timestamp::from_millis(0);
    let session_id = SessionId::new(clock::new_id());
    let profile_id = ProfileId::new(clock::new_id());
    let task = Task {
        id: TaskId::new(clock::new_id()),
        workflow_id: WorkflowId::new(clock::new_id()),
        step_id: StepId::new(clock::new_id()),
        title: "Recording".into(),
        description: String::new(),
        state: TaskState::InProgress,
        folder: String::new(),
        profile_id,
        session_id: Some(session_id),
        created_at: now,
        updated_at: now,
    };
    let session = Session {
        id: session_id,
        task_id: task.id,
        profile_id,
        agent_name: "The agent".into(),
        agent,
        identity: AgentIdentity::default(),
        work_dir: String::new(),
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
