//! Reading: one snapshot, as it was when the read began.

use std::cmp::Reverse;

use model::{
    AgentProcess, AgentProfile, BodyExtent, BodyStream, MessageId, OutputRecord, ProfileId,
    Session, SessionId, ShellOutput, StoredMessage, Task, TaskId, Timestamp, ToolContent, Turn,
    TurnId, WholeMessage, Workflow, WorkflowId, Workspace,
};
use redb::{ReadOnlyTable, ReadTransaction};
use serde::de::DeserializeOwned;

use crate::{
    BrowserSession, StoreError,
    body::Body,
    key,
    table::{self, Definition, Readable, decode},
};

type Result<T> = std::result::Result<T, StoreError>;

/// A snapshot of the store. What is not there is `None` or an empty list.
pub struct Reader {
    txn: ReadTransaction,
}

impl Reader {
    pub(crate) const fn new(txn: ReadTransaction) -> Self {
        Self { txn }
    }

    pub(crate) const fn snapshot(&self) -> &ReadTransaction {
        &self.txn
    }

    pub(crate) fn open(
        &self,
        table: Definition,
    ) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>> {
        Ok(self.txn.open_table(table)?)
    }

    fn get<T: DeserializeOwned>(&self, table: Definition, key: &[u8]) -> Result<Option<T>> {
        self.open(table)?.record(key)
    }

    fn all<T: DeserializeOwned>(&self, table: Definition) -> Result<Vec<T>> {
        let table = self.open(table)?;
        let entries = table.range::<&[u8]>(..)?;
        entries.map(|entry| decode(entry?.1.value())).collect()
    }

    /// All workspaces.
    pub fn workspaces(&self) -> Result<Vec<Workspace>> {
        self.all(table::WORKSPACES)
    }

    /// A workflow.
    pub fn workflow(&self, id: WorkflowId) -> Result<Option<Workflow>> {
        self.get(table::WORKFLOWS, id.as_bytes())
    }

    /// All workflows.
    pub fn workflows(&self) -> Result<Vec<Workflow>> {
        self.all(table::WORKFLOWS)
    }

    /// All tasks, oldest first.
    pub fn tasks(&self) -> Result<Vec<Task>> {
        let mut tasks: Vec<Task> = self.all(table::TASKS)?;
        tasks.sort_by_key(|task| (task.created_at, task.id));
        Ok(tasks)
    }

    /// A task.
    pub fn task(&self, id: TaskId) -> Result<Option<Task>> {
        self.get(table::TASKS, id.as_bytes())
    }

