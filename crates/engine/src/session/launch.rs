//! Starting an agent: spawn, initialize, a session that is taken up or new; with words for what can
//! go wrong.

use std::{path::PathBuf, sync::Arc, time::Duration};

use acp::{Agent, Initialized, Launch, NewSession, RpcError, RpcErrorKind, SpawnError, Tap};
use model::{AgentKind, AgentOption, AgentProfile, OptionKind, Session};

use crate::safe_text::safe_text;

/// A first start may download the agent.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(300);
const SESSION_TIMEOUT: Duration = Duration::from_secs(120);

/// A session that takes prompts.
pub(super) enum Opened {
    /// It has just begun.
    New(NewSession),
    /// An earlier process had it.
    Resumed(NewSession),
}

pub(super) fn launch_of(session: &Session, profile: &AgentProfile, tap: Option<Tap>) -> Launch {
    Launch {
        command: profile.command.clone(),
        work_dir: PathBuf::from(&session.work_dir),
        session_id: session.id,
        task_id: session.task_id,
        tap,
    }
}

/// Why an agent takes no prompts.
pub(super) struct StartFailure {
    pub(super) cause: Cause,
    /// It was over the earlier session, which another start had better leave alone.
    pub(super) over_earlier: bool,
}

pub(super) enum Cause {
    /// It ended; how, its last event says.
    Ended,
    /// It said no, or nothing. The sentence is for the person.
    Refused(String),
}

impl From<Cause> for StartFailure {
    fn from(cause: Cause) -> Self {
        Self { cause, over_earlier: false }
    }
}

/// Asks a process that was just spawned who it is.
pub(super) async fn initialize(
    agent: Arc<Agent>,
    profile: AgentProfile,
) -> Result<Initialized, StartFailure> {
    let answer = tokio::time::timeout(INITIALIZE_TIMEOUT, agent.initialize()).await;
    let answer = answer.map_err(|_| unanswered(&profile, INITIALIZE_TIMEOUT))?;
    Ok(answer.map_err(|err| refused(&profile, &err))?)
}

/// Takes up the earlier session, where there is one and the agent can; begins one otherwise.
pub(super) async fn open_session(
    agent: Arc<Agent>,
    profile: AgentProfile,
    initialized: Initialized,
    earlier: Option<String>,
    work_dir: PathBuf,
) -> Result<Opened, StartFailure> {
    let kind = agents::dialect_agent(&initialized.identity, profile.agent);
    let can_take_up = initialized.load_session || initialized.resume_session;
    if let Some(id) = earlier.filter(|_| can_take_up) {
        let taking_up = async {
            if initialized.load_session {
                agent.load_session(&id, &work_dir).await
            } else {
                agent.resume_session(&id, &work_dir).await
            }
        };
        match opened(&agent, kind, taking_up).await {
            Some(Ok(session)) => return Ok(Opened::Resumed(session)),
            Some(Err(err)) if err.kind != RpcErrorKind::Ended => {
                let reason = safe_text(&err.to_string());
                tracing::info!(agent = %profile.name, %reason, "its earlier session is not taken up");
            }
            failed => {
                let cause =
                    failed.map_or_else(|| unanswered(&profile, SESSION_TIMEOUT), |_| Cause::Ended);
                return Err(StartFailure { cause, over_earlier: true });
            }
        }
    }
    let answer = opened(&agent, kind, agent.new_session(&work_dir)).await;
    let answer = answer.ok_or_else(|| unanswered(&profile, SESSION_TIMEOUT))?;
    Ok(Opened::New(answer.map_err(|err| refused(&profile, &err))?))
}

/// Waits for a session and sees to it that the agent asks first in it. `None`: it did not answer in
/// time.
async fn opened(
    agent: &Agent,
    kind: AgentKind,
    opening: impl Future<Output = Result<NewSession, RpcError>>,
) -> Option<Result<NewSession, RpcError>> {
    let opened = async {
        let mut session = opening.await?;
        let is_mode =
            |option: &&mut AgentOption| option.kind == OptionKind::Mode || option.id == "mode";
        if let Some(mode) = agents::ask_first_mode(kind)
            && let Some(option) = session.options.iter_mut().find(is_mode)
            && option.value != mode
            && option.choices.iter().any(|choice| choice.value == mode)
        {
            // Agents that configure their modes take this too.
            agent.set_option(&session.id, OptionKind::Mode, "mode", mode).await?;
            mode.clone_into(&mut option.value);
        }
        Ok(session)
    };
    tokio::time::timeout(SESSION_TIMEOUT, opened).await.ok()
}

pub(super) fn not_spawned(profile: &AgentProfile, err: &SpawnError) -> String {
    format!("{} could not be started: {err}.", profile.name)
}

/// An agent that ended before it took prompts; `how` is its exit code or signal.
pub(super) fn ended(profile: &AgentProfile, how: &str) -> String {
    format!(
        "{} ended before it was ready ({how}). Run it by hand to see why: {}",
        profile.name,
        command_line(profile)
    )
}

fn unanswered(profile: &AgentProfile, timeout: Duration) -> Cause {
    Cause::Refused(format!(
        "{} did not answer within {} s. Run it by hand to see why: {}",
        profile.name,
        timeout.as_secs(),
        command_line(profile)
    ))
}

fn refused(profile: &AgentProfile, err: &RpcError) -> Cause {
    if err.kind == RpcErrorKind::Ended {
        return Cause::Ended;
    }
    Cause::Refused(format!(
        "{} could not be started: {}. Run it by hand to see more: {}",
        profile.name,
        safe_text(&err.to_string()).trim_end_matches('.'),
        command_line(profile)
    ))
}

fn command_line(profile: &AgentProfile) -> String {
    profile.to_view().command_line
}
