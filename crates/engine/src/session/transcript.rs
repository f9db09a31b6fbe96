//! The messages of a session while its agent changes them: pure, no clock, no I/O.
//!
//! It holds only what can still change: streaming text, open tool calls, unanswered requests. What
//! changed is taken in one piece, so that however many updates came, each message is stored and told
//! once.

mod asks;
mod calls;
mod history;
mod live;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use acp::PermissionKey;
use model::{
    Author, BodyChange, BodyExtent, BodyStream, Message, MessageId, MessageKind, Metadata,
    PermissionAnswer, PlanEntry, SessionId, StoredMessage, Timestamp, ToolContent, TurnId,
};
use shell_output::{CancelReason, Dialect};
use uuid::Uuid;

use super::known::KnownCalls;
pub(crate) use asks::AskError;
pub(crate) use calls::OpenCommand;
use history::Repeated;
use live::{Live, TEXT_BYTES, bounded};

/// Calls that are held after they have ended, each with 512 KiB of output at most.
const ENDED_HELD: usize = 4;

/// The most entries of a plan.
const PLAN_ENTRIES: usize = 200;
/// The most of what stands in one line: an entry of a plan, a title, in bytes.
const LINE_BYTES: usize = 4096;
/// The most of what a card says about a session, in bytes.
const ACTIVITY_BYTES: usize = 200;

/// A message that changed since the last look.
#[derive(Debug)]
pub(crate) struct Changed {
    pub(crate) message: StoredMessage,
    /// It is new.
    pub(crate) added: bool,
    /// Changes of its bodies, each with the extent that results.
    pub(crate) bodies: Vec<(BodyStream, BodyChange, BodyExtent)>,
    /// What it has to be opened, if that changed.
    pub(crate) content: Option<Arc<ToolContent>>,
}

/// Who says what time it is and how the next message is called.
#[derive(Clone, Copy)]
pub(crate) struct Stamp {
    pub(crate) now: Timestamp,
    pub(crate) new_id: fn() -> Uuid,
}

/// The messages that can still change, and what is next.
pub(crate) struct Transcript {
    session_id: SessionId,
    next_seq: u64,
    dialect: Dialect,
    turn_id: Option<TurnId>,
    live: BTreeMap<u64, Live>,
    /// The text that the next chunk continues.
    text: Option<u64>,
    plan: Option<u64>,
    calls: HashMap<String, u64>,
    /// All that the agent's session has had.
    pub(super) known: KnownCalls,
    /// Calls that ended last: what an agent says about an end may follow it by some milliseconds.
    ended: VecDeque<u64>,
    /// Calls of the agent's own history, the newest last.
    repeated: VecDeque<Repeated>,
    asks: Vec<(PermissionKey, u64)>,
}

impl Transcript {
    pub(crate) fn new(session_id: SessionId, last_seq: u64, dialect: Dialect) -> Self {
        Self {
            session_id,
            next_seq: last_seq + 1,
            dialect,
            turn_id: None,
            live: BTreeMap::new(),
            text: None,
            plan: None,
            calls: HashMap::new(),
            known: KnownCalls::default(),
            ended: VecDeque::new(),
            repeated: VecDeque::new(),
            asks: Vec::new(),
        }
    }

    /// A new process speaks, in its own dialect.
    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Begins a turn with its prompt.
    pub(crate) fn begin_turn(
        &mut self,
        at: Stamp,
        turn_id: TurnId,
        prompt: String,
        client_message_id: Option<String>,
    ) -> MessageId {
        self.text = None;
        self.plan = None;
        self.turn_id = Some(turn_id);
        self.settle_calls();
        let metadata = Metadata { client_message_id, ..Metadata::default() };
        self.add(at, MessageKind::Message, Author::User, prompt, metadata).message.id
    }

    /// Ends the turn: every call that is open is cancelled, background commands excepted (S-025).
    pub(crate) fn end_turn(&mut self, at: Stamp, reason: CancelReason) {
        self.text = None;
        self.cancel_calls(at, reason, |live| !live.is_background());
        self.turn_id = None;
    }

    /// The person stops the turn: its commands are cancelled while it still ends.
    pub(crate) fn cancel_commands(&mut self, at: Stamp) {
        let is_command = |live: &Live| live.message.shell_exec().is_some();
        self.cancel_calls(at, CancelReason::User, |live| is_command(live) && !live.is_background());
    }

    /// The agent is gone: nothing of it goes on, not even in the background.
    pub(crate) fn agent_gone(&mut self, at: Stamp, answer: &PermissionAnswer) {
        self.close_asks(at, answer);
        self.cancel_calls(at, CancelReason::User, |_| true);
    }

