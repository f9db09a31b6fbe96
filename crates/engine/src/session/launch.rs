//! Starting an agent: spawn, initialize, new session; with words for what can go wrong.

use std::{path::PathBuf, sync::Arc, time::Duration};

use acp::{Agent, Launch, RpcError, RpcErrorKind, SpawnError, Tap};
use model::{AgentIdentity, AgentProfile, Session};

use crate::safe_text::safe_text;

/// A first start may download the agent.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(300);
const NEW_SESSION_TIMEOUT: Duration = Duration::from_secs(120);

/// An agent that takes prompts.
pub(super) struct Started {
    pub(super) identity: AgentIdentity,
    pub(super) agent_session: String,
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
pub(super) enum StartFailure {
    /// It ended; how, its last event says.
    Ended,
    /// It said no, or nothing. The sentence is for the person.
    Refused(String),
}

/// Brings a process that was just spawned to where it takes prompts.
pub(super) async fn handshake(
    agent: Arc<Agent>,
    profile: AgentProfile,
    work_dir: PathBuf,
) -> Result<Started, StartFailure> {
    let initialized = tokio::time::timeout(INITIALIZE_TIMEOUT, agent.initialize())
        .await
        .map_err(|_| unanswered(&profile, INITIALIZE_TIMEOUT))?
        .map_err(|err| refused(&profile, &err))?;
    let identity = initialized.identity;
    let kind = agents::dialect_agent(&identity, profile.agent);
    let opening = async {
        let session = agent.new_session(&work_dir).await?;
        if let Some(mode) = agents::ask_first_mode(kind)
            && session.mode.as_deref() != Some(mode)
            && session.modes.iter().any(|offered| offered == mode)
        {
            agent.set_mode(&session.id, mode).await?;
        }
        Ok(session.id)
    };
    let agent_session = tokio::time::timeout(NEW_SESSION_TIMEOUT, opening)
        .await
        .map_err(|_| unanswered(&profile, NEW_SESSION_TIMEOUT))?
        .map_err(|err| refused(&profile, &err))?;
    Ok(Started { identity, agent_session })
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

fn unanswered(profile: &AgentProfile, timeout: Duration) -> StartFailure {
    StartFailure::Refused(format!(
        "{} did not answer within {} s. Run it by hand to see why: {}",
        profile.name,
        timeout.as_secs(),
        command_line(profile)
    ))
}

fn refused(profile: &AgentProfile, err: &RpcError) -> StartFailure {
    if err.kind == RpcErrorKind::Ended {
        return StartFailure::Ended;
    }
    StartFailure::Refused(format!(
        "{} could not be started: {}. Run it by hand to see more: {}",
        profile.name,
        safe_text(&err.to_string()).trim_end_matches('.'),
        command_line(profile)
    ))
}

fn command_line(profile: &AgentProfile) -> String {
    profile.to_view().command_line
}
