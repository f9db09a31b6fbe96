//! One message while it can still change.

use std::sync::Arc;

use model::{
    BodyChange, BodyExtent, BodyStream, MessageKind, Normalized, OutputRecord, StoredMessage,
    Timestamp, ToolStatus,
};
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, StoredCall, ToolFrame};
use tool_content::CallContent;

use super::Changed;
use crate::session::{FLUSH_INTERVAL, recall::Recalled};

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
    /// The state of a command. Of a call of no known kind too: it may turn out to be a command.
    pub(super) shell: Option<ShellCall>,
    pub(super) changed: bool,
    pub(super) added: bool,
    /// Why it was cancelled on this side, if it was.
    cancelled: Option<CancelReason>,
    /// What a call that is no command has to be opened.
    content: Option<CallContent>,
    /// That of it which is not stored yet.
    new_content: bool,
    /// Changes of its bodies that no frame of its own brought.
    bodies: Vec<(BodyStream, BodyChange, BodyExtent)>,
    told: Option<Told>,
}

/// What was last taken to be stored and told.
struct Told {
    at: Timestamp,
    has_ended: bool,
}

impl Live {
    /// A message that is new.
    pub(super) const fn new(message: StoredMessage) -> Self {
        Self {
            message,
            shell: None,
            changed: true,
            added: true,
            cancelled: None,
            content: None,
            new_content: false,
            bodies: Vec::new(),
            told: None,
        }
    }

    /// A row that was let go.
    pub(super) fn recalled(mut row: Recalled, dialect: &Dialect, now: Timestamp) -> Self {
        let may_be_command =
            matches!(row.message.kind, MessageKind::ToolExecute | MessageKind::ToolCall);
        let shell = may_be_command.then(|| row.restore(dialect.clone()));
        let content = row.content.map(CallContent::restore);
        let mut live = Self { shell, content, cancelled: row.cancelled, ..Self::new(row.message) };
        (live.changed, live.added) = (false, false);
        // When it was last told, nobody knows any more.
        live.told = Some(Told { at: now, has_ended: live.has_ended() });
        live
    }

    pub(super) fn touch(&mut self, now: Timestamp) {
        self.changed = true;
        self.message.updated_at = now;
    }

    /// Milliseconds until its change may be taken; `None` without a change. Only the row of a call
    /// has to wait, and its end does not (S-027).
    pub(super) fn due_in(&self, now: Timestamp) -> Option<i64> {
        if !self.changed {
            return None;
        }
        let interval = i64::try_from(FLUSH_INTERVAL.as_millis()).unwrap_or(i64::MAX);
        let waits = |told: &&Told| self.is_call() && told.has_ended == self.has_ended();
        let told = self.told.as_ref().filter(waits);
        let passed = told.map_or(interval, |told| now.as_millis() - told.at.as_millis());
        // A clock that was set back must not hold anything up.
        Some(if (0..interval).contains(&passed) { interval - passed } else { 0 })
    }

    /// A message that is told whole at every change has to stay small.
    pub(super) fn has_room_for(&self, chunk: &str) -> bool {
        self.message.content.len() + chunk.len() <= TEXT_BYTES
    }

    pub(super) fn is_background(&self) -> bool {
        self.message.shell_exec().is_some_and(|exec| exec.background)
    }

    fn is_call(&self) -> bool {
        self.message.metadata.status.is_some()
    }

    /// A call that has not ended.
    pub(super) fn is_open_call(&self) -> bool {
        self.is_call() && !self.has_ended()
    }

    /// Whether the call stands as ended, by the agent's word or by ours.
    pub(super) fn has_ended(&self) -> bool {
        self.message.metadata.status.is_some_and(ToolStatus::is_terminal)
    }

    pub(super) fn cancel(&mut self, reason: CancelReason) {
        self.cancelled = Some(reason);
        self.message.metadata.status = Some(ToolStatus::Cancelled);
        if let Some(call) = &mut self.shell
            && call.cancel(reason).changed
            && self.message.kind == MessageKind::ToolExecute
        {
            self.message.metadata.normalized = Some(normalized(call));
        }
    }

    /// Takes a frame; whether it changed anything.
    pub(super) fn apply(&mut self, frame: &ToolFrame, dialect: &Dialect) -> bool {
        let kind = match self.message.kind {
            MessageKind::ToolCall => frame.message_kind().unwrap_or(MessageKind::ToolCall),
            known => known,
        };
        let is_new_kind = std::mem::replace(&mut self.message.kind, kind) != kind;
        let changed = match kind {
            MessageKind::ToolExecute => self.apply_shell(frame, dialect, is_new_kind),
            MessageKind::ToolCall => {
                let _ = self.call(dialect).apply(frame);
                self.apply_other(frame)
            }
            _ => {
                self.shell = None;
                self.apply_other(frame)
            }
        };
        changed || is_new_kind
    }

    fn call(&mut self, dialect: &Dialect) -> &mut ShellCall {
        self.shell.get_or_insert_with(|| ShellCall::new(dialect.clone()))
    }

    fn apply_shell(&mut self, frame: &ToolFrame, dialect: &Dialect, is_new_kind: bool) -> bool {
        let call = self.call(dialect);
        if !call.apply(frame).changed && !is_new_kind {
            return false;
        }
        let title = bounded(call.title(), TITLE_BYTES);
        let (status, normalized) = (call.status(), normalized(call));
        // What was taken for content before the call was known to be a command is its output.
        (self.content, self.new_content, self.message.metadata.content) = (None, false, None);
        self.message.content = title;
        self.message.metadata.status = Some(status);
        self.message.metadata.normalized = Some(normalized);
        true
    }