    /// A chunk of the agent's answer or thought. A message that is full is followed by another.
    pub(crate) fn text(&mut self, at: Stamp, kind: MessageKind, chunk: &str) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(TEXT_BYTES));
            self.text_piece(at, kind, piece);
            rest = behind;
        }
    }

    fn text_piece(&mut self, at: Stamp, kind: MessageKind, piece: &str) {
        if let Some(live) = self.text.and_then(|seq| self.live.get_mut(&seq))
            && live.message.kind == kind
            && live.has_room_for(piece)
        {
            live.message.content.push_str(piece);
            live.touch(at.now);
            return;
        }
        let live = self.add(at, kind, Author::Agent, piece.to_owned(), Metadata::default());
        self.text = Some(live.message.seq);
    }

    /// The agent's plan, which replaces its earlier one of this turn.
    pub(crate) fn plan(&mut self, at: Stamp, mut entries: Vec<PlanEntry>) {
        entries.truncate(PLAN_ENTRIES);
        for entry in &mut entries {
            entry.content = bounded(&entry.content, LINE_BYTES);
        }
        if let Some(live) = self.plan.and_then(|seq| self.live.get_mut(&seq)) {
            live.message.metadata.plan = entries;
            live.touch(at.now);
            return;
        }
        let metadata = Metadata { plan: entries, ..Metadata::default() };
        let live = self.add(at, MessageKind::AgentPlan, Author::Agent, "Plan".into(), metadata);
        self.plan = Some(live.message.seq);
    }

    /// A note of ours.
    pub(crate) fn note(&mut self, at: Stamp, kind: MessageKind, text: String) {
        self.text = None;
        self.add(at, kind, Author::System, text, Metadata::default());
    }

    /// What the agent does right now, in a few words.
    pub(crate) fn activity(&self) -> Option<String> {
        self.latest_work().map(|words| bounded(&words, ACTIVITY_BYTES))
    }

    fn latest_work(&self) -> Option<String> {
        let last = self.live.values().rev().map(|live| &live.message).find(|message| {
            message.turn_id == self.turn_id
                && message.author == Author::Agent
                && message.metadata.permission.is_none()
        })?;
        match last.kind {
            MessageKind::Message => Some("Writes an answer".into()),
            MessageKind::Thinking => Some("Thinking".into()),
            MessageKind::AgentPlan => None,
            MessageKind::ToolExecute => last
                .shell_exec()
                .filter(|_| last.metadata.status.is_some_and(|status| !status.is_terminal()))
                .map(|exec| format!("$ {}", first_line(&exec.command, &last.content))),
            _ => Some(first_line(&last.content, "").to_owned()).filter(|title| !title.is_empty()),
        }
    }

    /// Whether anything waits to be taken.
    pub(crate) fn has_changes(&self) -> bool {
        self.live.values().any(|live| live.changed)
    }

    /// Whether a message waits that is new.
    pub(crate) fn has_additions(&self) -> bool {
        self.live.values().any(|live| live.added)
    }

    /// How long what changed has to wait at least; `None` if nothing changed.
    pub(crate) fn next_due(&self, now: Timestamp) -> Option<Duration> {
        let millis = self.live.values().filter_map(|live| live.due_in(now)).min()?;
        Some(Duration::from_millis(millis.unsigned_abs()))
    }

    /// What changed since the last look and may be stored and told by now, in order of creation: a
    /// call that was told just before waits (S-027). What can change no more is let go.
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Vec<Changed> {
        self.take(|live| live.due_in(now) == Some(0), Some(now))
    }

    /// Everything that changed since the last look, in order of creation.
    pub(crate) fn take_changes(&mut self) -> Vec<Changed> {
        self.take(|live| live.changed, None)
    }

    fn take(&mut self, which: impl Fn(&Live) -> bool, now: Option<Timestamp>) -> Vec<Changed> {
        let taken = self.live.values_mut().filter(|live| which(live));
        let changes = taken.map(|live| live.take_change(now)).collect();
        self.let_go();
        changes
    }

    /// Messages that are held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.live.len()
    }

    /// The place of the next message.
    pub(crate) const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    fn add(
        &mut self,
        at: Stamp,
        kind: MessageKind,
        author: Author,
        content: String,
        metadata: Metadata<Option<model::OutputRecord>>,
    ) -> &mut Live {
        let seq = self.next_seq;
        self.next_seq += 1;
        let message = Message {
            id: MessageId::new((at.new_id)()),
            session_id: self.session_id,
            turn_id: self.turn_id,
            seq,
            kind,
            author,
            content,
            metadata,
            created_at: at.now,
            updated_at: at.now,
        };
        self.live.entry(seq).or_insert(Live::new(message))
    }
}

fn first_line<'a>(text: &'a str, fallback: &'a str) -> &'a str {
    let text = if text.trim().is_empty() { fallback } else { text };
    text.trim().lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
