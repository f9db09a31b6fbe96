//! The task of one session: feeds the machine, stores and tells what changed, does its effects.
//!
//! Whatever came is stored before it is told, and what a person is promised is durable first.
//! What streams is taken a few times a second.

mod agent;
mod choice;
mod survivors;
mod tell;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use acp::{Agent, AgentEvent, Initialized};
use model::{AgentProfile, ApiError, MessageId, Session, SessionId, Turn};
use shell_output::Dialect;
use store::StoreError;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use self::{
    choice::{Choosing, Taken},
    survivors::{Look, Survivors},
};
use super::{
    Command, FLUSH_INTERVAL,
    changes::Changes,
    launch::{Opened, StartFailure},
    machine::{Effect, Machine, still_working},
    transcript::Stamp,
};
use crate::{Engine, board::LiveFacts, clock, internal, lock, not_found, recovery};

/// Between two tries to store what was refused.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Events that are taken before what changed is looked at.
const BATCH: usize = 256;

/// What a session's task starts from.
pub(super) struct Seed {
    session: Session,
    turn: Option<Turn>,
    last_seq: u64,
    profile: AgentProfile,
}

impl Seed {
    pub(super) async fn read(engine: &Engine, session_id: SessionId) -> Result<Self, ApiError> {
        Self::settle(engine, session_id).await?;
        engine
            .read(move |reader| {
                let Some(session) = reader.session(session_id)? else { return Ok(None) };
                let Some(profile) = reader.profile(session.profile_id)? else { return Ok(None) };
                let turn = reader.last_turn(session_id)?;
                let last_seq = reader.last_seq(session_id)?;
                Ok(Some(Self { session, turn, last_seq, profile }))
            })
            .await?
            .ok_or_else(|| not_found("session"))
    }

    /// Settles a turn that the session's last task left in the middle, because it panicked.
    async fn settle(engine: &Engine, session_id: SessionId) -> Result<(), ApiError> {
        let ops = engine
            .read(move |reader| recovery::interrupt_last(reader, session_id, clock::now()))
            .await?;
        if ops.is_empty() {
            return Ok(());
        }
        engine.store().commit(ops).await.map_err(|err| internal(&err))
    }
}

type Starting = Pin<Box<dyn Future<Output = Result<Progress, StartFailure>> + Send>>;

/// How far a start has come.
enum Progress {
    /// Nothing of an earlier run is left, so that a process can be started.
    Clear,
    /// The agent has named itself.
    Initialized(Initialized),
    /// The agent takes prompts.
    Open(Opened),
}

struct Driver {
    engine: Engine,
    profile: AgentProfile,
    machine: Machine,
    agent: Option<Arc<Agent>>,
    events: Option<mpsc::Receiver<AgentEvent>>,
    starting: Option<Starting>,
    last_flush: Instant,
    flush_at: Option<Instant>,
    cancel_deadline: Option<(Instant, u64)>,
    /// What the store refused; it comes before anything newer.
    unstored: Option<Changes>,
    facts: LiveFacts,
    survivors: Survivors,
    choosing: Option<Choosing>,
}

/// Works for one session until nothing is left to do or the server ends.
pub(super) async fn run(engine: Engine, seed: Seed, mut commands: mpsc::Receiver<Command>) {
    let Seed { session, turn, last_seq, profile } = seed;
    let session_id = session.id;
    let dialect = Dialect::new(session.agent, &[]);
    let mut driver = Driver {
        machine: Machine::new(session, turn, last_seq, dialect),
        engine: engine.clone(),
        profile,
        agent: None,
        events: None,
        starting: None,
        last_flush: Instant::now(),
        flush_at: None,
        cancel_deadline: None,
        unstored: None,
        facts: LiveFacts::default(),
        survivors: Survivors::default(),
        choosing: None,
    };
    while let Some(wake) = driver.next(&mut commands).await {
        let ends = matches!(wake, Wake::Command(Command::End { .. }) | Wake::Stopping);
        driver.on(wake).await;
        if leave(&engine, session_id, &mut commands, ends, driver.is_idle()) {
            break;
        }
    }
}

/// Ends the task if it must, or if nothing is left to do and nobody asks. Commands are closed under
/// the lock that hands out this task's handle, so none is lost.
fn leave(
    engine: &Engine,
    session_id: SessionId,
    commands: &mut mpsc::Receiver<Command>,
    must: bool,
    is_idle: bool,
) -> bool {
    let mut sessions = lock(&engine.shared.sessions);
    let is_needed = !is_idle || !commands.is_empty();
    if is_needed && !must {
        return false;
    }
    commands.close();
    sessions.remove(&session_id);
    lock(&engine.shared.live).remove(&session_id);
    true
}

/// Why the task goes on.
enum Wake {
    Command(Command),
    Agent(Box<AgentEvent>),
    /// The agent's events are over.
    AgentGone,
    Started(Result<Progress, StartFailure>),
    Flush,
    CancelOverdue(u64),
    SurvivorsDue,
    Survivors(Look),
    Chosen(Box<Taken>),
    Stopping,
}

