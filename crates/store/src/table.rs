//! The tables, all from bytes to bytes, and records as JSON in them.

use redb::{ReadableTable, TableDefinition};
use serde::{Serialize, de::DeserializeOwned};

use crate::StoreError;

/// A table: keys of `key.rs`, values of JSON unless said otherwise.
pub(crate) type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

/// `schema`: the version of the file's layout.
pub(crate) const META: Definition = Definition::new("meta");
/// Workspace id: the workspace.
pub(crate) const WORKSPACES: Definition = Definition::new("workspaces");
/// Workflow id: the workflow.
pub(crate) const WORKFLOWS: Definition = Definition::new("workflows");
/// Task id: the task.
pub(crate) const TASKS: Definition = Definition::new("tasks");
/// Task id, session id: nothing.
pub(crate) const TASK_SESSIONS: Definition = Definition::new("task_sessions");
/// Session id: the session.
pub(crate) const SESSIONS: Definition = Definition::new("sessions");
/// Session id, turn id: the turn.
pub(crate) const TURNS: Definition = Definition::new("turns");
/// Session id, turn id of turns without an end: nothing.
pub(crate) const OPEN_TURNS: Definition = Definition::new("open_turns");
/// Session id, kind of entry, and more: a record, raw bytes of a body, or a big-endian sequence number.
pub(crate) const MESSAGES: Definition = Definition::new("messages");
/// Profile id: the profile.
pub(crate) const PROFILES: Definition = Definition::new("profiles");
/// Path of a folder: when it was last used.
pub(crate) const FOLDERS: Definition = Definition::new("folders");
/// Session id, process id: the process.
pub(crate) const PROCESSES: Definition = Definition::new("processes");
/// Public id: the browser session.
pub(crate) const BROWSER_SESSIONS: Definition = Definition::new("browser_sessions");

/// Every table.
pub(crate) const ALL: &[Definition] = &[
    META,
    WORKSPACES,
    WORKFLOWS,
    TASKS,
    TASK_SESSIONS,
    SESSIONS,
    TURNS,
    OPEN_TURNS,
    MESSAGES,
    PROFILES,
    FOLDERS,
    PROCESSES,
    BROWSER_SESSIONS,
];

/// A table that can be read, in a snapshot or inside a write transaction.
pub(crate) trait Readable: ReadableTable<&'static [u8], &'static [u8]> {
    /// The record under a key.
    fn record<T: DeserializeOwned>(&self, key: &[u8]) -> Result<Option<T>, StoreError> {
        self.get(key)?.map(|value| decode(value.value())).transpose()
    }

    /// The sequence number that an index entry holds.
    fn seq(&self, key: &[u8]) -> Result<Option<u64>, StoreError> {
        let Some(value) = self.get(key)? else { return Ok(None) };
        let bytes = value.value().try_into();
        let bytes = bytes.map_err(|_| StoreError::Damaged("an index entry is cut".into()))?;
        Ok(Some(u64::from_be_bytes(bytes)))
    }
}

impl<T: ReadableTable<&'static [u8], &'static [u8]>> Readable for T {}

/// A record from its JSON.
pub(crate) fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json)
        .map_err(|err| StoreError::Damaged(format!("a record cannot be read: {err}")))
}

/// The JSON of a record.
pub(crate) fn encode(record: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(record)
        .map_err(|err| StoreError::Invalid(format!("a record cannot be written: {err}")))
}
