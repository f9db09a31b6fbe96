//! The one task that owns an agent's process and sees it to its end.

use std::{io, os::unix::process::ExitStatusExt, process::ExitStatus, time::Duration};

use model::AgentProcess;
use rustix::process::Signal;
use tokio::{
    process::Child,
    sync::{mpsc, watch},
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    AgentEvent, Exit,
    process::{end_session, signal_group},
};

/// An agent that has closed its stdout is of no use any more; this long it may take to end.
const MUTE_GRACE: Duration = Duration::from_secs(2);

/// Owns a process and the tasks at its pipes.
pub(crate) struct Supervisor {
    pub(crate) child: Child,
    pub(crate) process: AgentProcess,
    /// Asks for the end: how long each step of it may take. Dropped: at once.
    pub(crate) stop: watch::Receiver<Option<Duration>>,
    /// Closes the agent's stdin.
    pub(crate) close_stdin: CancellationToken,
    /// Cancelled by the reader at the end of stdout.
    pub(crate) mute: CancellationToken,
    /// Cancelled here when the process is gone: its pid means nothing any more.
    pub(crate) exited: CancellationToken,
    pub(crate) reader: JoinHandle<()>,
    pub(crate) writer: JoinHandle<()>,
    pub(crate) stderr: JoinHandle<Vec<String>>,
    pub(crate) events: mpsc::Sender<AgentEvent>,
    /// Tells that nothing of the agent runs any more.
    pub(crate) ended: watch::Sender<bool>,
}

impl Supervisor {
    /// Runs until the last event is delivered, or nobody listens.
    pub(crate) async fn run(mut self) {
        let status = self.wait_or_end().await;
        // At once, while what is left of the group keeps its number from being given away.
        signal_group(self.process.pid, Signal::KILL);
        self.exited.cancel();
        self.close_stdin.cancel();
        self.end_leftovers().await;
        self.ended.send_replace(true);
        // The agent's last words come before its end. A reader that waits for a slow listener is
        // waited for, too.
        self.reader.await.ok();
        self.writer.await.ok();
        let stderr_tail = self.stderr.await.unwrap_or_default();
        let exit = exit(status.as_ref().ok().copied(), stderr_tail);
        let pid = self.process.pid;
        tracing::debug!(pid, code = ?exit.code, signal = ?exit.signal, "an agent ended");
        self.events.send(AgentEvent::Exited(exit)).await.ok();
    }

    /// Waits for the process to end; when asked, makes it: stdin first, then SIGTERM, SIGKILL.
    async fn wait_or_end(&mut self) -> io::Result<ExitStatus> {
        let grace = tokio::select! {
            status = self.child.wait() => return status,
            grace = asked(&mut self.stop) => grace,
            () = self.mute.cancelled() => MUTE_GRACE,
        };
        self.close_stdin.cancel();
        for signal in [Signal::TERM, Signal::KILL] {
            if let Ok(status) = timeout(grace, self.child.wait()).await {
                return status;
            }
            signal_group(self.process.pid, signal);
        }
        self.child.wait().await
    }

    /// Ends what has left the group but still carries the session's id (P-013).
    async fn end_leftovers(&self) {
        let session = self.process.session_id;
        let ended = spawn_blocking(move || end_session(session)).await.unwrap_or_default();
        if ended > 0 {
            tracing::info!(%session, ended, "ended what an agent left running");
        }
    }
}

async fn asked(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    stop.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).unwrap_or_default()
}

fn exit(status: Option<ExitStatus>, stderr_tail: Vec<String>) -> Exit {
    Exit {
        code: status.and_then(|status| status.code()),
        signal: status.and_then(|status| status.signal()),
        stderr_tail,
    }
}
