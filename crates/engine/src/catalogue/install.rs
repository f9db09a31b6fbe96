//! Installing an agent: a command that runs to its end, with its last lines.

use std::{
    collections::VecDeque,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use model::{JobState, JobView, Timestamp};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::lock;

/// Lines that are kept.
const LINES: usize = 60;
/// The most of a line that is kept, in bytes.
const LINE_BYTES: usize = 200;
/// A line that is longer than this is taken in pieces, in bytes.
const PIECE_BYTES: u64 = 64 * 1024;
/// How long an installation may take.
const LIMIT: Duration = Duration::from_secs(15 * 60);
/// How long it may take to end once it is told to.
const GRACE: Duration = Duration::from_secs(3);

/// An installation. Cheap to clone; every clone is the same one.
#[derive(Debug, Clone)]
pub(super) struct Job {
    view: Arc<Mutex<JobView>>,
    cancel: CancellationToken,
}

impl Job {
    /// One that is about to run `words`.
    pub(super) fn new(words: &[&str], now: Timestamp) -> Self {
        let view = JobView {
            state: JobState::Running,
            started_at: now,
            log: vec![format!("$ {}", words.join(" "))],
        };
        Self { view: Arc::new(Mutex::new(view)), cancel: CancellationToken::new() }
    }

    pub(super) fn view(&self) -> JobView {
        lock(&self.view).clone()
    }

    pub(super) fn is_running(&self) -> bool {
        lock(&self.view).state == JobState::Running
    }

    pub(super) fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Runs the command to its end, or until `stopping`. Needs a Tokio runtime.
    pub(super) async fn run(&self, words: &[&str], stopping: &CancellationToken) {
        let state = match spawn(words) {
            Ok(child) => self.follow(child, stopping).await,
            Err(err) => {
                self.push(&format!("{}: {err}", words.first().copied().unwrap_or_default()));
                JobState::Failed { exit_code: None }
            }
        };
        lock(&self.view).state = state;
    }

    async fn follow(&self, mut child: Child, stopping: &CancellationToken) -> JobState {
        let leader = child.id();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let reading = async { tokio::join!(self.read(stdout), self.read(stderr)) };
        let ended = async {
            let mut reading = std::pin::pin!(reading);
            tokio::select! {
                status = child.wait() => {
                    // What goes on in the background may hold the pipes for ever.
                    let _ = timeout(GRACE, reading).await;
                    status
                }
                _ = &mut reading => child.wait().await,
            }
        };
        let outcome = tokio::select! {
            status = timeout(LIMIT, ended) => Some(status),
            () = self.cancel.cancelled() => None,
            () = stopping.cancelled() => None,
        };
        match outcome {
            Some(Ok(status)) => state_of(status.ok()),
            stopped => {
                leader.into_iter().for_each(acp::process::terminate_group);
                let _ = timeout(GRACE, child.wait()).await;
                leader.into_iter().for_each(acp::process::kill_group);
                if stopped.is_some() {
                    self.push("It took longer than 15 minutes and was ended.");
                    return JobState::Failed { exit_code: None };
                }
                JobState::Cancelled
            }
        }
    }

    /// Reads lines until the end. One that a carriage return replaces is shown at its last state.
    async fn read(&self, pipe: Option<impl AsyncRead + Unpin>) {
        let Some(pipe) = pipe else { return };
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while let Ok(1..) = (&mut reader).take(PIECE_BYTES).read_until(b'\n', &mut line).await {
            let text = String::from_utf8_lossy(&line);
            let last = text.trim_end().rsplit('\r').next().unwrap_or_default();
            if !last.is_empty() {
                self.push(last);
            }
            line.clear();
        }
    }

    fn push(&self, line: &str) {
        let end = line.floor_char_boundary(LINE_BYTES);
        let is_plain = |c: &char| !c.is_control();
        let line: String = line[..end].chars().filter(is_plain).collect();
        let mut view = lock(&self.view);
        let mut log = VecDeque::from(std::mem::take(&mut view.log));
        if log.len() == LINES {
            log.pop_front();
        }
        log.push_back(line);
        view.log = log.into();
    }
}

fn spawn(words: &[&str]) -> std::io::Result<Child> {
    let (program, args) = words.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    Command::new(program)
        .args(args)
        .env_remove("KANDEV_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

fn state_of(status: Option<ExitStatus>) -> JobState {
    match status {
        Some(status) if status.success() => JobState::Succeeded,
        status => JobState::Failed { exit_code: status.and_then(|status| status.code()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    async fn ran(script: &str) -> JobView {
        let words = ["sh", "-c", script];
        let job = Job::new(&words, Timestamp::from_millis(0));
        job.run(&words, &CancellationToken::new()).await;
        job.view()
    }

    #[tokio::test]
    async fn k_030_an_installation_shows_what_it_prints_and_how_it_ended() {
        let view = ran("echo one; echo two >&2; printf '10%%\\r50%%\\rdone\\n'; exit 3").await;
        assert_eq!(view.state, JobState::Failed { exit_code: Some(3) });
        assert!(view.log[0].starts_with("$ sh -c"));
        for line in ["one", "two", "done"] {
            assert!(view.log.iter().any(|known| known == line), "{:?}", view.log);
        }
        assert_eq!(ran("true").await.state, JobState::Succeeded);
    }

    #[tokio::test]
    async fn k_030_a_flood_of_lines_is_bounded() {
        let view = ran("yes 'a line that is repeated' | head -n 20000; echo last").await;
        assert_eq!((view.log.len(), view.log.last().map(String::as_str)), (LINES, Some("last")));
        let long = ran("head -c 300000 /dev/zero | tr '\\0' x").await;
        assert!(long.log.iter().skip(1).all(|line| line.len() <= LINE_BYTES));
    }

    #[tokio::test]
    async fn k_030_an_installation_that_is_cancelled_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
        let words = ["sh", "-c", &script];
        let job = Job::new(&words, Timestamp::from_millis(0));
        let stopping = CancellationToken::new();
        let cancel = async {
            while !std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(job.is_running());
            job.cancel();
        };
        let began = Instant::now();
        tokio::join!(job.run(&words, &stopping), cancel);
        assert_eq!(job.view().state, JobState::Cancelled);
        let pid = std::fs::read_to_string(&pid).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        // The system ends it in its own time.
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            assert!(began.elapsed() < Duration::from_secs(30), "the child goes on");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_said() {
        let words = ["no-such-installer"];
        let job = Job::new(&words, Timestamp::from_millis(0));
        job.run(&words, &CancellationToken::new()).await;
        assert_eq!(job.view().state, JobState::Failed { exit_code: None });
        assert!(job.view().log[1].starts_with("no-such-installer: "));
    }
}
