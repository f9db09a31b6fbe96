//! The handle of one agent process.

use std::{path::Path, sync::Arc, time::Duration};

use model::{AgentIdentity, AgentOption, AgentProcess, LaunchCommand, OptionKind};
use rustix::process::Signal;
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdin, ChildStdout},
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentEvent, Closed, Direction, Launch, PermissionKey, PermissionOutcome, RpcError, SpawnError,
    Tap,
    connection::Connection,
    lines::Splitter,
    offers,
    outgoing::{self, PROTOCOL_VERSION, method},
    output::Output,
    process::{signal_group, start_of},
    stderr,
    supervisor::Supervisor,
};

/// The longest line that is read, in bytes.
const LINE_BYTES: usize = 16 << 20; // 16 MiB
/// Of a longer one, this much of either end is looked at, in bytes.
const KEPT_BYTES: usize = 1024;
/// Events that wait for the engine; when so many do, the agent waits, too.
const EVENTS: usize = 256;
/// Lines that wait for the agent.
const OUTGOING: usize = 256;

/// What an agent says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Initialized {
    /// The name and version it gives.
    pub identity: AgentIdentity,
    /// The protocol's version: always 1.
    pub protocol_version: u64,
    /// It can go on with a session of an earlier process.
    pub load_session: bool,
    /// The same, without telling again what was said in it.
    pub resume_session: bool,
    /// The ids of the ways to authenticate.
    pub auth_methods: Vec<String>,
}

/// A running agent. Dropping it kills the process group and, soon after, whatever else carries the
/// session's id in its environment; [`Agent::shutdown`] is the gentle way.
///
/// Start no second process for a session before the first has exited: its end would end that, too.
///
/// Its events have to be received all the time, also during the calls that wait for an answer:
/// while 256 of them lie unread, nothing more is read from the agent.
pub struct Agent {
    process: AgentProcess,
    connection: Arc<Connection>,
    stop: watch::Sender<Option<Duration>>,
    exited: CancellationToken,
    ended: watch::Receiver<bool>,
}

/// A session that an agent opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// The agent's id of it.
    pub id: String,
    /// What can be chosen in it, and what is.
    pub options: Vec<AgentOption>,
}

impl NewSession {
    /// Reads an answer; `known` is the id of a session that was asked for by it.
    pub(crate) fn read(answer: &Value, known: Option<&str>) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        Some(Self {
            id: known.map(str::to_owned).or_else(|| text(answer.get("sessionId")?))?,
            options: offers::options(answer),
        })
    }
}

impl Agent {
    /// Starts the program in a process group of its own. Needs a Tokio runtime.
    ///
    /// # Errors
    ///
    /// When the program or the folder cannot be found, or the system refuses.
    pub fn spawn(launch: Launch) -> Result<(Self, mpsc::Receiver<AgentEvent>), SpawnError> {
        let mut command = launch.to_command()?;
        let Launch { command: LaunchCommand { program, .. }, session_id, tap, .. } = launch;
        let failed = |source| SpawnError::Io { program: program.clone(), source };
        let child = command.spawn().map_err(failed)?;
        // Neither is missing: until it is waited for, the child is there, be it as a zombie.
        let pid = child.id().unwrap_or_default();
        let started = start_of(pid).unwrap_or_default();
        let process = AgentProcess { session_id, pid, started, program };
        Ok(Self::attach(child, process, tap))
    }

    fn attach(
        mut child: Child,
        process: AgentProcess,
        tap: Option<Tap>,
    ) -> (Self, mpsc::Receiver<AgentEvent>) {
        let (events, received) = mpsc::channel(EVENTS);
        let (outgoing, queue) = mpsc::channel(OUTGOING);
        let (stop, stop_asked) = watch::channel(None);
        let (ended_sender, ended) = watch::channel(false);
        let connection = Arc::new(Connection::new(outgoing));
        let [close_stdin, mute, exited] = [(); 3].map(|()| CancellationToken::new());

        let pipes = "all three are piped, and taken only here";
        let stdin = child.stdin.take().expect(pipes);
        let stdout = child.stdout.take().expect(pipes);
        let stderr = child.stderr.take().expect(pipes);
        let lines = Output::new(stdout, Splitter::new(LINE_BYTES, KEPT_BYTES), exited.clone());
        let supervisor = Supervisor {
            child,
            process: process.clone(),
            stop: stop_asked,
            close_stdin: close_stdin.clone(),
            mute: mute.clone(),
            exited: exited.clone(),
            reader: tokio::spawn(read(
                lines,
                Arc::clone(&connection),
                events.clone(),
                mute,
                tap.clone(),
            )),
            writer: tokio::spawn(write(stdin, queue, close_stdin, tap.clone())),
            stderr: tokio::spawn(stderr::drain(stderr, exited.clone(), tap)),
            events,
            ended: ended_sender,
        };
        tokio::spawn(supervisor.run());
        (Self { process, connection, stop, exited, ended }, received)
    }

