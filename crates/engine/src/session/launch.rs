//! Starting an agent: spawn, initialize, a session that is taken up or new; with words for what can
//! go wrong.

use std::{path::PathBuf, sync::Arc, time::Duration};

use acp::{Agent, Exit, Initialized, Launch, NewSession, RpcError, RpcErrorKind, SpawnError, Tap};
use model::{AgentKind, AgentOption, AgentProfile, LaunchCommand, OptionKind, Session};

use super::words::exit_words;
use crate::safe_text::safe_text;

/// A first start may download the agent.
const INITIALIZE_TIMEOUT: Duration = Duration::from_secs(300);
const SESSION_TIMEOUT: Duration = Duration::from_secs(120);
/// ACP: the agent has to be authenticated first.
const AUTH_REQUIRED: i64 = -32000;
/// Of what an agent wrote to stderr before it ended, this many lines are shown.
const LAST_LINES: usize = 5;

/// A session that takes prompts.
pub(crate) enum Opened {
    /// It has just begun.
    New(NewSession),
    /// An earlier process had it.
    Resumed(NewSession),
}

pub(crate) fn launch_of(session: &Session, command: LaunchCommand, tap: Option<Tap>) -> Launch {
    Launch {
        command,
        work_dir: PathBuf::from(&session.work_dir),
        session_id: session.id,
        task_id: session.task_id,
        tap,
    }
}

/// Why an agent takes no prompts.
pub(crate) struct StartFailure {
    pub(crate) cause: Cause,
    /// It was over the earlier session, which another start had better leave alone.
    pub(crate) over_earlier: bool,
}

