//! The rows of tool calls: made by whatever comes first, changed by what follows, and let go soon
//! after their end. What an agent says later finds them in the store.

use model::{Author, MessageId, MessageKind, Metadata, Timestamp, ToolStatus};
use shell_output::{CancelReason, FrameOrigin, ToolFrame};

use super::{ENDED_HELD, Live, Stamp, Transcript};
use crate::session::recall::Recalled;

/// A command that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenCommand {
    pub(crate) message_id: MessageId,
    pub(crate) command: String,
    /// When its row was made.
    pub(crate) since: Timestamp,
}

impl Transcript {
    /// A frame about a tool call: makes its row, or changes it (S-019).
    pub(crate) fn tool(&mut self, at: Stamp, frame: &ToolFrame) {
        let seq = match self.calls.get(&frame.call_id) {
            Some(seq) => *seq,
            None if !self.begins_row(frame) => return,
            None => self.add_call(at, frame),
        };
        if let Some(live) = self.live.get_mut(&seq)
            && live.apply(frame, &self.dialect)
        {
            live.touch(at.now);
        }
    }

    /// Whether a frame of a call that nobody knows makes a row: within a turn, if it says anything;
    /// a request for leave only if it says for what kind of tool, since agents ask for more than
    /// that (S-019, S-021, S-024).
    fn begins_row(&self, frame: &ToolFrame) -> bool {
        let is_of_tool = || frame.message_kind().is_some();
        self.turn_id.is_some()
            && !frame.is_empty_update()
            && (frame.origin != FrameOrigin::Permission || is_of_tool())
    }

    fn add_call(&mut self, at: Stamp, frame: &ToolFrame) -> u64 {
        self.text = None;
        let kind = frame.message_kind().unwrap_or(MessageKind::ToolCall);
        let metadata = Metadata {
            tool_call_id: Some(frame.call_id.clone()),
            status: Some(ToolStatus::Pending),
            ..Metadata::default()
        };
        let seq = self.add(at, kind, Author::Agent, String::new(), metadata).message.seq;
        self.calls.insert(frame.call_id.clone(), seq);
        self.known.insert(&frame.call_id);
        seq
    }

    /// Whether what a frame says about this call needs nothing of the store.
    pub(crate) fn holds(&self, call_id: &str) -> bool {
        self.calls.contains_key(call_id)
    }

    /// The row of a call that was let go is held again.
    pub(crate) fn recalled(&mut self, at: Stamp, row: Recalled) {
        // Nothing else limits how many are held while nothing changes.
        self.let_go();
        let seq = row.message.seq;
        let Some(call_id) = row.message.metadata.tool_call_id.clone() else { return };
        self.calls.insert(call_id, seq);
        // A row with a change that is not stored yet is newer than what the store has.
        let dialect = &self.dialect;
        self.live.entry(seq).or_insert_with(|| Live::recalled(row, dialect, at.now));
    }

    /// The commands that a cancel would stop, oldest first.
    pub(crate) fn open_commands(&self) -> Vec<OpenCommand> {
        let open = self.live.values().filter(|live| live.is_open_call() && !live.is_background());
        open.filter_map(|live| {
            let message = &live.message;
            let command = message.shell_exec()?.command.clone();
            Some(OpenCommand { message_id: message.id, command, since: message.created_at })
        })
        .collect()
    }

    /// Cancels those of the calls that have not ended.
    pub(super) fn cancel_calls(
        &mut self,
        at: Stamp,
        reason: CancelReason,
        which: impl Fn(&Live) -> bool,
    ) {
        for seq in self.calls.values() {
            if let Some(live) = self.live.get_mut(seq)
                && !live.has_ended()
                && which(live)
            {
                live.cancel(reason);
                live.touch(at.now);
            }
        }
    }

    /// Forgets the calls of a process that is gone: its ids mean nothing to the next one, unless
    /// that goes on with the same session, and then the store knows them.
    pub(crate) fn forget_calls(&mut self) {
        self.ended.clear();
        self.calls.clear();
        self.repeated.clear();
    }

    /// Lets go of the calls that have ended.
    pub(super) fn settle_calls(&mut self) {
        self.ended.clear();
        let live = &self.live;
        self.calls.retain(|_, seq| live.get(seq).is_some_and(Live::is_open_call));
    }

    /// Lets go of what can change no more, and of all but the last few calls that have ended.
    pub(super) fn let_go(&mut self) {
        let has_ended = |seq: &u64| self.live.get(seq).is_some_and(Live::has_ended);
        let mut ended: Vec<u64> = self.calls.values().copied().filter(has_ended).collect();
        ended.sort_unstable();
        for seq in ended {
            if !self.ended.contains(&seq) {
                self.ended.push_back(seq);
            }
        }
        let surplus = self.ended.len().saturating_sub(ENDED_HELD);
        self.ended.drain(..surplus);
        let is_asked = |seq: &u64| self.asks.iter().any(|(_, asked)| asked == seq);
        let is_held = |seq: &u64| {
            self.text == Some(*seq)
                || self.plan == Some(*seq)
                || self.ended.contains(seq)
                || is_asked(seq)
        };
        self.live.retain(|seq, live| live.changed || live.is_open_call() || is_held(seq));
        let live = &self.live;
        self.calls.retain(|_, seq| live.contains_key(seq));
    }
}