    /// The process, to be stored before it counts as started.
    pub fn process(&self) -> AgentProcess {
        self.process.clone()
    }

    /// Says who we are and asks who it is.
    ///
    /// # Errors
    ///
    /// When the agent refuses, ends first, or speaks another version of the protocol.
    pub async fn initialize(&self) -> Result<Initialized, RpcError> {
        let answer = self.connection.call(method::INITIALIZE, &outgoing::initialize()).await?;
        initialized(&answer).map_err(|reason| RpcError::malformed(method::INITIALIZE, &reason))
    }

    /// Begins a session in this folder; the agent's id of it.
    ///
    /// # Errors
    ///
    /// When the agent refuses (code -32000: it has to be authenticated first) or ends first.
    pub async fn new_session(&self, cwd: &Path) -> Result<NewSession, RpcError> {
        let answer = self.connection.call(method::NEW, &outgoing::new_session(cwd)).await?;
        NewSession::read(&answer, None)
            .ok_or_else(|| RpcError::malformed(method::NEW, "it has no session id"))
    }

    /// Goes on with a session of an earlier process. Until the answer, the agent tells again what
    /// was said in it: its tool calls come as [`AgentEvent::History`], the rest is passed over.
    ///
    /// # Errors
    ///
    /// When the agent does not know the session, refuses or ends first.
    pub async fn load_session(&self, id: &str, cwd: &Path) -> Result<NewSession, RpcError> {
        self.old_session(method::LOAD, id, cwd).await
    }

    /// The same, with an agent that tells nothing again.
    ///
    /// # Errors
    ///
    /// As for [`Self::load_session`].
    pub async fn resume_session(&self, id: &str, cwd: &Path) -> Result<NewSession, RpcError> {
        self.old_session(method::RESUME, id, cwd).await
    }

    async fn old_session(
        &self,
        method: &'static str,
        id: &str,
        cwd: &Path,
    ) -> Result<NewSession, RpcError> {
        let answer = self.connection.call(method, &outgoing::old_session(id, cwd)).await?;
        NewSession::read(&answer, Some(id))
            .ok_or_else(|| RpcError::malformed(method, "it cannot be read"))
    }

    /// Chooses a value of one of a session's options. Some agents answer with all of their options as
    /// they are now.
    ///
    /// # Errors
    ///
    /// When the agent refuses, or ends before it answers.
    pub async fn set_option(
        &self,
        agent_session: &str,
        kind: OptionKind,
        id: &str,
        value: &str,
    ) -> Result<Vec<AgentOption>, RpcError> {
        let (method, params) = outgoing::set_option(agent_session, kind, id, value);
        let answer = self.connection.call(method, &params).await?;
        Ok(offers::config_options(&answer))
    }

    /// Sends a prompt. Its answer comes as [`AgentEvent::PromptEnded`] with this token, behind the
    /// updates that came before it.
    ///
    /// # Errors
    ///
    /// When the agent has ended or does not read its input.
    pub fn prompt(&self, agent_session: &str, text: &str, token: u64) -> Result<(), Closed> {
        self.connection.prompt(agent_session, text, token)
    }

    /// Asks to stop the turn, and answers every open permission request as cancelled. The turn
    /// ends with its [`AgentEvent::PromptEnded`].
    ///
    /// # Errors
    ///
    /// When the agent has ended or does not read its input.
    pub fn cancel(&self, agent_session: &str) -> Result<(), Closed> {
        self.connection.cancel(agent_session)
    }

    /// Answers a permission request; a second answer to the same one is not sent.
    ///
    /// # Errors
    ///
    /// When the agent has ended or does not read its input.
    pub fn respond(
        &self,
        request: PermissionKey,
        outcome: PermissionOutcome,
    ) -> Result<(), Closed> {
        self.connection.respond(request, outcome)
    }

