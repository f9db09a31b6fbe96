//! What a crashed server has left running, found by what was recorded.

use std::{
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use acp::process::{SESSION_VARIABLE, alive, end_leftovers};
use model::{AgentProcess, SessionId};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::support::{runs, unique};

/// A process group as an agent's is, outside of any [`acp::Agent`]; ended with the test.
struct Left {
    leader: Child,
    /// In the group, and in a session of its own.
    children: [u32; 2],
    session_id: SessionId,
}

impl Left {
    fn start() -> Self {
        let session_id = SessionId::from_bytes(unique());
        let script = "sleep 600 >&- & echo $!; setsid sleep 600 >&- & echo $!; wait";
        let mut leader = Command::new("sh")
            .args(["-c", script])
            .env(SESSION_VARIABLE, session_id.to_string())
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(leader.stdout.take().unwrap()).lines();
        let children = [(); 2].map(|()| lines.next().unwrap().unwrap().parse().unwrap());
        Self { leader, children, session_id }
    }

    fn record(&self) -> AgentProcess {
        AgentProcess {
            session_id: self.session_id,
            pid: self.leader.id(),
            started: started(self.leader.id()),
            program: "sh".into(),
        }
    }

    fn running(&self) -> usize {
        let [one, two] = self.children;
        [self.leader.id(), one, two].into_iter().filter(|&pid| runs(pid)).count()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        end_leftovers(&[self.record()]);
        self.leader.wait().unwrap();
    }
}

fn started(pid: u32) -> u64 {
    let pid = Pid::from_u32(pid);
    let mut system = System::new();
    let what = ProcessRefreshKind::nothing().without_tasks();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, what);
    system.process(pid).map_or(0, sysinfo::Process::start_time)
}

#[test]
fn p_013_a_recorded_group_and_what_left_it_are_ended() {
    let left = Left::start();
    let record = left.record();
    assert!(alive(&record));
    assert_eq!(left.running(), 3);
    assert_eq!(end_leftovers(std::slice::from_ref(&record)), 3);
    assert_eq!(left.running(), 0);
    assert!(!alive(&record));
    assert_eq!(end_leftovers(&[record]), 0);
}

#[test]
fn p_013_a_pid_that_was_given_away_is_left_alone() {
    let left = Left::start();
    let mut stale = left.record();
    stale.started -= 3600;
    stale.session_id = SessionId::from_bytes(unique());
    assert!(!alive(&stale));
    assert_eq!(end_leftovers(&[stale]), 0);
    assert_eq!(left.running(), 3);
}

#[test]
fn p_013_a_group_without_its_leader_is_found_by_its_environment() {
    let left = Left::start();
    let mut stale = left.record();
    stale.started -= 3600;
    assert_eq!(end_leftovers(&[stale]), 3);
    assert_eq!(left.running(), 0);
}

#[test]
fn p_013_records_that_make_no_sense_end_nothing() {
    let record = |pid| AgentProcess {
        session_id: SessionId::from_bytes(unique()),
        pid,
        started: started(std::process::id()),
        program: String::new(),
    };
    let records: Vec<_> = [0, 1, u32::MAX, i32::MAX.unsigned_abs()].map(record).into();
    assert_eq!(end_leftovers(&records), 0);
}
