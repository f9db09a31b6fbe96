//! A session's life: turns, and the agent that works them. Pure: it says what is to be done, the
//! driver does it.

mod agent_session;
mod offers;
mod queue;

pub(crate) use offers::Chosen;

use std::{sync::Arc, time::Duration};

use acp::{AgentEvent, PermissionKey, RpcError, RpcErrorKind, StopReason};
use model::{
    AgentIdentity, ApiError, ErrorCode, MessageId, MessageKind, Offers, OptionKind,
    PermissionAnswer, Session, SessionState, Timestamp, Turn, TurnId, TurnOutcome,
};
use shell_output::{CancelReason, Dialect};

use super::{
    changes::Changes,
    known::KnownCalls,
    transcript::{AskError, Changed, Stamp, Transcript},
    words::{exit_words, limit_note},
};
use crate::{recovery, safe_text::safe_text};

/// What the driver has to do, in this order, after it has stored what changed.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Start the agent; report [`Machine::identified`] when it has named itself, and in the end
    /// [`Machine::ready`], [`Machine::resumed`] or [`Machine::start_failed`].
    StartAgent,
    /// Send the prompt of this token.
    Prompt { agent_session: String, text: String, token: u64 },
    /// Ask the agent to stop.
    Cancel { agent_session: String },
    /// Report [`Machine::cancel_overdue`] with this token if it still has not stopped after a while.
    ArmCancelDeadline { token: u64 },
    /// Answer a permission request; none: it is cancelled.
    Respond { key: PermissionKey, option_id: Option<String> },
    /// End the agent's process.
    EndAgent,
}

pub(crate) struct Machine {
    session: Session,
    turn: Option<Turn>,
    active: Option<ActiveTurn>,
    agent: AgentPhase,
    transcript: Transcript,
    /// The agent ended over its earlier session, so that another one is begun.
    starts_afresh: bool,
    /// A turn was completed, so that what waits behind it may be sent.
    goes_on: bool,
    next_token: u64,
    /// Shared, since it is looked at with every change and seldom changes itself.
    offers: Arc<Offers>,
    offers_changed: bool,
    session_changed: bool,
    turn_changed: bool,
    effects: Vec<Effect>,
}

/// A turn that is under way.
struct ActiveTurn {
    token: u64,
    /// The prompt, while the agent is not there to take it.
    unsent: Option<String>,
    cancelled: bool,
}

enum AgentPhase {
    Absent,
    /// Its messages begin at this place.
    Starting {
        first_seq: u64,
    },
    Ready {
        agent_session: String,
    },
}

impl Machine {
    pub(crate) fn new(
        session: Session,
        turn: Option<Turn>,
        last_seq: u64,
        dialect: Dialect,
    ) -> Self {
        Self {
            transcript: Transcript::new(session.id, last_seq, dialect),
            session,
            turn,
            active: None,
            agent: AgentPhase::Absent,
            starts_afresh: false,
            goes_on: false,
            next_token: 0,
            offers: Arc::default(),
            offers_changed: false,
            session_changed: false,
            turn_changed: false,
            effects: Vec::new(),
        }
    }

