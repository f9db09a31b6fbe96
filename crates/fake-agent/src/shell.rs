//! Really running a command.

use std::{
    io::{self, Read},
    os::unix::process::ExitStatusExt,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use crate::signals::{Cancelled, Signals};

/// How often a running command looks whether the turn was cancelled.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// Runs `sh -c command` in `cwd`, both streams in one, and gives what it prints to `print`. Returns
/// its exit code as a shell would give it; a command that is cancelled is killed.
pub(crate) fn run(
    command: &str,
    cwd: &str,
    signals: &Signals,
    mut print: impl FnMut(&str),
) -> Result<i64, Cancelled> {
    let (mut child, printed) = match spawn(command, cwd) {
        Ok(started) => started,
        Err(err) => {
            print(&format!("sh: {err}\n"));
            return Ok(127);
        }
    };
    loop {
        match printed.recv_timeout(CANCEL_CHECK) {
            Ok(text) => print(&text),
            Err(RecvTimeoutError::Timeout) => {
                if signals.sleep(Duration::ZERO).is_err() {
                    child.kill().ok();
                    child.wait().ok();
                    return Err(Cancelled);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(child.wait().map_or(127, exit_code))
}

fn spawn(command: &str, cwd: &str) -> io::Result<(Child, mpsc::Receiver<String>)> {
    let (reader, writer) = io::pipe()?;
    let mut sh = Command::new("sh");
    sh.args(["-c", command]).current_dir(cwd).stdin(Stdio::null());
    let child = sh.stderr(writer.try_clone()?).stdout(writer).spawn()?;
    // The command still holds the writing end.
    drop(sh);
    let (sender, printed) = mpsc::sync_channel(16);
    thread::spawn(move || forward(reader, &sender));
    Ok((child, printed))
}

fn forward(mut reader: impl Read, sender: &mpsc::SyncSender<String>) {
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut chunk) {
        let text = String::from_utf8_lossy(&chunk[..count]).into_owned();
        if sender.send(text).is_err() {
            return;
        }
    }
}

fn exit_code(status: ExitStatus) -> i64 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.map_or(127, i64::from)
}

/// Leaves a `sleep` behind that outlives the turn: in the agent's group, or in a session of its
/// own. Returns its pid, once it is there.
pub(crate) fn leave_behind(detached: bool) -> io::Result<u32> {
    let mut command = if detached { Command::new("setsid") } else { Command::new("env") };
    // Neither forks: each replaces itself by what it starts, so the pid stays.
    command.args(["sh", "-c", "echo; exec sleep 600 >&-"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_exact(&mut [0])?;
    }
    Ok(child.id())
}