impl Driver {
    async fn next(&mut self, commands: &mut mpsc::Receiver<Command>) -> Option<Wake> {
        let stopping = self.engine.shared.stopping.clone();
        let flush_at = self.flush_at;
        let deadline = self.cancel_deadline;
        tokio::select! {
            biased;
            () = stopping.cancelled() => Some(Wake::Stopping),
            command = commands.recv() => command.map(Wake::Command),
            () = at(flush_at) => Some(Wake::Flush),
            () = at(deadline.map(|(at, _)| at)) => {
                deadline.map(|(_, token)| Wake::CancelOverdue(token))
            }
            () = at(self.survivors.look_at) => Some(Wake::SurvivorsDue),
            running = pending(&mut self.survivors.looking) => Some(Wake::Survivors(running)),
            taken = pending(&mut self.choosing) => Some(Wake::Chosen(Box::new(taken))),
            started = pending(&mut self.starting) => Some(Wake::Started(started)),
            event = next_event(&mut self.events) => {
                Some(event.map_or(Wake::AgentGone, |event| Wake::Agent(Box::new(event))))
            },
        }
    }

    async fn on(&mut self, wake: Wake) {
        match wake {
            Wake::Command(command) => self.on_command(command).await,
            Wake::Agent(event) => {
                self.on_agent(*event).await;
                self.settle_logged().await;
            }
            Wake::AgentGone => self.events = None,
            Wake::Started(result) => {
                self.starting = None;
                self.on_started(result).await;
                self.settle_logged().await;
            }
            Wake::Flush => {
                self.flush().await;
                self.schedule_flush();
            }
            Wake::CancelOverdue(token) => {
                self.cancel_deadline = None;
                self.machine.cancel_overdue(stamp(), token);
                self.settle_logged().await;
            }
            Wake::SurvivorsDue => self.look_for_survivors(),
            Wake::Survivors(running) => self.on_survivors(running),
            Wake::Chosen(taken) => {
                self.on_chosen(*taken);
                self.settle_logged().await;
            }
            // A failure was logged; there is no later to try again.
            Wake::Stopping => drop(self.end().await),
        }
    }

    async fn on_command(&mut self, command: Command) {
        match command {
            Command::Prompt { content, client_message_id, reply } => {
                let answer = self.prompt(content, client_message_id).await;
                // The asker may have gone; the prompt counts all the same.
                let _ = reply.send(answer);
            }
            Command::StartOver { content, reply } => {
                let answer = if self.machine.is_active() {
                    Err(still_working())
                } else {
                    self.prompt(content, None).await
                };
                let _ = reply.send(answer);
            }
            Command::Unqueue { id, reply } => {
                let queued = self.machine.unqueue(stamp(), id);
                let _ = reply.send(self.settled(queued).await);
            }
            Command::SendQueued { id, reply } => {
                let message_id = self.machine.send_queued(stamp(), id);
                let _ = reply.send(self.settled(message_id).await);
            }
            Command::Choose { kind, id, value, reply } => self.choose(kind, &id, &value, reply),
            Command::Cancel { reply } => {
                let open = self.machine.transcript().open_commands();
                self.survivors.watch(clock::now(), open);
                self.machine.cancel(stamp());
                let settled = self.settle().await;
                let _ = reply.send(settled);
            }
            Command::Answer { message_id, option_id, reply } => {
                let answered = self.machine.answer(stamp(), message_id, &option_id);
                let _ = reply.send(self.settled(answered).await);
            }
            Command::EndProcess { message_id, reply } => self.end_command(message_id, reply),
            Command::End { reply } => {
                let ended = self.end().await;
                let _ = reply.send(ended);
            }
        }
    }

    /// Ends the agent and its turn. What still waited to be stored and told waits no longer.
    async fn end(&mut self) -> Result<(), ApiError> {
        self.machine.interrupt(stamp());
        self.settle().await?;
        let rest = self.machine.take_changes();
        self.store(rest, true).await
    }

    async fn prompt(
        &mut self,
        content: String,
        client_id: Option<String>,
    ) -> Result<MessageId, ApiError> {
        let session_id = self.machine.session().id;
        if let Some(client_id) = client_id.clone() {
            let known = self
                .engine
                .read(move |reader| reader.message_by_client_id(session_id, &client_id))
                .await?;
            if let Some(message) = known {
                return Ok(message.id);
            }
        }
        let message_id = self.machine.prompt(stamp(), content, client_id);
        self.settled(message_id).await
    }

    /// Takes an event, and those that already wait behind it.
    async fn on_agent(&mut self, event: AgentEvent) {
        self.take(event).await;
        for _ in 0..BATCH {
            let Some(Ok(event)) = self.events.as_mut().map(mpsc::Receiver::try_recv) else {
                return;
            };
            self.take(event).await;
            if self.machine.is_urgent() {
                return;
            }
        }
    }