    /// A session.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>> {
        self.get(table::SESSIONS, id.as_bytes())
    }

    /// The sessions of a task, oldest first.
    pub fn sessions_of(&self, task: TaskId) -> Result<Vec<Session>> {
        let ids = sessions_under(&self.open(table::TASK_SESSIONS)?, task)?;
        let table = self.open(table::SESSIONS)?;
        let sessions = ids.iter().filter_map(|id| table.record(id.as_bytes()).transpose());
        let mut sessions = sessions.collect::<Result<Vec<Session>>>()?;
        sessions.sort_by_key(|session| (session.created_at, session.id));
        Ok(sessions)
    }

    /// A turn.
    pub fn turn(&self, session: SessionId, id: TurnId) -> Result<Option<Turn>> {
        self.get(table::TURNS, &key::turn(session, id))
    }

    /// The newest turn of a session.
    pub fn last_turn(&self, session: SessionId) -> Result<Option<Turn>> {
        let keys = key::under(session.as_bytes());
        let table = self.open(table::TURNS)?;
        let mut newest: Option<Turn> = None;
        for entry in table.range::<&[u8]>(&**keys.start()..=&**keys.end())? {
            let turn: Turn = decode(entry?.1.value())?;
            // By time, not by id: ids follow the clock too, but not within one millisecond.
            if newest.as_ref().is_none_or(|newest| newest.started_at <= turn.started_at) {
                newest = Some(turn);
            }
        }
        Ok(newest)
    }

    /// A page of a session's messages, oldest first, and whether there are older ones: the last
    /// `limit` with a sequence number below `before`, of all without it. Reads no body (S-034).
    pub fn messages(
        &self,
        session: SessionId,
        before: Option<u64>,
        limit: usize,
    ) -> Result<(Vec<StoredMessage>, bool)> {
        let keys = key::records(session, before);
        let table = self.open(table::MESSAGES)?;
        let mut entries = table.range::<&[u8]>(&*keys.start..&*keys.end)?.rev();
        let newest_first = entries.by_ref().take(limit).map(|entry| decode(entry?.1.value()));
        let mut messages = newest_first.collect::<Result<Vec<StoredMessage>>>()?;
        messages.reverse();
        Ok((messages, entries.next().transpose()?.is_some()))
    }

    /// A message.
    pub fn message(&self, session: SessionId, id: MessageId) -> Result<Option<StoredMessage>> {
        self.indexed(session, &key::message_id(session, id), |message| message.id == id)
    }

    /// The prompt that its sender named so.
    pub fn message_by_client_id(
        &self,
        session: SessionId,
        id: &str,
    ) -> Result<Option<StoredMessage>> {
        self.indexed(session, &key::client_id(session, id), |message| {
            message.metadata.client_message_id.as_deref() == Some(id)
        })
    }

    /// The newest row of a tool call; a request for leave is none.
    pub fn message_by_tool_call(
        &self,
        session: SessionId,
        id: &str,
    ) -> Result<Option<StoredMessage>> {
        self.indexed(session, &key::tool_call(session, id), |message| {
            message.metadata.tool_call_id.as_deref() == Some(id)
        })
    }

    fn indexed(
        &self,
        session: SessionId,
        index: &[u8],
        is_meant: impl FnOnce(&StoredMessage) -> bool,
    ) -> Result<Option<StoredMessage>> {
        let table = self.open(table::MESSAGES)?;
        let Some(seq) = table.seq(index)? else { return Ok(None) };
        Ok(table.record(&key::record(session, seq))?.filter(is_meant))
    }

    /// The sequence number of a session's newest message; 0 without any.
    pub fn last_seq(&self, session: SessionId) -> Result<u64> {
        let keys = key::records(session, None);
        let table = self.open(table::MESSAGES)?;
        let newest = table.range::<&[u8]>(&*keys.start..&*keys.end)?.next_back().transpose()?;
        Ok(newest.and_then(|(key, _)| key::seq(key.value())).unwrap_or(0))
    }

    /// The message that is being written to a session's agent; empty when there is none.
    pub fn draft(&self, session: SessionId) -> Result<String> {
        Ok(self.get(table::MESSAGES, &key::draft(session))?.unwrap_or_default())
    }

    /// What a tool call has to be opened.
    pub fn content(&self, session: SessionId, seq: u64) -> Result<Option<ToolContent>> {
        self.get(table::MESSAGES, &key::content(session, seq))
    }

    /// A stream of a message's output, as far as `extent` (of its record) says.
    pub fn body(
        &self,
        session: SessionId,
        seq: u64,
        stream: BodyStream,
        extent: BodyExtent,
    ) -> Result<String> {
        Body { session, seq, stream }.text(&self.open(table::MESSAGES)?, extent)
    }

    /// A message with its bodies at their path (S-030).
    pub fn whole_message(&self, session: SessionId, id: MessageId) -> Result<Option<WholeMessage>> {
        let Some(message) = self.message(session, id)? else { return Ok(None) };
        let record = message.shell_exec().and_then(|exec| exec.output.as_ref());
        let output = record.map(|record| self.output(session, message.seq, record)).transpose()?;
        Ok(Some(message.map_output(|_| output)))
    }

    fn output(&self, session: SessionId, seq: u64, record: &OutputRecord) -> Result<ShellOutput> {
        let body = |stream| {
            let extent = record.extent(stream);
            extent.map(|extent| self.body(session, seq, stream, extent)).transpose()
        };
        Ok(ShellOutput {
            exit_code: record.exit_code,
            signal: record.signal.clone(),
            stdout: body(BodyStream::Stdout)?,
            stderr: body(BodyStream::Stderr)?,
            truncated: Some(record.truncated),
        })
    }

    /// All profiles.
    pub fn profiles(&self) -> Result<Vec<AgentProfile>> {
        self.all(table::PROFILES)
    }

    /// A profile.
    pub fn profile(&self, id: ProfileId) -> Result<Option<AgentProfile>> {
        self.get(table::PROFILES, id.as_bytes())
    }

    /// Folders that were used, newest first; twenty at most.
    pub fn folders(&self) -> Result<Vec<String>> {
        folders_by_age(&self.open(table::FOLDERS)?)
    }

    /// Turns without an end: what a crash interrupted, at a start.
    pub fn open_turns(&self) -> Result<Vec<(SessionId, TurnId)>> {
        let table = self.open(table::OPEN_TURNS)?;
        let entries = table.range::<&[u8]>(..)?;
        entries
            .map(|entry| {
                let (session, turn) = id_pair(entry?.0.value())?;
                Ok((SessionId::from_bytes(session), TurnId::from_bytes(turn)))
            })
            .collect()
    }

    /// Agents that ran: what a crash left, at a start.
    pub fn processes(&self) -> Result<Vec<AgentProcess>> {
        self.all(table::PROCESSES)
    }

    /// All signed-in browsers.
    pub fn browser_sessions(&self) -> Result<Vec<BrowserSession>> {
        self.all(table::BROWSER_SESSIONS)
    }

    /// A signed-in browser, by its public id.
    pub fn browser_session(&self, id: &str) -> Result<Option<BrowserSession>> {
        self.get(table::BROWSER_SESSIONS, id.as_bytes())
    }
}

fn id_pair(key: &[u8]) -> Result<([u8; 16], [u8; 16])> {
    key::id_pair(key).ok_or_else(|| StoreError::Damaged("a key is cut".into()))
}

/// The ids of a task's sessions.
pub(crate) fn sessions_under(table: &impl Readable, task: TaskId) -> Result<Vec<SessionId>> {
    let keys = key::under(task.as_bytes());
    let entries = table.range::<&[u8]>(&**keys.start()..=&**keys.end())?;
    entries.map(|entry| Ok(SessionId::from_bytes(id_pair(entry?.0.value())?.1))).collect()
}

/// The remembered folders, newest first.
pub(crate) fn folders_by_age(table: &impl Readable) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for entry in table.range::<&[u8]>(..)? {
        let (path, at) = entry?;
        let path = String::from_utf8_lossy(path.value()).into_owned();
        folders.push((Reverse(decode::<Timestamp>(at.value())?), path));
    }
    folders.sort();
    Ok(folders.into_iter().map(|(_, path)| path).collect())
}
