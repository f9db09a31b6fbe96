//! Memory of a server that nobody uses, and its time to listen.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::build;
use crate::workspace::{Profile, Workspace};

/// What an idle server may hold of its own memory.
const RESIDENT_BYTES: u64 = 25_000_000;
/// How long the server is left alone before it is measured.
const SETTLING: Duration = Duration::from_secs(10);

/// Builds the release server, starts it on an empty data directory and prints what it costs.
pub(super) fn measure(workspace: &Workspace) -> Result<()> {
    build::release(workspace)?;
    let data = tempfile::tempdir().context("making a data directory")?;
    let start = Instant::now();
    let mut server = Server::start(&workspace.binary(Profile::Release, "kandev"), data.path())?;
    server.wait_until_listening()?;
    println!("listens after {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    thread::sleep(SETTLING.saturating_sub(start.elapsed()));
    let resident = server.resident()?;
    println!(
        "holds {} kB of its own memory after {} s (at most {} kB)",
        resident / 1000,
        SETTLING.as_secs(),
        RESIDENT_BYTES / 1000
    );
    ensure!(resident <= RESIDENT_BYTES, "an idle server holds too much memory");
    Ok(())
}

/// A server process that ends with this value.
struct Server(Child);

impl Server {
    fn start(kandev: &Path, data: &Path) -> Result<Self> {
        let mut command = Command::new(kandev);
        command
            .args(["serve", "--port", "0", "--data-dir"])
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("KANDEV_") {
                command.env_remove(name);
            }
        }
        let child = command.spawn().with_context(|| format!("starting {}", kandev.display()))?;
        Ok(Self(child))
    }

    /// The server prints its address once it accepts connections. The pipe stays open after that:
    /// closing it would end a server that prints one line more.
    fn wait_until_listening(&mut self) -> Result<()> {
        let stdout = self.0.stdout.as_mut().context("the server's output is a pipe")?;
        let mut line = String::new();
        let mut lines = BufReader::new(stdout);
        while lines.read_line(&mut line).context("reading the server's output")? > 0 {
            if line.contains("listens on") {
                return Ok(());
            }
            line.clear();
        }
        let status = self.0.wait().context("waiting for the server")?;
        anyhow::bail!("the server ended before it listened ({status})");
    }

    /// `RssAnon`, in bytes: memory of its own, without the pages of the binary.
    fn resident(&self) -> Result<u64> {
        let path = format!("/proc/{}/status", self.0.id());
        let status = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
        resident_bytes(&status).with_context(|| format!("{path} has no RssAnon"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to do about a process that cannot be ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_in_kibibytes() {
        let status = "Name:\tkandev\nVmRSS:\t   30000 kB\nRssAnon:\t   12345 kB\nRssFile:\t 1 kB\n";
        assert_eq!(resident_bytes(status), Some(12_345 * 1024));
        assert_eq!(resident_bytes("Name:\tkthreadd\n"), None);
    }
}
