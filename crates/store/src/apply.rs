//! Operations, applied inside a write transaction.

use std::collections::{HashMap, hash_map::Entry};

use model::{Session, SessionId, StoredMessage, TaskId, Timestamp, Turn};
use redb::{ReadableTable, ReadableTableMetadata, Table, TableHandle, WriteTransaction};
use serde::Serialize;

use crate::{
    Op, StoreError,
    body::Body,
    key,
    reader::{folders_by_age, sessions_under},
    table::{self, Definition, Readable},
};

/// Folders that are remembered.
const FOLDER_LIMIT: u64 = 20;

type Result<T = ()> = std::result::Result<T, StoreError>;

/// What a write transaction changes. Drop it before the transaction is committed.
pub(crate) struct Change<'txn> {
    txn: &'txn WriteTransaction,
    /// Opening a table costs as much as a record does, so each is opened once.
    tables: HashMap<String, TableMut<'txn>>,
    /// A session that is known to be there: what follows is most likely of the same one.
    session: Option<SessionId>,
}

type TableMut<'txn> = Table<'txn, &'static [u8], &'static [u8]>;

impl<'txn> Change<'txn> {
    pub(crate) fn new(txn: &'txn WriteTransaction) -> Self {
        Self { txn, tables: HashMap::new(), session: None }
    }

    /// Applies operations in order. After an error the transaction must be dropped.
    pub(crate) fn apply(&mut self, ops: &[Op]) -> Result {
        ops.iter().try_for_each(|op| self.apply_one(op))
    }

    fn apply_one(&mut self, op: &Op) -> Result {
        match op {
            Op::PutWorkspace(it) => self.put(table::WORKSPACES, it.id.as_bytes(), it),
            Op::PutWorkflow(it) => self.put(table::WORKFLOWS, it.id.as_bytes(), it),
            Op::PutTask(it) => self.put(table::TASKS, it.id.as_bytes(), it),
            Op::DeleteTask(id) => self.delete_task(*id),
            Op::PutSession(it) => self.put_session(it),
            Op::PutTurn(it) => self.put_turn(it),
            Op::PutMessage(it) => self.put_message(it),
            Op::ChangeBody { session_id, seq, stream, change, extent } => {
                self.owned_by_session("output", *session_id)?;
                let body = Body { session: *session_id, seq: *seq, stream: *stream };
                body.change(self.open(table::MESSAGES)?, change, *extent)
            }
            Op::PutContent { session_id, seq, content } => {
                self.owned_by_session("content", *session_id)?;
                self.put(table::MESSAGES, &key::content(*session_id, *seq), &**content)
            }
            Op::PutDraft { session_id, text } => self.put_draft(*session_id, text),
            Op::PutProfile(it) => self.put(table::PROFILES, it.id.as_bytes(), it),
            Op::DeleteProfile(id) => self.delete(table::PROFILES, id.as_bytes()),
            Op::RememberFolder { path, at } => self.remember_folder(path, *at),
            Op::PutProcess(it) => {
                self.owned_by_session("process", it.session_id)?;
                self.put(table::PROCESSES, &key::process(it.session_id, it.pid), it)
            }
            Op::DeleteProcess { session_id, pid } => {
                self.delete(table::PROCESSES, &key::process(*session_id, *pid))
            }
            Op::PutBrowserSession(it) => self.put(table::BROWSER_SESSIONS, it.id.as_bytes(), it),
            Op::DeleteBrowserSession(id) => self.delete(table::BROWSER_SESSIONS, id.as_bytes()),
        }
    }

