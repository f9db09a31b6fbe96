//! Calls that are no longer held, as the store has them: an agent may say more about a call long
//! after it ended.
//!
//! The machine says which call an event needs ([`Recall`]), whoever drives it reads that, and hands
//! in what was found ([`Recalled`]) before the event.

use model::{BodyStream, SessionId, StoredMessage, ToolContent, ToolStatus, Turn, TurnOutcome};
use shell_output::{CancelReason, Dialect, ShellCall, StoredCall};
use store::{Reader, StoreError};

/// A call that the store is to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recall {
    pub(super) session_id: SessionId,
    pub(super) call_id: String,
    /// The first message that the agent's own session knows of: an id means nothing before it.
    pub(super) since: u64,
    /// Why a call of the turn that is under way may stand as cancelled.
    pub(super) under_way: Option<CancelReason>,
}

/// The row of a call, with its output.
#[derive(Debug)]
pub(crate) struct Recalled {
    pub(super) message: StoredMessage,
    /// Why it was cancelled on this side, if that is what its status says.
    pub(super) cancelled: Option<CancelReason>,
    stdout: Option<String>,
    stderr: Option<String>,
    /// What it has to be opened, if it is no command.
    pub(super) content: Option<ToolContent>,
}

impl Recall {
    /// Whether this may be the row of the call.
    pub(crate) fn is_about(&self, row: &StoredMessage) -> bool {
        row.metadata.tool_call_id.as_ref() == Some(&self.call_id)
    }

    /// The row of the call; `None`: nobody knows it.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub(crate) fn read(&self, reader: &Reader) -> Result<Option<Recalled>, StoreError> {
        let found = reader.message_by_tool_call(self.session_id, &self.call_id)?;
        let Some(message) = found.filter(|row| row.seq >= self.since && is_row(row)) else {
            return Ok(None);
        };
        let turn = message.turn_id.map(|id| reader.turn(self.session_id, id)).transpose()?;
        let cancelled = match message.metadata.status {
            Some(ToolStatus::Cancelled) => self.reason(turn.flatten()),
            _ => None,
        };
        let output = message.shell_exec().and_then(|exec| exec.output.as_ref());
        let body = |stream| {
            let extent = output.and_then(|output| output.extent(stream));
            let read = |extent| reader.body(self.session_id, message.seq, stream, extent);
            extent.map(read).transpose()
        };
        let (stdout, stderr) = (body(BodyStream::Stdout)?, body(BodyStream::Stderr)?);
        let has_content = message.metadata.content.is_some();
        let read = || reader.content(self.session_id, message.seq);
        let content = has_content.then(read).transpose()?.flatten();
        Ok(Some(Recalled { message, cancelled, stdout, stderr, content }))
    }

    /// Why a call of this turn stands as cancelled: by the person, or by the end of the turn.
    fn reason(&self, turn: Option<Turn>) -> Option<CancelReason> {
        match turn?.outcome {
            None => self.under_way,
            Some(TurnOutcome::Cancelled) => Some(CancelReason::User),
            Some(_) => Some(CancelReason::Sweep),
        }
    }
}

fn is_row(message: &StoredMessage) -> bool {
    message.metadata.status.is_some()
}

impl Recalled {
    /// The state of the call, as a shell command; the message stays.
    pub(super) fn restore(&mut self, dialect: Dialect) -> ShellCall {
        let message = &self.message;
        ShellCall::restore(
            dialect,
            StoredCall {
                title: message.content.clone(),
                exec: message.shell_exec().cloned().unwrap_or_default(),
                status: message.metadata.status,
                cancelled: self.cancelled,
                stdout: self.stdout.take(),
                stderr: self.stderr.take(),
            },
        )
    }
}

#[cfg(test)]
mod tests;
