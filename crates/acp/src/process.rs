//! Processes of agents: found again by pid and start time, or by their environment, and ended.
//!
//! Everything here reads the process table and blocks for up to a few seconds: call it where
//! blocking is allowed.

use std::{
    collections::HashMap,
    ffi::OsString,
    thread,
    time::{Duration, Instant},
};

use model::{AgentProcess, SessionId};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

/// Names the session in the environment of an agent and of all it starts.
pub const SESSION_VARIABLE: &str = "KANDEV_SESSION_ID";
/// Names the task in the environment of an agent and of all it starts.
pub const TASK_VARIABLE: &str = "KANDEV_TASK_ID";

/// How long a process may take to end by itself once it was told to.
const TERM_GRACE: Duration = Duration::from_secs(1);
/// How often it is looked whether it has: there is no event for the end of another's child.
const POLL: Duration = Duration::from_millis(20);
/// What is killed may have started something in the meantime, so it is looked again, this often.
const ROUNDS: usize = 3;
/// Start times are computed from the wall clock, which may be set in between, in seconds.
pub(crate) const START_TOLERANCE: u64 = 2;

/// Start times, in seconds since the Unix epoch, by pid.
pub(crate) type Processes = HashMap<u32, u64>;

/// Whether the process of this record still runs: its pid, with its start time.
pub fn alive(record: &AgentProcess) -> bool {
    is_running(record.pid, record.started)
}

/// Ends what a crash has left: each recorded process that still is the one recorded, with its
/// group, and every process whose environment names one of the sessions. Returns how many were
/// found.
pub fn end_leftovers(records: &[AgentProcess]) -> usize {
    let leaders = records.iter().filter(|record| alive(record));
    let leaders = leaders.map(|leader| (leader.pid, leader.started)).collect();
    let sessions: Vec<SessionId> = records.iter().map(|record| record.session_id).collect();
    end(&sessions, leaders)
}

/// Ends every process whose environment names the session. Returns how many were found.
pub(crate) fn end_session(session: SessionId) -> usize {
    end(&[session], Processes::new())
}

/// When the process started, in seconds since the Unix epoch.
pub(crate) fn start_of(pid: u32) -> Option<u64> {
    let system = table(ProcessesToUpdate::Some(&[sysinfo::Pid::from_u32(pid)]), UpdateKind::Never);
    system.process(sysinfo::Pid::from_u32(pid)).map(sysinfo::Process::start_time)
}

/// Sends a signal to the group of this leader. It may have ended already.
pub(crate) fn signal_group(leader: u32, signal: Signal) {
    if let Some(leader) = rustix_pid(leader) {
        // The only failures are that there is no such group any more, and no leave to signal it.
        kill_process_group(leader, signal).ok();
    }
}

/// Kills the process group of this leader, which may have ended already.
pub fn kill_group(leader: u32) {
    signal_group(leader, Signal::KILL);
}

/// Asks the process group of this leader to end.
pub fn terminate_group(leader: u32) {
    signal_group(leader, Signal::TERM);
}

/// Ends the groups of `leaders` and whatever carries one of the sessions.
fn end(sessions: &[SessionId], mut leaders: Processes) -> usize {
    let mut ended = Processes::new();
    for _ in 0..ROUNDS {
        let mut targets = carriers(sessions);
        targets.extend(&leaders);
        if targets.is_empty() {
            break;
        }
        for signal in [Signal::TERM, Signal::KILL] {
            leaders.keys().for_each(|&leader| signal_group(leader, signal));
            signal_all(&targets, signal);
            wait_until_gone(&targets);
        }
        leaders.clear();
        ended.extend(targets);
    }
    ended.len()
}

/// The processes whose environment names one of the sessions, except this one.
fn carriers(sessions: &[SessionId]) -> Processes {
    let wanted: Vec<OsString> =
        sessions.iter().map(|session| format!("{SESSION_VARIABLE}={session}").into()).collect();
    let system = table(ProcessesToUpdate::All, UpdateKind::Always);
    let carries = |process: &sysinfo::Process| {
        runs(process) && process.environ().iter().any(|variable| wanted.contains(variable))
    };
    system
        .processes()
        .values()
        .filter(|process| process.pid().as_u32() != std::process::id() && carries(process))
        .map(|process| (process.pid().as_u32(), process.start_time()))
        .collect()
}

fn signal_all(targets: &Processes, signal: Signal) {
    for (&pid, &started) in targets {
        if is_running(pid, started)
            && let Some(pid) = rustix_pid(pid)
        {
            kill_process(pid, signal).ok();
        }
    }
}

fn wait_until_gone(targets: &Processes) {
    let deadline = Instant::now() + TERM_GRACE;
    while targets.iter().any(|(&pid, &started)| is_running(pid, started)) {
        if Instant::now() >= deadline {
            return;
        }
        thread::sleep(POLL);
    }
}

fn is_running(pid: u32, started: u64) -> bool {
    let id = sysinfo::Pid::from_u32(pid);
    table(ProcessesToUpdate::Some(&[id]), UpdateKind::Never).process(id).is_some_and(|process| {
        runs(process) && process.start_time().abs_diff(started) <= START_TOLERANCE
    })
}

/// Ends these processes: SIGTERM, and after a while SIGKILL.
pub(crate) fn end_processes(targets: &Processes) {
    for signal in [Signal::TERM, Signal::KILL] {
        signal_all(targets, signal);
        wait_until_gone(targets);
    }
}

/// A zombie has ended; it only waits for its parent to hear of it.
pub(crate) fn runs(process: &sysinfo::Process) -> bool {
    !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead)
}

fn table(processes: ProcessesToUpdate<'_>, environment: UpdateKind) -> System {
    let what = ProcessRefreshKind::nothing().without_tasks().with_environ(environment);
    let mut system = System::new();
    system.refresh_processes_specifics(processes, true, what);
    system
}

/// Neither 0 (our own group) nor 1 is ever a target.
fn rustix_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|&pid| pid > 1).and_then(Pid::from_raw)
}
