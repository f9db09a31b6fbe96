//! Commands that outlive their cancel: agents may leave them running.
//!
//! No agent says which process a command runs in, so it is found by what it runs. Everything here
//! reads the process table and blocks for up to a few seconds: call it where blocking is allowed.

use std::collections::HashMap;

use model::AgentProcess;
use sysinfo::{Process, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};

use crate::process::{Processes, SESSION_VARIABLE, START_TOLERANCE, end_processes, runs};

/// A command that was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelledCommand {
    /// What it runs, as the agent gave it.
    pub command: String,
    /// When its call began, in seconds since the Unix epoch: no process of it is older.
    pub since: u64,
    /// When it was cancelled: what began later is another run of the same words.
    pub until: u64,
}

impl CancelledCommand {
    /// Whether a process that started then, in seconds since the Unix epoch, can be of it.
    const fn may_be(&self, started: u64) -> bool {
        started + START_TOLERANCE >= self.since && started <= self.until + START_TOLERANCE
    }
}

/// Ends the processes of this command and all that they started, gently first. Returns how many
/// there were.
pub fn end_survivor(agent: &AgentProcess, command: &CancelledCommand) -> usize {
    let targets = Table::read().tree(agent, command);
    let count = targets.len();
    end_processes(&targets);
    count
}

/// The process table, as it was when it was read.
pub struct Table(System);

impl Table {
    /// Reads it.
    pub fn read() -> Self {
        let what = ProcessRefreshKind::nothing()
            .without_tasks()
            .with_cmd(UpdateKind::Always)
            .with_environ(UpdateKind::Always);
        let mut system = System::new();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, what);
        Self(system)
    }

    /// The process of this command, the outermost if there are several; none when it has ended.
    pub fn survivor(&self, agent: &AgentProcess, command: &CancelledCommand) -> Option<u32> {
        let found = self.running(agent, command);
        let is_inside = |process: &Process| {
            process.parent().is_some_and(|parent| found.contains_key(&parent.as_u32()))
        };
        let mut outer: Vec<_> = found.values().filter(|process| !is_inside(process)).collect();
        outer.sort_by_key(|process| (process.start_time(), process.pid()));
        outer.first().map(|process| process.pid().as_u32())
    }

    /// The command's processes and their descendants.
    fn tree(&self, agent: &AgentProcess, command: &CancelledCommand) -> Processes {
        let found = self.running(agent, command);
        let descends = |process: &Process| {
            self.ancestors(process).any(|ancestor| found.contains_key(&ancestor.pid().as_u32()))
        };
        self.0
            .processes()
            .values()
            .filter(|process| found.contains_key(&process.pid().as_u32()) || descends(process))
            .map(|process| (process.pid().as_u32(), process.start_time()))
            .collect()
    }

    /// What runs this command for this agent, by pid.
    fn running(&self, agent: &AgentProcess, command: &CancelledCommand) -> HashMap<u32, &Process> {
        let session = format!("{SESSION_VARIABLE}={}", agent.session_id);
        let is_agents = |process: &Process| {
            process.environ().iter().any(|variable| variable == session.as_str())
                || self.ancestors(process).any(|ancestor| ancestor.pid().as_u32() == agent.pid)
        };
        self.0
            .processes()
            .iter()
            .map(|(pid, process)| (pid.as_u32(), process))
            .filter(|(pid, _)| *pid != agent.pid && *pid != std::process::id())
            .filter(|(_, process)| runs(process) && command.may_be(process.start_time()))
            .filter(|(_, process)| is_agents(process) && runs_command(process, &command.command))
            .collect()
    }

    fn ancestors<'a>(&'a self, process: &'a Process) -> impl Iterator<Item = &'a Process> {
        // A table that is read while processes come and go may hold a ring.
        std::iter::successors(Some(process), |process| self.0.process(process.parent()?))
            .skip(1)
            .take(64)
    }
}

fn runs_command(process: &Process, command: &str) -> bool {
    let words = process.cmd().iter().map(|word| word.to_string_lossy());
    is_part_of(&words.collect::<Vec<_>>(), command)
}

/// Whether a process with these arguments runs the command, or a part of it: a shell has all of it
/// among its arguments, be it quoted once more; what a shell started has a part of it.
fn is_part_of(arguments: &[impl AsRef<str>], command: &str) -> bool {
    let line: Vec<&str> = arguments.iter().map(AsRef::as_ref).collect();
    let (line, command) = (plain(&line.join(" ")), plain(command));
    if command.is_empty() || line.is_empty() {
        return false;
    }
    let has_words = line.contains(' ');
    has_words_of(&line, &command) || (has_words && has_words_of(&command, &line))
}

/// Whether a text has these words in it: not `build:watch` for `build`.
fn has_words_of(text: &str, words: &str) -> bool {
    let is_border =
        |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | ')' | '<' | '>');
    text.match_indices(words).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + words.len()..].chars().next();
        before.is_none_or(is_border) && behind.is_none_or(is_border)
    })
}

/// Without quotes and with single spaces, so that one more layer of quoting makes no difference.
fn plain(text: &str) -> String {
    let unquoted: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
    unquoted.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_025_a_command_is_known_by_what_it_runs() {
        let command = "echo 'a b'; sleep 20";
        for arguments in [
            &["/bin/bash", "-lc", "echo 'a b'; sleep 20"][..],
            &["bash", "-c", r"eval 'echo '\''a b'\''; sleep 20' < /dev/null"],
            &["sandbox", "--", "bash", "-c", "echo 'a b'; sleep 20"],
            &["sleep", "20"],
        ] {
            assert!(is_part_of(arguments, command), "{arguments:?}");
        }
        for arguments in [&["bash"][..], &["sleep", "200"], &["sleep"], &[], &["node", "agent.js"]]
        {
            assert!(!is_part_of(arguments, command), "{arguments:?}");
        }
        assert!(!is_part_of(&["sleep", "20"], ""));
        assert!(!is_part_of(&["npm", "run", "build:watch"], "npm run build"));
        assert!(!is_part_of(&["vim", "catalogue.txt"], "cat"));
    }

    #[test]
    fn s_025_another_run_of_the_same_words_is_another_command() {
        let command = CancelledCommand { command: "make".into(), since: 100, until: 200 };
        assert!(command.may_be(100) && command.may_be(150) && command.may_be(200));
        assert!(!command.may_be(90) && !command.may_be(210));
    }
}
