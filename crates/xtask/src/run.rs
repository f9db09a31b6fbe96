//! `cargo xtask run`: the one command on a fresh machine.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context as _, Result};

use crate::process;
use crate::site;
use crate::workspace::{Profile, Workspace};

/// Builds what changed and becomes `kandev serve`, so that signals and exit code are the server's own.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<()> {
    site::build(workspace)?;
    process::run(workspace.cargo().args(["build", "--package", "server", "--bin", "kandev"]))?;
    let kandev = workspace.binary(Profile::Dev, "kandev");
    let args = args.strip_prefix(&["--".to_owned()]).unwrap_or(args);
    let failure = std::process::Command::new(&kandev).arg("serve").args(args).exec();
    Err(failure).with_context(|| format!("starting {}", kandev.display()))
}
