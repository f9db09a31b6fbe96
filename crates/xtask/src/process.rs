//! Running other programs: shown before they start, and their failure is an error.

use std::env;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs the command with the terminal as it is.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("starting `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs the command silently and returns what it wrote to standard output.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("starting `{line}`"))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}): {}", output.status, complaint.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` did not print UTF-8"))
}

/// Whether a program of this name is on the search path.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether this process may install system packages.
pub(crate) fn is_root() -> bool {
    capture(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

/// Installs Debian packages, or says which command does.
pub(crate) fn install_packages(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if !is_root() || !is_installed("apt-get") {
        bail!("missing: {names}; install with `sudo apt-get install -y {names}`");
    }
    run(Command::new("apt-get").args(["update", "-qq"]))?;
    run(Command::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(packages)
        .env("DEBIAN_FRONTEND", "noninteractive"))
}

fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    // The full path of cargo is noise; its name is what a reader would type.
    let name = program.rsplit('/').next().unwrap_or_default();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(name.to_owned()).chain(args).collect::<Vec<_>>().join(" ")
}
