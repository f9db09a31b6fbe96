//! Whether records, indexes and bodies of a snapshot fit together.

use std::fmt::Display;

use model::{
    AgentProcess, AgentProfile, BodyStream, MessageId, Session, SessionId, StoredMessage, Task,
    Timestamp, ToolContent, Turn, Workflow, Workspace,
};
use redb::{ReadableTableMetadata, TableHandle};
use serde::de::DeserializeOwned;

use crate::{
    BrowserSession, Reader, StoreError,
    body::Body,
    key::{self, Kind},
    table::{self, Definition, Readable, decode},
};

/// Problems beyond this many are counted only by their absence from the list.
const PROBLEM_LIMIT: usize = 50;

type Result<T = ()> = std::result::Result<T, StoreError>;

/// How many entries each table has.
type Entries = Vec<(&'static str, u64)>;

/// The entries of each table, and what does not fit.
pub(crate) fn verify(reader: &Reader) -> Result<(Entries, Vec<String>)> {
    let mut check = Check { reader, problems: Vec::new() };
    check.records::<Workspace>(table::WORKSPACES, |_, _, _| Ok(()))?;
    check.records::<Workflow>(table::WORKFLOWS, |_, _, _| Ok(()))?;
    check.records::<Task>(table::TASKS, |_, _, _| Ok(()))?;
    check.records::<AgentProfile>(table::PROFILES, |_, _, _| Ok(()))?;
    check.records::<Timestamp>(table::FOLDERS, |_, _, _| Ok(()))?;
    check.records::<BrowserSession>(table::BROWSER_SESSIONS, |_, _, _| Ok(()))?;
    check.records::<AgentProcess>(table::PROCESSES, |check, _, process| {
        check.has_session("process", process.pid, process.session_id)
    })?;
    check.records(table::SESSIONS, Check::session)?;
    check.records(table::TURNS, Check::turn)?;
    check.messages()?;
    let entries = table::ALL.iter().map(|table| Ok((table.name(), reader.open(*table)?.len()?)));
    Ok((entries.collect::<Result<Entries>>()?, check.problems))
}

struct Check<'a> {
    reader: &'a Reader,
    problems: Vec<String>,
}

impl Check<'_> {
    fn problem(&mut self, problem: impl Into<String>) {
        if self.problems.len() < PROBLEM_LIMIT {
            self.problems.push(problem.into());
        }
    }

    fn expect(&mut self, fits: bool, problem: impl FnOnce() -> String) {
        if !fits {
            self.problem(problem());
        }
    }

    fn records<T: DeserializeOwned>(
        &mut self,
        definition: Definition,
        check: impl Fn(&mut Self, &[u8], &T) -> Result,
    ) -> Result {
        for entry in self.reader.open(definition)?.range::<&[u8]>(..)? {
            let (key, value) = entry?;
            match decode(value.value()) {
                Ok(record) => check(self, key.value(), &record)?,
                Err(err) => self.problem(format!("{}: {err}", definition.name())),
            }
        }
        Ok(())
    }

    fn has(&self, table: Definition, key: &[u8]) -> Result<bool> {
        Ok(self.reader.open(table)?.get(key)?.is_some())
    }

    fn has_session(&mut self, child: &str, id: impl Display, session: SessionId) -> Result {
        let fits = self.has(table::SESSIONS, session.as_bytes())?;
        self.expect(fits, || format!("{child} {id} has no session"));
        Ok(())
    }

    fn session(&mut self, _key: &[u8], session: &Session) -> Result {
        let id = session.id;
        let task = self.has(table::TASKS, session.task_id.as_bytes())?;
        self.expect(task, || format!("session {id} has no task"));
        let listed = self.has(table::TASK_SESSIONS, &key::task_session(session.task_id, id))?;
        self.expect(listed, || format!("session {id} is not listed under its task"));
        Ok(())
    }

    fn turn(&mut self, key: &[u8], turn: &Turn) -> Result {
        let id = turn.id;
        self.has_session("turn", id, turn.session_id)?;
        let open = self.has(table::OPEN_TURNS, key)?;
        let fits = open == turn.ended_at.is_none();
        self.expect(fits, || format!("turn {id} is wrongly listed as open or not"));
        Ok(())
    }

    fn messages(&mut self) -> Result {
        let table = self.reader.open(table::MESSAGES)?;
        let mut body_of = None;
        for entry in table.range::<&[u8]>(..)? {
            let (key, value) = entry?;
            let (key, value) = (key.value(), value.value());
            match key::parse(key) {
                Some((_, Kind::Record)) => match decode(value) {
                    Ok(message) => self.message(&table, &message)?,
                    Err(err) => self.problem(format!("messages: {err}")),
                },
                Some((session, Kind::Body)) => {
                    let owner = (session, key::seq(key).unwrap_or(0));
                    if body_of.replace(owner) != Some(owner) {
                        let record = key::record(owner.0, owner.1);
                        let fits = table.get(&*record)?.is_some();
                        self.expect(fits, || format!("output {owner:?} has no message"));
                    }
                }
                Some((session, Kind::Id | Kind::ClientId | Kind::ToolCall)) => {
                    let seq = u64::from_be_bytes(value.try_into().unwrap_or_default());
                    let fits = table.get(&*key::record(session, seq))?.is_some();
                    self.expect(fits, || format!("an index of {session} names no message"));
                }
                Some((session, Kind::Content)) => {
                    let seq = key::seq(key).unwrap_or(0);
                    let fits = table.get(&*key::record(session, seq))?.is_some();
                    self.expect(fits, || format!("content {seq} of {session} has no message"));
                    if let Err(err) = decode::<ToolContent>(value) {
                        self.problem(format!("messages: {err}"));
                    }
                }
                Some((session, Kind::Draft)) => self.has_session("draft", "", session)?,
                None => self.problem("an entry of the messages has a key that nothing has"),
            }
        }
        Ok(())
    }

    fn message(&mut self, table: &impl Readable, message: &StoredMessage) -> Result {
        let (id, session, seq): (MessageId, _, _) = (message.id, message.session_id, message.seq);
        self.has_session("message", id, session)?;
        let fits = table.seq(&key::message_id(session, id))? == Some(seq);
        self.expect(fits, || format!("message {id} is not found by its id"));
        let content = key::content(session, seq);
        let fits = message.metadata.content.is_none() || table.get(&*content)?.is_some();
        self.expect(fits, || format!("message {id} lacks its content"));
        let output = message.shell_exec().and_then(|exec| exec.output.as_ref());
        for stream in [BodyStream::Stdout, BodyStream::Stderr] {
            if let Some(extent) = output.and_then(|output| output.extent(stream)) {
                let stored = Body { session, seq, stream }.bytes(table, extent)?;
                let fits = stored.len() as u64 == extent.len();
                self.expect(fits, || format!("message {id} lacks some of its output"));
            }
        }
        Ok(())
    }
}