    /// Takes an event, behind the call that it is about, if only the store still has that. While
    /// the store refuses what is newer, what it has is not to be built on.
    async fn take(&mut self, event: AgentEvent) {
        let recall = self.machine.recall(&event).filter(|_| self.unstored.is_none());
        if let Some(recall) = recall {
            // A failure was logged; a call that cannot be read is like one that nobody knows.
            let found = self.engine.read(move |reader| recall.read(reader)).await;
            if let Ok(Some(row)) = found {
                self.machine.recalled(stamp(), row);
            }
        }
        self.machine.agent(stamp(), event);
    }

    /// Stores and tells what changed, now or soon, and does what the machine wants done.
    async fn settle(&mut self) -> Result<(), ApiError> {
        loop {
            if self.machine.is_urgent() {
                let effects = self.machine.take_effects();
                if let Err(err) = self.store_changes(true).await {
                    self.abandon().await;
                    self.release(effects).await;
                    return Err(err);
                }
                for effect in effects {
                    self.perform(effect).await;
                }
            } else {
                // The end of a turn is stored before the next one begins.
                self.machine.go_on(stamp());
                if !self.machine.is_urgent() {
                    self.flush_or_wait().await;
                    return Ok(());
                }
            }
        }
    }

    /// The answer to a person, once what it did is stored.
    async fn settled<T>(&mut self, done: Result<T, ApiError>) -> Result<T, ApiError> {
        let done = done?;
        self.settle().await?;
        Ok(done)
    }

    /// Where nobody waits for the answer: a failure was logged, and ended the turn.
    async fn settle_logged(&mut self) {
        let _ = self.settle().await;
    }

    /// What happened could not be stored, so nothing more is to happen.
    async fn abandon(&mut self) {
        self.machine.abandon(stamp());
        for effect in self.machine.take_effects() {
            self.perform(effect).await;
        }
        self.flush_at = Some(Instant::now() + RETRY_INTERVAL);
    }

    /// What could not be stored goes no further, but nobody is left running or waiting for it.
    async fn release(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::EndAgent => self.perform(effect).await,
                Effect::Respond { key, .. } => {
                    self.perform(Effect::Respond { key, option_id: None }).await;
                }
                _ => {}
            }
        }
    }

    async fn flush_or_wait(&mut self) {
        if self.unstored.is_none() && self.flush_due().is_some_and(|due| due <= Instant::now()) {
            self.flush().await;
        }
        self.schedule_flush();
    }

    /// What was refused is tried again at its own time, and the rest waits behind it.
    fn schedule_flush(&mut self) {
        if self.unstored.is_none() {
            self.flush_at = self.flush_due();
        }
    }

    /// When what changed is to be looked at.
    fn flush_due(&self) -> Option<Instant> {
        let due = Instant::now() + self.machine.next_due(clock::now())?;
        Some(due.max(self.last_flush + FLUSH_INTERVAL))
    }

    async fn flush(&mut self) {
        self.flush_at = None;
        // A row that people saw appear outlives a crash; what streams into it may lag a second.
        let durable = self.machine.is_urgent() || self.machine.transcript().has_additions();
        if self.store_changes(durable).await.is_err() {
            self.abandon().await;
        }
    }

    /// Stores what changed and is due, and then tells it. What the store refuses is kept for the
    /// next try, and what came later waits behind it: changes of a body build on each other.
    async fn store_changes(&mut self, durable: bool) -> Result<(), ApiError> {
        self.last_flush = Instant::now();
        if let Some(refused) = self.unstored.take() {
            self.store(refused, true).await?;
        }
        let changes = self.machine.take_due(clock::now());
        self.store(changes, durable).await
    }

    async fn store(&mut self, changes: Changes, durable: bool) -> Result<(), ApiError> {
        let ops = changes.to_ops();
        if !ops.is_empty() {
            let store = self.engine.store();
            let stored =
                if durable { store.commit(ops).await } else { store.commit_lazy(ops).await };
            match stored {
                Ok(()) => {}
                // Its task was deleted.
                Err(StoreError::Orphan { .. }) => return Ok(()),
                Err(err) => {
                    self.unstored = Some(changes);
                    return Err(internal(&err));
                }
            }
        }
        self.tell(changes).await;
        Ok(())
    }

    /// Nothing is left to do.
    fn is_idle(&self) -> bool {
        let is_stored = self.unstored.is_none() && !self.machine.has_changes();
        self.machine.is_dormant() && is_stored && self.starting.is_none()
    }
}

fn stamp() -> Stamp {
    Stamp { now: clock::now(), new_id: clock::new_id }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

async fn pending<T>(future: &mut Option<Pin<Box<dyn Future<Output = T> + Send>>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn next_event(events: &mut Option<mpsc::Receiver<AgentEvent>>) -> Option<AgentEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}
