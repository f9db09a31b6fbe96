//! What passes between Kandev and its agents, written to files that can be attached to a report.

use std::{
    env,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, BufWriter, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    time::Instant,
};

use acp::{Direction, Tap};
use model::{LaunchCommand, SessionId};
use serde_json::{Value, json};

use super::redact::Redactor;

/// Lines that wait to be written. The agent never waits for them: when so many do, lines are left
/// out, and the recording says how many.
const WAITING: usize = 4096;

/// Where recordings are written, one file for each agent process.
#[derive(Debug, Clone)]
pub struct Recorder {
    dir: PathBuf,
}

/// One recording that is to be written, to its end, where blocking is allowed.
pub(crate) struct Recording {
    file: BufWriter<File>,
    redactor: Redactor,
    lines: Receiver<Line>,
    lost: Arc<AtomicU64>,
}

struct Line {
    /// Seconds since the agent was started.
    at: f64,
    direction: Direction,
    bytes: Vec<u8>,
}

impl Recorder {
    /// Records into this directory, which is made if it is missing, readable by its owner alone.
    ///
    /// # Errors
    ///
    /// When the directory can neither be found nor made.
    pub fn new(dir: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        Ok(Self { dir: fs::canonicalize(dir)? })
    }

    /// Begins the recording of an agent that is about to be started for this session.
    pub(crate) fn begin(
        &self,
        session_id: SessionId,
        command: &LaunchCommand,
    ) -> io::Result<(Tap, Recording)> {
        let file = self.create_file(session_id)?;
        let (waiting, lines) = sync_channel(WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let inherited = env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let redactor = Redactor::new(inherited.chain(command.env.iter().cloned()));
        let recording =
            Recording { file: BufWriter::new(file), redactor, lines, lost: Arc::clone(&lost) };
        Ok((tap(waiting, lost), recording))
    }

    /// A new file: `<session>.jsonl`, with a number for every later agent of the same session.
    fn create_file(&self, session_id: SessionId) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        for run in 1_u32.. {
            let number = if run == 1 { String::new() } else { format!(".{run}") };
            match options.open(self.dir.join(format!("{session_id}{number}.jsonl"))) {
                Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return opened,
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn tap(waiting: SyncSender<Line>, lost: Arc<AtomicU64>) -> Tap {
    let begin = Instant::now();
    Tap::new(move |direction, bytes: &[u8]| {
        let at = begin.elapsed().as_secs_f64();
        if waiting.try_send(Line { at, direction, bytes: bytes.to_vec() }).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    })
}

impl Recording {
    /// Writes until the agent is gone.
    pub(crate) fn write(mut self) {
        if let Err(err) = self.write_all() {
            tracing::error!(%err, "a recording ends early: it cannot be written");
        }
    }

    fn write_all(&mut self) -> io::Result<()> {
        loop {
            let line = match self.lines.try_recv() {
                Ok(line) => line,
                Err(TryRecvError::Empty) => {
                    // Whoever copies the file while the agent is silent gets all that was said.
                    self.file.flush()?;
                    match self.lines.recv() {
                        Ok(line) => line,
                        Err(_) => break,
                    }
                }
                Err(TryRecvError::Disconnected) => break,
            };
            self.write_lost(line.at)?;
            let record = record(&line, &self.redactor);
            writeln!(self.file, "{record}")?;
        }
        self.file.flush()
    }

    fn write_lost(&mut self, at: f64) -> io::Result<()> {
        match self.lost.swap(0, Ordering::Relaxed) {
            0 => Ok(()),
            lost => {
                let text = format!("about here {lost} lines could not be written in time");
                writeln!(self.file, "{}", json!({"t": at, "dir": "meta", "text": text}))
            }
        }
    }
}

/// `{"t", "dir", "frame" or "text"}`.
fn record(line: &Line, redactor: &Redactor) -> Value {
    let at = (line.at * 10_000.0).round() / 10_000.0;
    let frame = match line.direction {
        Direction::In => Some("in"),
        Direction::Out => Some("out"),
        Direction::Err => None,
    };
    if let Some(dir) = frame
        && let Ok(mut frame) = serde_json::from_slice::<Value>(&line.bytes)
        && frame.is_object()
    {
        redactor.value(&mut frame);
        return json!({"t": at, "dir": dir, "frame": frame});
    }
    let text = String::from_utf8_lossy(&line.bytes);
    let dir = if line.direction == Direction::Err { "err" } else { "nonjson" };
    json!({"t": at, "dir": dir, "text": redactor.text(text.trim_end_matches(['\r', '\n']))})
}