    /// Ends the agent and returns when nothing of it runs any more: closes its stdin, after
    /// `grace` sends SIGTERM to its group, after another `grace` SIGKILL; then ends what still
    /// carries the session's id. Of several calls the first counts; it goes on when its future is
    /// dropped.
    pub async fn shutdown(&self, grace: Duration) {
        self.stop.send_if_modified(|asked| {
            let first = asked.is_none();
            asked.get_or_insert(grace);
            first
        });
        // It can only fail when the runtime has dropped the supervisor, and with it the process.
        self.ended.clone().wait_for(|ended| *ended).await.ok();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Here and not only in the supervisor, which may not get to run any more.
        if !self.exited.is_cancelled() {
            signal_group(self.process.pid, Signal::KILL);
        }
    }
}

/// Reads frames until the end of stdout. Waits while the engine is slow.
async fn read(
    mut lines: Output<ChildStdout>,
    connection: Arc<Connection>,
    events: mpsc::Sender<AgentEvent>,
    mute: CancellationToken,
    tap: Option<Tap>,
) {
    let at_end = mute.drop_guard();
    while let Some(line) = lines.next().await {
        if let Some(tap) = &tap {
            tap.hear(Direction::In, &line.kept());
        }
        deliver(connection.receive(&line), &events).await;
    }
    let unanswered = connection.close();
    drop(at_end);
    deliver(unanswered, &events).await;
}

async fn deliver(said: Vec<AgentEvent>, events: &mpsc::Sender<AgentEvent>) {
    for event in said {
        // Nobody may listen any more; the agent is read all the same, so that it does not block.
        events.send(event).await.ok();
    }
}

/// Writes lines until stdin is to be closed; then whatever still fits is written.
async fn write(
    mut stdin: ChildStdin,
    mut queue: mpsc::Receiver<String>,
    close_stdin: CancellationToken,
    tap: Option<Tap>,
) {
    let writing = async {
        while let Some(line) = queue.recv().await {
            if let Some(tap) = &tap {
                tap.hear(Direction::Out, line.trim_end().as_bytes());
            }
            if let Err(err) = stdin.write_all(line.as_bytes()).await {
                tracing::debug!(%err, "an agent takes no more input");
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = writing => {}
        () = close_stdin.cancelled() => {}
    }
}

/// Reads an answer to `initialize`; the error says why it cannot be used.
pub(crate) fn initialized(answer: &Value) -> Result<Initialized, String> {
    if !answer.is_object() {
        return Err("it is not an object".into());
    }
    let version = answer.get("protocolVersion").and_then(Value::as_u64);
    let protocol_version = version.unwrap_or(PROTOCOL_VERSION);
    if protocol_version != PROTOCOL_VERSION {
        return Err(format!("it speaks version {protocol_version} of ACP, not {PROTOCOL_VERSION}"));
    }
    let info = |name: &str| answer.get("agentInfo")?.get(name)?.as_str().map(str::to_owned);
    let load_session = answer.pointer("/agentCapabilities/loadSession").and_then(Value::as_bool);
    let methods = answer.get("authMethods").and_then(Value::as_array);
    let id = |method: &Value| method.get("id")?.as_str().map(str::to_owned);
    Ok(Initialized {
        identity: AgentIdentity { name: info("name"), version: info("version") },
        protocol_version,
        load_session: load_session.unwrap_or(false),
        resume_session: answer
            .pointer("/agentCapabilities/sessionCapabilities/resume")
            .is_some_and(Value::is_object),
        auth_methods: methods.into_iter().flatten().filter_map(id).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_is_what_it_says() {
        let answer = json!({
            "protocolVersion": 1, "agentInfo": {"name": "OpenCode", "version": "1.18.33"},
            "agentCapabilities": {"loadSession": true}, "authMethods": [{"id": "login"}, 5]
        });
        let initialized = initialized(&answer).unwrap();
        assert_eq!(initialized.identity.name.as_deref(), Some("OpenCode"));
        assert_eq!(
            (initialized.load_session, initialized.auth_methods),
            (true, vec!["login".into()])
        );
    }

    #[test]
    fn an_agent_without_a_name_has_none() {
        let initialized = initialized(&json!({"agentInfo": null})).unwrap();
        assert_eq!(initialized.identity, AgentIdentity::default());
    }

    #[test]
    fn another_version_is_refused() {
        assert!(initialized(&json!({"protocolVersion": 2})).unwrap_err().contains("version 2"));
        assert!(initialized(&json!([])).is_err());
    }
}
