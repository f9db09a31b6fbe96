//! `kandev serve`

use std::{io, thread::available_parallelism, time::Duration};

use tokio::{
    runtime,
    signal::unix::{Signal, SignalKind, signal},
};

use super::{Failure, print};
use crate::{Config, Server};

/// Agents wait on pipes and sockets: a machine of one core still has to serve beside a busy task.
const MIN_WORKERS: usize = 4;
/// Rendering a page recurses deeply.
const STACK_BYTES: usize = 8 << 20;
/// What is still running then is left behind.
const LEAVE: Duration = Duration::from_millis(300);

pub(super) fn run(config: Config) -> Result<(), Failure> {
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(available_parallelism().map_or(MIN_WORKERS, |n| n.get().max(MIN_WORKERS)))
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(serve(config));
    runtime.shutdown_timeout(LEAVE);
    outcome
}

async fn serve(config: Config) -> Result<(), Failure> {
    // Before anything starts, so that a signal during the start ends it in order, too.
    let mut signals = Signals::new()?;
    let running = Server::start(config).await?;
    print(format_args!(
        "Kandev {} listens on http://{}",
        env!("CARGO_PKG_VERSION"),
        running.addr()
    ));
    print(format_args!("Open  {}", running.one_time_link()));
    print(format_args!("The link works once; `kandev link` prints another."));
    signals.next().await;
    tracing::info!("ending; another signal ends at once");
    tokio::select! {
        () = running.shutdown() => Ok(()),
        () = signals.next() => Err("ended at once: the next start settles what was open".into()),
    }
}

/// The signals that mean: end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
