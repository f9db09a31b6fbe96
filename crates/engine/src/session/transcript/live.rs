//! One message while it can still change.

use model::{MessageKind, Normalized, OutputRecord, StoredMessage, Timestamp, ToolStatus};
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

use super::Changed;

/// The most text of one message; more goes into the next.
pub(super) const TEXT_BYTES: usize = 64 * 1024;
/// The most of a title, in bytes.
const TITLE_BYTES: usize = 16 * 1024;
/// The most of a command, in bytes.
const COMMAND_BYTES: usize = 64 * 1024;
/// The most files of one call.
const PATHS: usize = 100;

/// A message, and what of it is not yet stored.
pub(super) struct Live {
    pub(super) message: StoredMessage,
    pub(super) shell: Option<ShellCall>,
    pub(super) changed: bool,
    pub(super) added: bool,
    /// Ended by us, not by the agent: kept, since the agent may yet say how it really ended.
    pub(super) swept: bool,
}

impl Live {
    pub(super) fn touch(&mut self, now: Timestamp) {
        self.changed = true;
        self.message.updated_at = now;
    }

    /// A message that is told whole at every change has to stay small.
    pub(super) fn has_room_for(&self, chunk: &str) -> bool {
        self.message.content.len() + chunk.len() <= TEXT_BYTES
    }

    pub(super) fn is_background(&self) -> bool {
        self.message.shell_exec().is_some_and(|exec| exec.background)
    }

    /// A call that the agent may still say something about.
    pub(super) fn is_open_call(&self) -> bool {
        self.swept || self.message.metadata.status.is_some_and(|status| !status.is_terminal())
    }

    /// Whether the call stands as ended, by the agent's word or by ours.
    pub(super) fn has_ended(&self) -> bool {
        self.message.metadata.status.is_some_and(ToolStatus::is_terminal)
    }

    pub(super) fn cancel(&mut self, reason: CancelReason) {
        self.swept = true;
        self.message.metadata.status = Some(ToolStatus::Cancelled);
        if let Some(call) = &mut self.shell
            && call.cancel(reason).changed
        {
            self.message.metadata.normalized = Some(normalized(call));
        }
    }

    /// Takes a frame; whether it changed anything.
    pub(super) fn apply(&mut self, frame: &ToolFrame, dialect: &Dialect) -> bool {
        if let Some(kind) = frame.message_kind()
            && self.message.kind == MessageKind::ToolCall
        {
            self.message.kind = kind;
        }
        if self.message.kind == MessageKind::ToolExecute {
            self.apply_shell(frame, dialect)
        } else {
            self.apply_other(frame);
            true
        }
    }

    fn apply_shell(&mut self, frame: &ToolFrame, dialect: &Dialect) -> bool {
        let call = self.shell.get_or_insert_with(|| ShellCall::new(dialect.clone()));
        if !call.apply(frame).changed {
            return false;
        }
        let status = call.status();
        self.message.content = bounded(call.title(), TITLE_BYTES);
        self.message.metadata.status = Some(status);
        self.message.metadata.normalized = Some(normalized(call));
        // What the agent itself says of the end replaces what the sweep wrote.
        self.swept &= status == ToolStatus::Cancelled;
        true
    }

    fn apply_other(&mut self, frame: &ToolFrame) {
        if let Some(title) = frame.title.as_ref().filter(|title| !title.is_empty()) {
            self.message.content = bounded(title, TITLE_BYTES);
        }
        for path in &frame.paths {
            if self.message.metadata.paths.len() < PATHS
                && !self.message.metadata.paths.contains(path)
            {
                self.message.metadata.paths.push(bounded(path, TITLE_BYTES));
            }
        }
        let said = frame.status.or_else(|| {
            // A call that is being told about is under way.
            (frame.origin == FrameOrigin::Update).then_some(ToolStatus::InProgress)
        });
        let was_final = self.message.metadata.status.is_some_and(ToolStatus::is_terminal);
        if let Some(said) = said
            && (said.is_terminal() || !was_final)
        {
            self.message.metadata.status = Some(said);
            self.swept &= !said.is_terminal();
        }
    }

    pub(super) fn take_change(&mut self) -> Changed {
        self.changed = false;
        let bodies = self.shell.as_mut().map(ShellCall::take_body_changes).unwrap_or_default();
        let extent = |stream| {
            let output = self.message.shell_exec()?.output.as_ref()?;
            output.extent(stream)
        };
        let bodies = bodies
            .into_iter()
            .map(|(stream, change)| (stream, change, extent(stream).unwrap_or_default()))
            .collect();
        Changed { message: self.message.clone(), added: std::mem::take(&mut self.added), bodies }
    }
}

fn normalized(call: &ShellCall) -> Normalized<Option<OutputRecord>> {
    let mut exec = call.exec();
    exec.command = bounded(&exec.command, COMMAND_BYTES);
    Normalized::shell(exec)
}

/// The beginning of a text, with an ellipsis where something is left out.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    format!("{}\u{2026}", &text[..text.floor_char_boundary(limit)])
}
