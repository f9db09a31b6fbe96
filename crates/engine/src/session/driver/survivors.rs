//! Commands that may outlive their cancel, looked for until they have ended (S-025).

use std::{future::Future, pin::Pin, time::Duration};

use acp::survivor::{CancelledCommand, Table, end_survivor};
use model::{AgentProcess, ApiError, ErrorCode, MessageId, Timestamp};
use tokio::time::Instant;

use super::Driver;
use crate::{
    not_found,
    session::{Reply, transcript::OpenCommand},
};

/// What a command has to end when it is cancelled, and the time between two looks.
const GRACE: Duration = Duration::from_secs(5);

pub(super) type Looking = Pin<Box<dyn Future<Output = Look> + Send>>;

/// What a look found of the commands that it was about.
#[derive(Default)]
pub(super) struct Look {
    running: Vec<MessageId>,
    ended: Vec<MessageId>,
}

/// Commands that were cancelled and are not known to have ended.
#[derive(Default)]
pub(super) struct Survivors {
    watched: Vec<Survivor>,
    /// Those that were seen to run.
    seen: Vec<MessageId>,
    pub(super) look_at: Option<Instant>,
    pub(super) looking: Option<Looking>,
    /// The look ends one of them first, and somebody waits for that.
    is_ending: bool,
}

#[derive(Clone)]
struct Survivor {
    message_id: MessageId,
    command: CancelledCommand,
}

impl Survivors {
    pub(super) fn seen(&self) -> &[MessageId] {
        &self.seen
    }

    /// Looks after these from now on.
    pub(super) fn watch(&mut self, now: Timestamp, commands: Vec<OpenCommand>) {
        self.watched.extend(commands.into_iter().map(|open| Survivor {
            message_id: open.message_id,
            command: CancelledCommand {
                command: open.command,
                since: seconds(open.since),
                until: seconds(now),
            },
        }));
        self.look_again();
    }

    fn look_again(&mut self) {
        if self.watched.is_empty() {
            self.look_at = None;
        } else {
            self.look_at.get_or_insert_with(|| Instant::now() + GRACE);
        }
    }
}

impl Driver {
    /// Looks which of the cancelled commands still run.
    pub(super) fn look_for_survivors(&mut self) {
        self.survivors.look_at = None;
        let Some(process) = self.agent.as_ref().map(|agent| agent.process()) else { return };
        // One that is under way is followed by another.
        if self.survivors.looking.is_some() {
            return;
        }
        let watched = self.survivors.watched.clone();
        self.survivors.looking = Some(Box::pin(async move {
            let looking = tokio::task::spawn_blocking(move || look(&process, &watched));
            // Only a panic fails: then nothing is known to run.
            looking.await.unwrap_or_default()
        }));
    }

    /// Those that were looked for have been found, or have ended.
    pub(super) fn on_survivors(&mut self, found: Look) {
        let survivors = &mut self.survivors;
        survivors.looking = None;
        survivors.is_ending = false;
        // Commands that were cancelled meanwhile stay.
        survivors.watched.retain(|each| !found.ended.contains(&each.message_id));
        survivors.seen = found.running;
        survivors.look_again();
        self.tell_survivors();
    }

    /// Ends one, and then looks again.
    pub(super) fn end_command(&mut self, message_id: MessageId, reply: Reply<()>) {
        let is_seen = self.survivors.seen.contains(&message_id);
        let wanted = self.survivors.watched.iter().find(|each| each.message_id == message_id);
        let (Some(wanted), Some(agent), true) = (wanted.cloned(), &self.agent, is_seen) else {
            // Whoever asked has gone, or sees that it has ended.
            let _ = reply.send(Err(not_found("running command")));
            return;
        };
        if self.survivors.is_ending {
            let busy = "Another process is being ended. Try again in a moment.";
            let _ = reply.send(Err(ApiError::new(ErrorCode::Conflict, busy)));
            return;
        }
        let (process, watched) = (agent.process(), self.survivors.watched.clone());
        self.survivors.is_ending = true;
        self.survivors.looking = Some(Box::pin(async move {
            let ending = tokio::task::spawn_blocking(move || {
                let count = end_survivor(&process, &wanted.command);
                tracing::info!(count, session = %process.session_id, "ended a command");
                look(&process, &watched)
            });
            let left = ending.await.unwrap_or_default();
            let is_left = left.running.contains(&message_id);
            let answer = if is_left { Err(does_not_end()) } else { Ok(()) };
            let _ = reply.send(answer);
            left
        }));
    }

    /// The agent is gone, and with it all that it started.
    pub(super) fn forget_survivors(&mut self) {
        self.survivors = Survivors::default();
        self.tell_survivors();
    }
}

fn look(process: &AgentProcess, watched: &[Survivor]) -> Look {
    let (mut found, table) = (Look::default(), Table::read());
    for each in watched {
        let runs = table.survivor(process, &each.command).is_some();
        if runs { &mut found.running } else { &mut found.ended }.push(each.message_id);
    }
    found
}

fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis() / 1000).unwrap_or(0)
}

fn does_not_end() -> ApiError {
    ApiError::new(ErrorCode::Conflict, "The process does not end.")
}