    pub(crate) const fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) const fn turn(&self) -> Option<&Turn> {
        self.turn.as_ref()
    }

    pub(crate) const fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// No agent and no turn: nothing will happen unless someone asks.
    pub(crate) const fn is_dormant(&self) -> bool {
        matches!(self.agent, AgentPhase::Absent) && self.active.is_none()
    }

    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether what changed must be stored durably, and told, before anything else is done.
    pub(crate) const fn is_urgent(&self) -> bool {
        self.session_changed || self.turn_changed || !self.effects.is_empty()
    }

    pub(crate) fn has_changes(&self) -> bool {
        let has_facts = self.session_changed || self.turn_changed || self.offers_changed;
        has_facts || self.transcript.has_changes()
    }

    /// How long what changed has to wait at least; `None` if nothing changed.
    pub(crate) fn next_due(&self, now: Timestamp) -> Option<Duration> {
        if self.session_changed || self.turn_changed || self.offers_changed {
            return Some(Duration::ZERO);
        }
        self.transcript.next_due(now)
    }

    /// What changed and may be stored and told by now (S-027).
    pub(crate) fn take_due(&mut self, now: Timestamp) -> Changes {
        let messages = self.transcript.take_due(now);
        self.changes(messages)
    }

    /// Everything that changed.
    pub(crate) fn take_changes(&mut self) -> Changes {
        let messages = self.transcript.take_changes();
        self.changes(messages)
    }

    fn changes(&mut self, messages: Vec<Changed>) -> Changes {
        Changes {
            messages,
            offers: std::mem::take(&mut self.offers_changed),
            session: std::mem::take(&mut self.session_changed).then(|| self.session.clone()),
            turn: if std::mem::take(&mut self.turn_changed) { self.turn.clone() } else { None },
        }
    }

    /// Whether a turn is under way.
    pub(crate) const fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// A person prompts the agent; the id of the message, or of its place in the queue.
    pub(crate) fn prompt(
        &mut self,
        at: Stamp,
        text: String,
        client_message_id: Option<String>,
    ) -> Result<MessageId, ApiError> {
        if self.active.is_some() {
            return self.queue(at, text, client_message_id);
        }
        let turn_id = TurnId::new((at.new_id)());
        self.turn = Some(Turn {
            id: turn_id,
            session_id: self.session.id,
            started_at: at.now,
            ended_at: None,
            outcome: None,
        });
        self.turn_changed = true;
        self.next_token += 1;
        let token = self.next_token;
        let message_id = self.transcript.begin_turn(at, turn_id, text.clone(), client_message_id);
        let unsent = match &self.agent {
            AgentPhase::Ready { agent_session } => {
                let agent_session = agent_session.clone();
                self.effects.push(Effect::Prompt { agent_session, text, token });
                None
            }
            AgentPhase::Starting { .. } => Some(text),
            AgentPhase::Absent => {
                self.agent = AgentPhase::Starting { first_seq: self.transcript.next_seq() };
                self.transcript.known = KnownCalls::none();
                self.effects.push(Effect::StartAgent);
                Some(text)
            }
        };
        let state = if unsent.is_some() { SessionState::Starting } else { SessionState::Running };
        self.active = Some(ActiveTurn { token, unsent, cancelled: false });
        self.session.error = None;
        self.set_state(at, state);
        Ok(message_id)
    }

    /// The agent named itself.
    pub(crate) fn identified(&mut self, at: Stamp, identity: AgentIdentity, dialect: Dialect) {
        self.transcript.forget_calls();
        self.transcript.set_dialect(dialect);
        if self.session.identity != identity {
            self.session.identity = identity;
            self.session.updated_at = at.now;
            self.session_changed = true;
        }
    }

    /// The agent could not be started.
    pub(crate) fn start_failed(&mut self, at: Stamp, message: &str) {
        self.lose_agent(at);
        self.fail(at, message);
    }

    /// The person stops the turn.
    pub(crate) fn cancel(&mut self, at: Stamp) {
        let Some(active) = &mut self.active else { return };
        if active.cancelled {
            return;
        }
        active.cancelled = true;
        let token = active.token;
        self.transcript.cancel_commands(at);
        match &self.agent {
            AgentPhase::Ready { agent_session } => {
                let agent_session = agent_session.clone();
                self.close_asks(at, &PermissionAnswer::Cancelled);
                self.effects.push(Effect::Cancel { agent_session });
                self.effects.push(Effect::ArmCancelDeadline { token });
            }
            AgentPhase::Starting { .. } | AgentPhase::Absent => {
                self.lose_agent(at);
                self.end_turn(at, TurnOutcome::Cancelled, SessionState::WaitingForInput);
            }
        }
    }

    /// The agent has not stopped in time: the turn ends without it.
    pub(crate) fn cancel_overdue(&mut self, at: Stamp, token: u64) {
        if self.active.as_ref().is_some_and(|active| active.token == token && active.cancelled) {
            let text = "The agent did not stop when asked, so it was ended.";
            self.transcript.note(at, MessageKind::Status, text.into());
            self.lose_agent(at);
            self.end_turn(at, TurnOutcome::Cancelled, SessionState::WaitingForInput);
        }
    }

    /// The person answers a permission request.
    pub(crate) fn answer(
        &mut self,
        at: Stamp,
        message_id: MessageId,
        option_id: &str,
    ) -> Result<(), ApiError> {
        let key =
            self.transcript.answer_ask(at, message_id, option_id).map_err(|err| match err {
                AskError::NotOpen => {
                    ApiError::new(ErrorCode::NotFound, "The agent no longer waits for this answer.")
                }
                AskError::NoSuchOption => ApiError::new(
                    ErrorCode::ValidationError,
                    "The agent does not take this answer.",
                ),
            })?;
        self.effects.push(Effect::Respond { key, option_id: Some(option_id.to_owned()) });
        Ok(())
    }

    /// The server ends.
    pub(crate) fn interrupt(&mut self, at: Stamp) {
        self.lose_agent(at);
        if self.active.is_some() {
            self.transcript.note(at, MessageKind::Status, recovery::NOTE.into());
            self.end_turn(at, TurnOutcome::Interrupted, SessionState::WaitingForInput);
        }
    }

    /// The store refused what happened. What cannot be stored goes no further.
    pub(crate) fn abandon(&mut self, at: Stamp) {
        if self.active.is_some() {
            self.lose_agent(at);
            self.fail(at, "Kandev could not store what happened, so the turn was ended.");
        }
    }

    /// The agent says something, or ends. What it says of a call may need [`Self::recall`] first.
    pub(crate) fn agent(&mut self, at: Stamp, event: AgentEvent) {
        match event {
            AgentEvent::Text(text) => self.transcript.text(at, MessageKind::Message, &text),
            AgentEvent::Thought(text) => self.transcript.text(at, MessageKind::Thinking, &text),
            AgentEvent::Plan(entries) => self.transcript.plan(at, entries),
            AgentEvent::Tool(frame) => self.transcript.tool(at, &frame),
            AgentEvent::History(frame) => self.transcript.history(at, &frame),
            AgentEvent::Commands(commands) => self.change_offers(|it| it.commands = commands),
            AgentEvent::Options(options) => self.configured(options),
            AgentEvent::Mode(mode) => self.set_choice(OptionKind::Mode, "mode", &mode),
            AgentEvent::Usage(usage) => self.change_offers(|it| it.usage = Some(usage)),
            AgentEvent::Permission { key, tool, options } => {
                if self.active.as_ref().is_some_and(|active| active.cancelled) {
                    self.effects.push(Effect::Respond { key, option_id: None });
                } else {
                    self.transcript.ask(at, key, tool.as_ref(), options);
                }
            }
            AgentEvent::PromptEnded { token, result } => self.prompt_ended(at, token, result),
            AgentEvent::Exited(exit) => self.agent_exited(at, &exit),
            // What we said ourselves, and what nothing here shows.
            AgentEvent::UserText(_) | AgentEvent::Other { .. } => {}
        }
    }

    fn prompt_ended(&mut self, at: Stamp, token: u64, result: Result<StopReason, RpcError>) {
        let Some(active) = self.active.as_ref().filter(|active| active.token == token) else {
            return;
        };
        if active.cancelled {
            return self.end_turn(at, TurnOutcome::Cancelled, SessionState::WaitingForInput);
        }
        match result {
            Ok(StopReason::Cancelled) => {
                self.end_turn(at, TurnOutcome::Cancelled, SessionState::WaitingForInput);
            }
            Ok(StopReason::Refusal) => {
                let text = "The agent refused to go on.";
                self.transcript.note(at, MessageKind::Status, text.into());
                self.end_turn(at, TurnOutcome::Refused, SessionState::WaitingForInput);
            }
            Ok(reason) => {
                if let Some(text) = limit_note(&reason) {
                    self.transcript.note(at, MessageKind::Status, text.into());
                }
                self.end_turn(at, TurnOutcome::Completed, SessionState::WaitingForInput);
            }
            // How it ended, its last event says.
            Err(error) if error.kind == RpcErrorKind::Ended => {}
            Err(error) => {
                let message = match safe_text(&error.to_string()) {
                    text if text.is_empty() => {
                        format!("{} reported an error.", self.session.agent_name)
                    }
                    text => text,
                };
                self.fail(at, &message);
            }
        }
    }

    fn agent_exited(&mut self, at: Stamp, exit: &acp::Exit) {
        // While it starts, the start itself reports what went wrong.
        if !matches!(self.agent, AgentPhase::Ready { .. }) {
            return;
        }
        self.lose_agent(at);
        match &self.active {
            Some(active) if active.cancelled => {
                self.end_turn(at, TurnOutcome::Cancelled, SessionState::WaitingForInput);
            }
            Some(_) => {
                let name = &self.session.agent_name;
                let message =
                    format!("{name} ended in the middle of its work ({}).", exit_words(exit));
                self.fail(at, &message);
            }
            None => {}
        }
    }

    fn fail(&mut self, at: Stamp, message: &str) {
        self.transcript.note(at, MessageKind::Error, message.to_owned());
        self.session.error = Some(message.to_owned());
        self.end_turn(at, TurnOutcome::Failed, SessionState::Failed);
    }

    fn end_turn(&mut self, at: Stamp, outcome: TurnOutcome, state: SessionState) {
        if self.active.take().is_none() {
            return;
        }
        let (reason, asks) = match outcome {
            TurnOutcome::Cancelled => (CancelReason::User, PermissionAnswer::Cancelled),
            _ => (CancelReason::Sweep, PermissionAnswer::Void),
        };
        self.goes_on = outcome == TurnOutcome::Completed;
        self.close_asks(at, &asks);
        self.transcript.end_turn(at, reason);
        if let Some(turn) = &mut self.turn {
            turn.ended_at = Some(at.now);
            turn.outcome = Some(outcome);
            self.turn_changed = true;
        }
        self.set_state(at, state);
    }

    /// There is no agent from now on. Its open requests are void, unless the person cancelled them.
    fn lose_agent(&mut self, at: Stamp) {
        self.agent = AgentPhase::Absent;
        self.change_offers(|offers| *offers = Offers::default());
        self.effects.push(Effect::EndAgent);
        let is_cancelled = self.active.as_ref().is_some_and(|active| active.cancelled);
        let answer =
            if is_cancelled { PermissionAnswer::Cancelled } else { PermissionAnswer::Void };
        self.transcript.agent_gone(at, &answer);
    }

    /// Closes the open requests and, while there is an agent, tells it that they are cancelled.
    fn close_asks(&mut self, at: Stamp, answer: &PermissionAnswer) {
        let keys = self.transcript.close_asks(at, answer);
        if matches!(self.agent, AgentPhase::Ready { .. }) {
            self.effects
                .extend(keys.into_iter().map(|key| Effect::Respond { key, option_id: None }));
        }
    }

    fn set_state(&mut self, at: Stamp, state: SessionState) {
        self.session.state = state;
        self.session.updated_at = at.now;
        self.session_changed = true;
    }
}

pub(crate) fn still_working() -> ApiError {
    ApiError::new(ErrorCode::Conflict, "The agent is still working.")
        .with_hint("Stop it, or wait until it is done.")
}

#[cfg(test)]
mod tests;
