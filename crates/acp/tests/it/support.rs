//! Starting agents and hearing what they say, with a limit on how long that may take.

use std::{path::PathBuf, time::Duration};

use acp::{Agent, AgentEvent, Exit, Launch, RpcError, StopReason};
use model::{LaunchCommand, SessionId, TaskId};
use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System};
use tempfile::TempDir;
use tokio::{sync::mpsc, time::timeout};

/// No single event takes longer, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// An agent under test.
pub(crate) struct Started {
    pub(crate) agent: Agent,
    pub(crate) events: mpsc::Receiver<AgentEvent>,
    pub(crate) session_id: SessionId,
    pub(crate) task_id: TaskId,
    pub(crate) dir: TempDir,
}

/// What a prompt brought.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) events: Vec<AgentEvent>,
    pub(crate) result: Result<StopReason, RpcError>,
}

impl Reply {
    /// All pieces of the answer.
    pub(crate) fn text(&self) -> String {
        let text = |event: &AgentEvent| match event {
            AgentEvent::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.events.iter().filter_map(text).collect()
    }
}

/// Starts a command in a folder of its own.
pub(crate) fn start(command: LaunchCommand) -> Started {
    let dir = tempfile::tempdir().unwrap();
    let session_id = SessionId::from_bytes(unique());
    let task_id = TaskId::from_bytes(unique());
    let launch =
        Launch { command, work_dir: dir.path().to_owned(), session_id, task_id, tap: None };
    let (agent, events) = Agent::spawn(launch).unwrap();
    Started { agent, events, session_id, task_id, dir }
}

/// The fake agent, with these arguments behind `acp`.
pub(crate) fn fake(args: &[&str]) -> LaunchCommand {
    let program = fake_program();
    assert!(
        program.is_file(),
        "no {}: `cargo build -p acp --examples` makes it",
        program.display()
    );
    LaunchCommand {
        program: program.to_str().unwrap().to_owned(),
        args: ["acp"].iter().chain(args).map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
    }
}

/// A shell script.
pub(crate) fn sh(script: &str) -> LaunchCommand {
    LaunchCommand { program: "sh".into(), args: vec!["-c".into(), script.into()], env: Vec::new() }
}

/// `target/<profile>/examples/fake-agent`, from `target/<profile>/deps/<this test>`.
fn fake_program() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("examples/fake-agent")
}

/// Different for each call in each process, which is what sweeping by environment asks for.
pub(crate) fn unique() -> [u8; 16] {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().file_name().unwrap().to_str().unwrap().bytes();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(name).for_each(|(byte, letter)| *byte = letter);
    bytes[12..].copy_from_slice(&std::process::id().to_be_bytes());
    bytes
}

impl Started {
    /// The next event.
    pub(crate) async fn next(&mut self) -> AgentEvent {
        let event = timeout(PATIENCE, self.events.recv()).await.expect("an event in time");
        event.expect("an event before the last one")
    }

    /// Introduces itself and begins a session.
    pub(crate) async fn begin(&self) -> String {
        self.agent.initialize().await.unwrap();
        self.agent.new_session(self.dir.path()).await.unwrap().id
    }

    /// Prompts, and hears everything up to the answer.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Reply {
        self.agent.prompt(session, text, 7).unwrap();
        self.reply().await
    }

    /// Everything up to the answer of a prompt.
    pub(crate) async fn reply(&mut self) -> Reply {
        let mut events = Vec::new();
        loop {
            match self.next().await {
                AgentEvent::PromptEnded { token: 7, result } => return Reply { events, result },
                event => events.push(event),
            }
        }
    }

    /// How the process ended, which has to be the last event.
    pub(crate) async fn exit(&mut self) -> Exit {
        loop {
            if let AgentEvent::Exited(exit) = self.next().await {
                let after = timeout(PATIENCE, self.events.recv()).await.expect("the end in time");
                assert!(after.is_none(), "{after:?} after the last event");
                return exit;
            }
        }
    }
}

/// The pids in texts like `pid 17`.
pub(crate) fn pids(reply: &Reply) -> Vec<u32> {
    let text = reply.text().replace("pid", " ");
    let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(!pids.is_empty());
    pids
}

/// Whether a process runs; one that only waits to be buried does not.
pub(crate) fn runs(pid: u32) -> bool {
    let pid = Pid::from_u32(pid);
    let mut system = System::new();
    let what = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
    system.process(pid).is_some_and(|process| process.status() != ProcessStatus::Zombie)
}