pub(crate) enum Cause {
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
pub(crate) async fn initialize(
    agent: Arc<Agent>,
    profile: AgentProfile,
) -> Result<Initialized, StartFailure> {
    let answer = tokio::time::timeout(INITIALIZE_TIMEOUT, agent.initialize()).await;
    let answer = answer.map_err(|_| unanswered(&profile, INITIALIZE_TIMEOUT))?;
    Ok(answer.map_err(|err| refused(&profile, &err))?)
}

/// Takes up the earlier session, where there is one and the agent can; begins one otherwise.
pub(crate) async fn open_session(
    agent: Arc<Agent>,
    profile: AgentProfile,
    initialized: Initialized,
    earlier: Option<String>,
    work_dir: PathBuf,
) -> Result<Opened, StartFailure> {
    let wishes = &Wishes::of(&profile, agents::dialect_agent(&initialized.identity, profile.agent));
    let can_take_up = initialized.load_session || initialized.resume_session;
    if let Some(id) = earlier.filter(|_| can_take_up) {
        let taking_up = async {
            if initialized.load_session {
                agent.load_session(&id, &work_dir).await
            } else {
                agent.resume_session(&id, &work_dir).await
            }
        };
        match opened(&agent, wishes, taking_up).await {
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
    let answer = opened(&agent, wishes, agent.new_session(&work_dir)).await;
    let answer = answer.ok_or_else(|| unanswered(&profile, SESSION_TIMEOUT))?;
    Ok(Opened::New(answer.map_err(|err| refused(&profile, &err))?))
}

/// What a session is to begin with, where the agent offers it.
struct Wishes {
    /// The profile's, else the one in which the agent asks first.
    mode: Option<String>,
    model: Option<String>,
}

impl Wishes {
    fn of(profile: &AgentProfile, kind: AgentKind) -> Self {
        let ask_first = || agents::ask_first_mode(kind).map(str::to_owned);
        Self { mode: profile.mode.clone().or_else(ask_first), model: profile.model.clone() }
    }

    /// The option that a wish is about, and the wish.
    fn each(&self) -> impl Iterator<Item = (OptionKind, &'static str, &str)> {
        let mode = self.mode.as_deref().map(|mode| (OptionKind::Mode, "mode", mode));
        let model = self.model.as_deref().map(|model| (OptionKind::Model, "model", model));
        mode.into_iter().chain(model)
    }
}

/// Waits for a session and sees to it that it begins as wished. `None`: the agent did not answer in
/// time.
async fn opened(
    agent: &Agent,
    wishes: &Wishes,
    opening: impl Future<Output = Result<NewSession, RpcError>>,
) -> Option<Result<NewSession, RpcError>> {
    let opened = async {
        let mut session = opening.await?;
        for (kind, id, wish) in wishes.each() {
            let is_it = |option: &&mut AgentOption| option.kind == kind || option.id == id;
            if let Some(option) = session.options.iter_mut().find(is_it)
                && option.value != wish
                && option.choices.iter().any(|choice| choice.value == wish)
            {
                let (kind, id) = match kind {
                    // Agents that configure their modes take this too.
                    OptionKind::Mode => (kind, id),
                    _ => (option.kind, &*option.id),
                };
                agent.set_option(&session.id, kind, id, wish).await?;
                wish.clone_into(&mut option.value);
            }
        }
        Ok(session)
    };
    tokio::time::timeout(SESSION_TIMEOUT, opened).await.ok()
}

pub(crate) fn not_spawned(profile: &AgentProfile, err: &SpawnError) -> String {
    format!("{} could not be started: {err}.", profile.name)
}

/// An agent that ended before it took prompts: how, by its exit code or signal, and what it wrote
/// last (D-016).
pub(crate) fn ended(profile: &AgentProfile, exit: Option<&Exit>) -> String {
    let how = exit.map_or_else(|| "it closed its output".to_owned(), exit_words);
    let name = &profile.name;
    let command = command_line(profile);
    let said = exit.map(|exit| last_words(profile.agent, &exit.stderr_tail)).unwrap_or_default();
    let mut words =
        format!("{name} ended before it was ready ({how}). Run it by hand to see why: {command}");
    if !said.is_empty() {
        words.push_str("\nIt last wrote:\n");
        words.push_str(&said.join("\n"));
    }
    words
}

/// The last lines of an agent's stderr, made safe. OpenCode logs what people wrote and what its model
/// was told, so of its lines none is shown.
fn last_words(agent: AgentKind, stderr_tail: &[String]) -> Vec<String> {
    if agent == AgentKind::OpenCode {
        return Vec::new();
    }
    let lines = stderr_tail.iter().map(|line| safe_text(line)).filter(|line| !line.is_empty());
    let lines: Vec<_> = lines.collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].to_vec()
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
    Cause::Refused(refused_words(profile, "could not be started", err))
}

/// What an agent that answered with an error said, and what it did not do; what logs in, where it
/// asks for that.
pub(crate) fn refused_words(profile: &AgentProfile, what: &str, err: &RpcError) -> String {
    if err.code == AUTH_REQUIRED
        && let Some(login) = agents::login_of(profile.agent)
    {
        return format!(
            "{} needs a login. Run this once on the machine of Kandev, then try again: {login}",
            profile.name
        );
    }
    format!(
        "{} {what}: {}. Run it by hand to see more: {}",
        profile.name,
        safe_text(&err.to_string()).trim_end_matches('.'),
        command_line(profile)
    )
}

fn command_line(profile: &AgentProfile) -> String {
    profile.to_view().command_line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(agent: AgentKind) -> AgentProfile {
        let command =
            LaunchCommand { program: "pi".into(), args: vec!["acp".into()], env: Vec::new() };
        AgentProfile {
            id: model::ProfileId::from_bytes([1; 16]),
            name: "Pi".into(),
            agent,
            command,
            sealed_env: Vec::new(),
            mode: None,
            model: None,
            cli_passthrough: false,
            passthrough: model::Passthrough::default(),
            built_in: true,
        }
    }

    #[test]
    fn d_016_a_failed_start_shows_the_last_five_lines_and_nothing_secret() {
        let mut stderr_tail: Vec<String> = (1..=7).map(|n| format!("line {n}")).collect();
        stderr_tail.push("key sk-abc123def in /home/me/.config/pi".into());
        let exit = Exit { code: Some(3), signal: None, stderr_tail };
        let words = ended(&profile(AgentKind::Pi), Some(&exit));
        assert_eq!(
            words,
            "Pi ended before it was ready (exit code 3). Run it by hand to see why: pi acp\n\
             It last wrote:\nline 4\nline 5\nline 6\nline 7\nkey [removed] in [removed]"
        );
    }

    #[test]
    fn d_016_what_opencode_logs_is_not_shown() {
        let exit = Exit { code: Some(1), signal: None, stderr_tail: vec!["SENTINEL".into()] };
        let words = ended(&profile(AgentKind::OpenCode), Some(&exit));
        assert!(!words.contains("SENTINEL") && !words.contains("It last wrote"), "{words}");
    }
}