    fn apply_other(&mut self, frame: &ToolFrame) -> bool {
        let message = &mut self.message;
        let content = self.content.get_or_insert_default();
        let mut changed = content.apply(message.kind, frame);
        if changed {
            self.new_content = true;
            message.metadata.content = content.content().summary();
        }
        if let Some(title) = &frame.title {
            let title = bounded(title, TITLE_BYTES);
            changed |= message.content != title;
            message.content = title;
        }
        let paths = &mut message.metadata.paths;
        for path in frame.paths.iter().map(|path| bounded(path, TITLE_BYTES)) {
            if paths.len() < PATHS && !paths.contains(&path) {
                paths.push(path);
                changed = true;
            }
        }
        let status = reported(message.metadata.status, frame);
        changed |= message.metadata.status != status;
        message.metadata.status = status;
        changed
    }

    /// Takes from an agent's own history of the call, `heard`, what the live stream lost: the
    /// beginning of its output, and how it ended. Whether anything was missing (S-026).
    pub(super) fn repair(&mut self, heard: &ShellCall, dialect: &Dialect) -> bool {
        let is_command = self.message.kind == MessageKind::ToolExecute;
        let Some(call) = self.shell.as_mut().filter(|_| is_command) else { return false };
        let known = call.exec().output.unwrap_or_default();
        let said = heard.exec().output.unwrap_or_default();
        let is_stopped = self.cancelled == Some(CancelReason::User);
        let exit = said.exit_code.filter(|_| known.exit_code.is_none() && !is_stopped);
        let has_run = known.exit_code.is_some() || exit.is_some();
        let text = heard.stdout().filter(|all| completes(all, call.stdout(), has_run));
        if exit.is_none() && text.is_none() {
            return false;
        }
        self.bodies.extend(pending(call, &known));
        let mut stored = stored(call, self.message.metadata.status, self.cancelled);
        let output = stored.exec.output.get_or_insert_default();
        if exit.is_some() {
            (output.exit_code, output.signal) = (exit, said.signal);
            (stored.status, stored.cancelled) = (Some(heard.status()), None);
        }
        if let Some(text) = text {
            let extent = BodyExtent { start: 0, end: text.len() as u64 };
            (output.stdout, output.truncated) = (Some(extent), said.truncated);
            stored.stdout = Some(text.to_owned());
            let change = BodyChange::Replace { text: text.to_owned() };
            self.bodies.retain(|(stream, ..)| *stream != BodyStream::Stdout);
            self.bodies.push((BodyStream::Stdout, change, extent));
        }
        self.message.metadata.status = stored.status;
        self.cancelled = stored.cancelled;
        *call = ShellCall::restore(dialect.clone(), stored);
        self.message.metadata.normalized = Some(normalized(call));
        true
    }

    /// What changed, as it is to be stored and told; `now` says when, if more is to follow.
    pub(super) fn take_change(&mut self, now: Option<Timestamp>) -> Changed {
        self.changed = false;
        self.told = now.map(|at| Told { at, has_ended: self.has_ended() });
        let mut bodies = std::mem::take(&mut self.bodies);
        if let Some(call) = self.shell.as_mut()
            && let Some(exec) = self.message.shell_exec()
        {
            bodies.extend(pending(call, &exec.output.clone().unwrap_or_default()));
        }
        let is_new = std::mem::take(&mut self.new_content);
        let content = self.content.as_ref().filter(|_| is_new).map(|call| call.content().clone());
        Changed {
            message: self.message.clone(),
            added: std::mem::take(&mut self.added),
            bodies,
            content: content.map(Arc::new),
        }
    }
}

/// The changes of a command's bodies, each with the extent that results.
fn pending(
    call: &mut ShellCall,
    output: &OutputRecord,
) -> Vec<(BodyStream, BodyChange, BodyExtent)> {
    let extent = |stream| output.extent(stream).unwrap_or_default();
    let changes = call.take_body_changes().into_iter();
    changes.map(|(stream, change)| (stream, change, extent(stream))).collect()
}

/// A command as the store has it once it has taken what is pending.
fn stored(
    call: &ShellCall,
    status: Option<ToolStatus>,
    cancelled: Option<CancelReason>,
) -> StoredCall {
    StoredCall {
        title: call.title().to_owned(),
        exec: call.exec(),
        status,
        cancelled,
        stdout: call.stdout().map(str::to_owned),
        stderr: call.stderr().map(str::to_owned),
    }
}

/// Whether `all` is what is kept, and more in front of it. Line ends at the end do not count. Of a
/// command that is not known to have run, nothing is no end: its text may be about a refusal.
fn completes(all: &str, kept: Option<&str>, has_run: bool) -> bool {
    let (all, kept) = (all.trim_end(), kept.unwrap_or_default().trim_end());
    all.len() > kept.len() && all.ends_with(kept) && (has_run || !kept.is_empty())
}

/// Where a call that is no command stands after a frame. Nothing goes back: a permission request
/// says `pending` of a call that is under way, and a late update opens none that has ended.
fn reported(known: Option<ToolStatus>, frame: &ToolFrame) -> Option<ToolStatus> {
    // A call that is being told about is under way.
    let unsaid = (frame.origin == FrameOrigin::Update).then_some(ToolStatus::InProgress);
    let said = frame.status.or(unsaid);
    let goes_on = match known {
        None | Some(ToolStatus::Pending) => true,
        Some(ToolStatus::InProgress) => said != Some(ToolStatus::Pending),
        Some(_) => said.is_some_and(ToolStatus::is_terminal),
    };
    said.filter(|_| goes_on).or(known)
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