    fn open(&mut self, table: Definition) -> Result<&mut TableMut<'txn>> {
        match self.tables.entry(table.name().to_owned()) {
            Entry::Occupied(opened) => Ok(opened.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(self.txn.open_table(table)?)),
        }
    }

    fn put(&mut self, table: Definition, key: &[u8], record: &impl Serialize) -> Result {
        self.open(table)?.insert(key, &*table::encode(record)?)?;
        Ok(())
    }

    fn mark(&mut self, table: Definition, key: &[u8]) -> Result {
        self.open(table)?.insert(key, [].as_slice())?;
        Ok(())
    }

    fn delete(&mut self, table: Definition, key: &[u8]) -> Result {
        self.open(table)?.remove(key)?;
        Ok(())
    }

    fn delete_under(&mut self, table: Definition, id: &[u8; 16]) -> Result {
        let keys = key::under(id);
        self.open(table)?.retain_in::<&[u8], _>(&**keys.start()..=&**keys.end(), |_, _| false)?;
        Ok(())
    }

    fn owned(
        &mut self,
        child: &'static str,
        parent: &'static str,
        table: Definition,
        id: &[u8; 16],
    ) -> Result {
        match self.open(table)?.get(id.as_slice())? {
            Some(_) => Ok(()),
            None => Err(StoreError::Orphan { child, parent }),
        }
    }

    fn owned_by_session(&mut self, child: &'static str, id: SessionId) -> Result {
        if self.session != Some(id) {
            self.owned(child, "session", table::SESSIONS, id.as_bytes())?;
            self.session = Some(id);
        }
        Ok(())
    }

    fn delete_task(&mut self, id: TaskId) -> Result {
        self.session = None;
        for session in self.sessions_of(id)? {
            let session = session.as_bytes();
            for table in [table::MESSAGES, table::TURNS, table::OPEN_TURNS, table::PROCESSES] {
                self.delete_under(table, session)?;
            }
            self.delete(table::SESSIONS, session)?;
        }
        self.delete_under(table::TASK_SESSIONS, id.as_bytes())?;
        self.delete(table::TASKS, id.as_bytes())
    }

    fn sessions_of(&mut self, id: TaskId) -> Result<Vec<SessionId>> {
        sessions_under(self.open(table::TASK_SESSIONS)?, id)
    }

    fn put_session(&mut self, session: &Session) -> Result {
        self.owned("session", "task", table::TASKS, session.task_id.as_bytes())?;
        self.mark(table::TASK_SESSIONS, &key::task_session(session.task_id, session.id))?;
        self.put(table::SESSIONS, session.id.as_bytes(), session)
    }

    fn put_turn(&mut self, turn: &Turn) -> Result {
        self.owned_by_session("turn", turn.session_id)?;
        let key = key::turn(turn.session_id, turn.id);
        self.put(table::TURNS, &key, turn)?;
        match turn.ended_at {
            None => self.mark(table::OPEN_TURNS, &key),
            Some(_) => self.delete(table::OPEN_TURNS, &key),
        }
    }

    fn put_message(&mut self, message: &StoredMessage) -> Result {
        let (session, seq) = (message.session_id, message.seq);
        self.owned_by_session("message", session)?;
        let table = self.open(table::MESSAGES)?;
        let record = key::record(session, seq);
        match table.seq(&key::message_id(session, message.id))? {
            Some(kept) if kept == seq => {}
            Some(kept) => {
                return Err(StoreError::Invalid(format!(
                    "a message cannot move from {kept} to {seq}"
                )));
            }
            None if table.get(&*record)?.is_some() => {
                return Err(StoreError::Invalid(format!("place {seq} has another message")));
            }
            None => {
                table
                    .insert(&*key::message_id(session, message.id), seq.to_be_bytes().as_slice())?;
            }
        }
        table.insert(&*record, &*table::encode(message)?)?;
        let metadata = &message.metadata;
        let client_id = metadata.client_message_id.as_ref().map(|id| key::client_id(session, id));
        // A request for leave names the call that it is about, and is not its row.
        let row = metadata.tool_call_id.as_ref().filter(|_| metadata.permission.is_none());
        let tool_call = row.map(|id| key::tool_call(session, id));
        for key in client_id.iter().chain(&tool_call) {
            // An older message that changes must not take the entry from a newer one.
            if table.seq(key)?.is_none_or(|newest| newest < seq) {
                table.insert(&**key, seq.to_be_bytes().as_slice())?;
            }
        }
        Ok(())
    }

    fn put_draft(&mut self, session: SessionId, text: &str) -> Result {
        self.owned_by_session("draft", session)?;
        let key = key::draft(session);
        match text {
            "" => self.delete(table::MESSAGES, &key),
            text => self.put(table::MESSAGES, &key, &text),
        }
    }

    fn remember_folder(&mut self, path: &str, at: Timestamp) -> Result {
        self.put(table::FOLDERS, path.as_bytes(), &at)?;
        let table = self.open(table::FOLDERS)?;
        while table.len()? > FOLDER_LIMIT {
            let Some(oldest) = folders_by_age(table)?.pop() else { break };
            table.remove(oldest.as_bytes())?;
        }
        Ok(())
    }
}
