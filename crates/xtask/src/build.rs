//! `cargo xtask build`: the release binary.

use std::fs;

use anyhow::{Context as _, Result};

use crate::process;
use crate::site;
use crate::workspace::{Profile, Workspace};

/// Builds the page and the one file that serves it, and says where it is.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    release(workspace)?;
    let kandev = workspace.binary(Profile::Release, "kandev");
    let size =
        fs::metadata(&kandev).with_context(|| format!("looking at {}", kandev.display()))?.len();
    println!("{} ({} kB)", kandev.display(), size / 1000);
    Ok(())
}

/// The release binary with the current page in it.
pub(crate) fn release(workspace: &Workspace) -> Result<()> {
    site::build(workspace)?;
    process::run(workspace.cargo().args([
        "build",
        "--release",
        "--package",
        "server",
        "--bin",
        "kandev",
    ]))
}
