//! A command that its agent leaves running after a cancel.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use acp::process::{SESSION_VARIABLE, end_leftovers};
use acp::survivor::{CancelledCommand, Table, end_survivor};
use model::{AgentProcess, SessionId};

use crate::support::{runs, unique};

/// What the agent runs, in a shell: it says so once its own child is there.
const COMMAND: &str = "sleep 601 >&- & echo ready; wait";

/// An agent that runs a command in a shell, and `sleep 602` beside it.
struct Agent {
    leader: Child,
    shell: u32,
    other: u32,
    session_id: SessionId,
}

impl Agent {
    fn start() -> Self {
        let session_id = SessionId::from_bytes(unique());
        let script = format!("sh -c '{COMMAND}' & echo $!; setsid sleep 602 >&- & echo $!; wait");
        let mut leader = Command::new("sh")
            .args(["-c", &script])
            .env(SESSION_VARIABLE, session_id.to_string())
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(leader.stdout.take().unwrap()).lines();
        let lines: Vec<String> = lines.take(3).map(Result::unwrap).collect();
        let pids: Vec<u32> = lines.iter().filter_map(|line| line.parse().ok()).collect();
        let [shell, other] = pids[..] else { panic!("{lines:?}") };
        Self { leader, shell, other, session_id }
    }

    fn process(&self) -> AgentProcess {
        AgentProcess {
            session_id: self.session_id,
            pid: self.leader.id(),
            started: 0,
            program: "sh".into(),
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // The record's start time is no process's, so only the environment finds them.
        end_leftovers(&[self.process()]);
        self.leader.wait().unwrap();
    }
}

fn command(text: &str, since: u64) -> CancelledCommand {
    CancelledCommand { command: text.into(), since, until: u64::MAX / 2 }
}

fn survivor(agent: &AgentProcess, command: &CancelledCommand) -> Option<u32> {
    Table::read().survivor(agent, command)
}

#[test]
fn s_025_a_surviving_command_is_found_and_ended_with_what_it_started() {
    let agent = Agent::start();
    let process = agent.process();
    let surviving = command(COMMAND, 0);
    assert_eq!(survivor(&process, &surviving), Some(agent.shell));
    assert_eq!(survivor(&process, &command("sleep 603", 0)), None);
    assert_eq!(survivor(&process, &command(COMMAND, u64::MAX)), None, "it is older");

    assert_eq!(end_survivor(&process, &surviving), 2, "the shell and what it waits for");
    assert!(!runs(agent.shell));
    assert!(runs(agent.other) && runs(agent.leader.id()), "nothing else is ended");
    assert_eq!(survivor(&process, &surviving), None);
    assert_eq!(end_survivor(&process, &surviving), 0);
}

#[test]
fn s_025_a_command_of_another_agent_is_none_of_this_one() {
    let agent = Agent::start();
    let other = AgentProcess {
        session_id: SessionId::from_bytes(unique()),
        pid: u32::MAX,
        ..agent.process()
    };
    assert_eq!(survivor(&other, &command(COMMAND, 0)), None);
}
