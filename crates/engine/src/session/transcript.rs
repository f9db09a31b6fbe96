//! The messages of a session while its agent changes them: pure, no clock, no I/O.
//!
//! It holds only what can still change: streaming text, open tool calls, unanswered requests. What
//! changed is taken in one piece, so that however many updates came, each message is stored and told
//! once.

mod live;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use acp::PermissionKey;
use model::{
    Author, BodyChange, BodyExtent, BodyStream, Message, MessageId, MessageKind, Metadata,
    PermissionAnswer, PermissionOption, PermissionRequest, PlanEntry, SessionId, StoredMessage,
    Timestamp, ToolStatus, TurnId,
};
use shell_output::{CancelReason, Dialect, ShellCall, ToolFrame};
use uuid::Uuid;

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
    /// Calls that ended last: what an agent says about an end may follow it by some milliseconds.
    ended: VecDeque<u64>,
    /// Calls that have ended and are no longer held; an update of one makes no new row.
    settled: HashSet<String>,
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
            ended: VecDeque::new(),
            settled: HashSet::new(),
            asks: Vec::new(),
        }
    }

    /// A new process speaks: its call ids mean nothing to what the last one said.
    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Forgets the calls of a process that is gone.
    pub(crate) fn forget_calls(&mut self) {
        self.settle_calls();
        self.calls.clear();
        self.settled.clear();
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
        self.cancel_calls(at, CancelReason::User, |live| live.shell.is_some());
    }

    /// The agent is gone: nothing of it goes on, not even in the background.
    pub(crate) fn agent_gone(&mut self, at: Stamp, answer: &PermissionAnswer) {
        self.close_asks(at, answer);
        self.cancel_calls(at, CancelReason::User, |_| true);
    }

    /// Cancels those of the calls that have not ended.
    fn cancel_calls(&mut self, at: Stamp, reason: CancelReason, which: impl Fn(&Live) -> bool) {
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

    /// A frame about a tool call: makes its row, or changes it (S-019).
    pub(crate) fn tool(&mut self, at: Stamp, frame: &ToolFrame) {
        if self.settled.contains(&frame.call_id) {
            return;
        }
        let seq = match self.calls.get(&frame.call_id) {
            Some(seq) => *seq,
            None if self.turn_id.is_none() || frame.is_empty_update() => return,
            None => self.add_call(at, frame),
        };
        let dialect = &self.dialect;
        if let Some(live) = self.live.get_mut(&seq)
            && live.apply(frame, dialect)
        {
            live.touch(at.now);
        }
    }

    /// The agent asks leave.
    pub(crate) fn ask(
        &mut self,
        at: Stamp,
        key: PermissionKey,
        tool: Option<&ToolFrame>,
        options: Vec<PermissionOption>,
    ) {
        if let Some(frame) = tool {
            self.tool(at, frame);
        }
        let (subject, is_command) = tool.map_or_else(Default::default, |frame| self.subject(frame));
        let permission = PermissionRequest { subject, is_command, options, answer: None };
        let metadata = Metadata {
            tool_call_id: tool.map(|frame| frame.call_id.clone()),
            permission: Some(permission),
            ..Metadata::default()
        };
        self.text = None;
        let kind = MessageKind::PermissionRequest;
        let seq = self.add(at, kind, Author::Agent, String::new(), metadata).message.seq;
        self.asks.push((key, seq));
    }

    /// Takes a person's answer; the key tells the agent which request it is.
    pub(crate) fn answer_ask(
        &mut self,
        at: Stamp,
        message_id: MessageId,
        option_id: &str,
    ) -> Result<PermissionKey, AskError> {
        let position = self
            .asks
            .iter()
            .position(|(_, seq)| {
                self.live.get(seq).is_some_and(|live| live.message.id == message_id)
            })
            .ok_or(AskError::NotOpen)?;
        let (key, seq) = self.asks[position].clone();
        let has_option = self
            .live
            .get(&seq)
            .and_then(|live| live.message.metadata.permission.as_ref())
            .is_some_and(|ask| ask.options.iter().any(|option| option.id == option_id));
        if !has_option {
            return Err(AskError::NoSuchOption);
        }
        self.asks.remove(position);
        self.answer(at, seq, PermissionAnswer::Selected { option_id: option_id.to_owned() });
        Ok(key)
    }

    /// Closes the requests that wait, with this answer; their keys.
    pub(crate) fn close_asks(
        &mut self,
        at: Stamp,
        answer: &PermissionAnswer,
    ) -> Vec<PermissionKey> {
        let asks = std::mem::take(&mut self.asks);
        asks.into_iter()
            .map(|(key, seq)| {
                self.answer(at, seq, answer.clone());
                key
            })
            .collect()
    }

    /// The oldest request that waits.
    pub(crate) fn first_ask(&self) -> Option<(MessageId, PermissionRequest)> {
        let (_, seq) = self.asks.first()?;
        let message = &self.live.get(seq)?.message;
        Some((message.id, message.metadata.permission.clone()?))
    }

    /// What the agent does right now, in a few words.
    pub(crate) fn activity(&self) -> Option<String> {
        self.latest_work().map(|words| bounded(&words, ACTIVITY_BYTES))
    }

    fn latest_work(&self) -> Option<String> {
        let last = self.live.values().rev().map(|live| &live.message).find(|message| {
            message.author == Author::Agent && message.metadata.permission.is_none()
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

    /// Everything that changed since the last look, in order of creation. What can change no more
    /// is let go.
    pub(crate) fn take_changes(&mut self) -> Vec<Changed> {
        let changes =
            self.live.values_mut().filter(|live| live.changed).map(Live::take_change).collect();
        self.let_go();
        changes
    }

    /// Closes the books on every call that has ended, by the agent's word or by ours.
    fn settle_calls(&mut self) {
        self.ended.clear();
        let live = &mut self.live;
        let settled = &mut self.settled;
        self.calls.retain(|id, seq| {
            let call = live.get_mut(seq);
            let goes_on = call.as_ref().is_some_and(|call| !call.swept && call.is_open_call());
            if !goes_on {
                settled.insert(id.clone());
                if let Some(call) = call {
                    call.swept = false;
                }
            }
            goes_on
        });
    }

    fn let_go(&mut self) {
        for seq in self.calls.values() {
            let has_ended = self.live.get(seq).is_some_and(|live| !live.is_open_call());
            if has_ended && !self.ended.contains(seq) {
                self.ended.push_back(*seq);
            }
        }
        while self.ended.len() > ENDED_HELD {
            self.ended.pop_front();
        }
        let held: HashSet<u64> = self
            .text
            .into_iter()
            .chain(self.plan)
            .chain(self.asks.iter().map(|(_, seq)| *seq))
            .chain(self.ended.iter().copied())
            .collect();
        self.live.retain(|seq, live| held.contains(seq) || live.is_open_call());
        let live = &self.live;
        let settled = &mut self.settled;
        self.calls.retain(|id, seq| {
            let is_held = live.contains_key(seq);
            if !is_held {
                settled.insert(id.clone());
            }
            is_held
        });
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
        seq
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
        let live = Live { message, shell: None, changed: true, added: true, swept: false };
        self.live.entry(seq).or_insert(live)
    }

    fn answer(&mut self, at: Stamp, seq: u64, answer: PermissionAnswer) {
        let Some(live) = self.live.get_mut(&seq) else { return };
        if let Some(ask) = &mut live.message.metadata.permission {
            ask.answer = Some(answer);
        }
        live.touch(at.now);
    }

    /// What a request is about: the command, never its description; else the title.
    fn subject(&self, frame: &ToolFrame) -> (String, bool) {
        let row = self.calls.get(&frame.call_id).and_then(|seq| self.live.get(seq));
        let command = match row {
            Some(live) => live.message.shell_exec().map(|exec| exec.command.clone()),
            None => {
                let mut call = ShellCall::new(self.dialect.clone());
                call.apply(frame).changed.then(|| call.exec().command)
            }
        };
        match command.filter(|command| !command.is_empty()) {
            Some(command) => (bounded(&command, TEXT_BYTES), true),
            None => {
                let title = row.map(|live| live.message.content.clone());
                let title = title.or_else(|| frame.title.clone()).unwrap_or_default();
                (bounded(&title, LINE_BYTES), false)
            }
        }
    }
}

/// An answer that cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskError {
    NotOpen,
    NoSuchOption,
}

fn first_line<'a>(text: &'a str, fallback: &'a str) -> &'a str {
    let text = if text.trim().is_empty() { fallback } else { text };
    text.trim().lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
