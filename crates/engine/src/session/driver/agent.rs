//! The agent's process, as its session's task starts, uses and ends it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use acp::{Agent, AgentEvent, Exit, Initialized, PermissionOutcome, Tap};
use model::LaunchCommand;
use shell_output::Dialect;
use store::Op;
use tokio::time::Instant;

use super::{Driver, Progress, stamp};
use crate::{
    internal,
    session::{
        launch::{self, Cause, Opened, StartFailure},
        machine::Effect,
    },
};

/// What an agent has to stop when asked.
const CANCEL_GRACE: Duration = Duration::from_secs(10);
/// What an agent has to end when its input is closed.
const END_GRACE: Duration = Duration::from_millis(1500);
/// The same when the whole server ends, which has to be over soon.
const STOP_GRACE: Duration = Duration::from_millis(500);

impl Driver {
    pub(super) async fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::StartAgent => self.start_agent().await,
            Effect::Prompt { agent_session, text, token } => {
                self.with_agent(|agent| agent.prompt(&agent_session, &text, token).is_ok());
            }
            Effect::Cancel { agent_session } => {
                self.with_agent(|agent| agent.cancel(&agent_session).is_ok());
            }
            Effect::ArmCancelDeadline { token } => {
                self.cancel_deadline = Some((Instant::now() + CANCEL_GRACE, token));
            }
            Effect::Respond { key, option_id } => {
                let outcome = option_id.map_or(PermissionOutcome::Cancelled, |id| {
                    PermissionOutcome::Selected { option_id: id }
                });
                self.with_agent(|agent| agent.respond(key, outcome).is_ok());
            }
            Effect::EndAgent => self.end_agent().await,
        }
    }

    /// An agent that takes nothing any more has ended, and its last event says so.
    fn with_agent(&self, act: impl FnOnce(&Agent) -> bool) {
        if !self.agent.as_deref().is_some_and(act) {
            tracing::debug!(session = %self.machine.session().id, "the agent is gone");
        }
    }

    /// Starts the agent, as soon as nothing of an earlier run can be taken for it.
    async fn start_agent(&mut self) {
        self.end_agent().await;
        let swept = self.engine.shared.swept.clone();
        if swept.is_cancelled() {
            return self.spawn_agent().await;
        }
        self.starting = Some(Box::pin(async move {
            swept.cancelled().await;
            Ok(Progress::Clear)
        }));
    }

    async fn spawn_agent(&mut self) {
        let session = self.machine.session();
        let command = match self.engine.launch_command(&self.profile) {
            Ok(command) => command,
            Err(reason) => {
                self.machine.start_failed(stamp(), &reason);
                return;
            }
        };
        let tap = self.begin_recording(&command);
        let launch = launch::launch_of(session, command, tap);
        let (agent, events) = match Agent::spawn(launch) {
            Ok(spawned) => spawned,
            Err(err) => {
                self.machine.start_failed(stamp(), &launch::not_spawned(&self.profile, &err));
                return;
            }
        };
        let process = agent.process();
        tracing::info!(session = %session.id, agent = %self.profile.name, pid = process.pid, "agent started");
        if let Err(err) = self.engine.store().commit(vec![Op::PutProcess(process)]).await {
            let message = internal(&err).message;
            agent.shutdown(Duration::ZERO).await;
            self.machine.start_failed(stamp(), &message);
            return;
        }
        let agent = Arc::new(agent);
        let asking = launch::initialize(agent.clone(), self.profile.clone());
        self.starting = Some(Box::pin(async { asking.await.map(Progress::Initialized) }));
        self.agent = Some(agent);
        self.events = Some(events);
    }

    /// Begins to record the agent that is about to start, where that was asked for. A recording
    /// that cannot be written is no reason not to work.
    fn begin_recording(&self, command: &LaunchCommand) -> Option<Tap> {
        let recorder = self.engine.shared.recorder.as_ref()?;
        let session = self.machine.session().id;
        match recorder.begin(session, command) {
            Ok((tap, recording)) => {
                self.engine.shared.tasks.spawn_blocking(move || recording.write());
                Some(tap)
            }
            Err(err) => {
                tracing::error!(%err, %session, "an agent cannot be recorded");
                None
            }
        }
    }

    async fn end_agent(&mut self) {
        self.starting = None;
        self.events = None;
        self.cancel_deadline = None;
        self.choosing = None;
        self.forget_survivors();
        let Some(agent) = self.agent.take() else { return };
        let process = agent.process();
        let is_stopping = self.engine.shared.stopping.is_cancelled();
        agent.shutdown(if is_stopping { STOP_GRACE } else { END_GRACE }).await;
        tracing::info!(session = %process.session_id, pid = process.pid, "agent ended");
        let forget = Op::DeleteProcess { session_id: process.session_id, pid: process.pid };
        if let Err(err) = self.engine.store().commit_lazy(vec![forget]).await {
            tracing::warn!(%err, "could not forget an agent's process");
        }
    }

    pub(super) async fn on_started(&mut self, result: Result<Progress, StartFailure>) {
        match result {
            Ok(Progress::Clear) => self.spawn_agent().await,
            Ok(Progress::Initialized(initialized)) => self.open_session(initialized),
            Ok(Progress::Open(opened)) => {
                let options = match opened {
                    Opened::New(session) => {
                        self.machine.ready(stamp(), session.id);
                        session.options
                    }
                    Opened::Resumed(session) => {
                        self.machine.resumed(stamp(), session.id);
                        session.options
                    }
                };
                self.machine.opened_with(options);
            }
            Err(StartFailure { cause, over_earlier }) => {
                if over_earlier {
                    self.machine.give_up_earlier_session();
                }
                let message = match cause {
                    Cause::Refused(message) => message,
                    Cause::Ended => {
                        let exit = self.exit_of_agent().await;
                        launch::ended(&self.profile, exit.as_ref())
                    }
                };
                self.machine.start_failed(stamp(), &message);
            }
        }
    }

    /// Opens the agent's session. What it tells of an earlier one comes in its own dialect.
    fn open_session(&mut self, initialized: Initialized) {
        let Some(agent) = self.agent.clone() else { return };
        let kind = agents::dialect_agent(&initialized.identity, self.profile.agent);
        let dialect = Dialect::new(kind, &agents::departures(&initialized.identity));
        self.machine.identified(stamp(), initialized.identity.clone(), dialect);
        let earlier = self.machine.earlier_session().map(str::to_owned);
        let work_dir = PathBuf::from(&self.machine.session().work_dir);
        let profile = self.profile.clone();
        let opening = launch::open_session(agent, profile, initialized, earlier, work_dir);
        self.starting = Some(Box::pin(async { opening.await.map(Progress::Open) }));
    }

    /// How an agent ended that has closed its output: its last event says so.
    async fn exit_of_agent(&mut self) -> Option<Exit> {
        let events = self.events.as_mut()?;
        let exit = async {
            while let Some(event) = events.recv().await {
                if let AgentEvent::Exited(exit) = event {
                    return Some(exit);
                }
            }
            None
        };
        tokio::time::timeout(END_GRACE, exit).await.ok().flatten()
    }
}
