//! The end-to-end tests, the pictures and what is measured in a page: Chromium, Playwright and the programs that they drive.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};

use crate::build;
use crate::process::{install_packages, is_installed, run};
use crate::site;
use crate::workspace::{Profile, Workspace};

const CHROMIUM: &str = "/usr/bin/chromium";

/// Runs the journeys.
pub(crate) fn test(workspace: &Workspace) -> Result<()> {
    playwright(workspace, Profile::Dev, &[], &[])
}

/// Takes the pictures in `docs/screens`, so that a change of the look shows in its commit.
pub(crate) fn screens(workspace: &Workspace) -> Result<()> {
    playwright(workspace, Profile::Dev, &["--config", "screens.config.ts"], &[])
}

/// Measures pages of the release server. `env` is what the measurement needs beside it.
pub(crate) fn bench(workspace: &Workspace, env: &[(&str, &Path)]) -> Result<()> {
    playwright(workspace, Profile::Release, &["--config", "bench.config.ts"], env)
}

/// Builds the server with its page and the fake agent, and lets Playwright drive them.
fn playwright(
    workspace: &Workspace,
    profile: Profile,
    args: &[&str],
    env: &[(&str, &Path)],
) -> Result<()> {
    let chromium = chromium()?;
    let folder = workspace.root.join("end2end");
    install_modules(workspace, &folder)?;
    programs(workspace, profile)?;
    run(workspace.command("npx").current_dir(&folder).args(["--no-install", "tsc", "--noEmit"]))?;
    run(workspace
        .command("npx")
        .current_dir(&folder)
        .args(["--no-install", "playwright", "test"])
        .args(args)
        .envs(env.iter().copied())
        .env("CHROMIUM_PATH", chromium)
        .env("KANDEV_BIN", workspace.binary(profile, "kandev"))
        .env("FAKE_AGENT_BIN", workspace.binary(profile, "fake-agent")))
}

fn programs(workspace: &Workspace, profile: Profile) -> Result<()> {
    match profile {
        Profile::Dev => {
            site::build(workspace)?;
            // All programs at once, as the unit tests have them: no dependency is built with other
            // features.
            run(workspace.cargo().args(["build", "--bins"]))
        }
        Profile::Release => {
            build::release(workspace)?;
            let agent = ["build", "--release", "--package", "fake-agent", "--bin", "fake-agent"];
            run(workspace.cargo().args(agent))
        }
    }
}

/// `CHROMIUM_PATH`, or Debian's, which is installed when it is missing.
fn chromium() -> Result<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM_PATH") {
        return Ok(path.into());
    }
    if !Path::new(CHROMIUM).exists() {
        install_packages(&["chromium"])
            .context("the end-to-end tests need Chromium; or name one in CHROMIUM_PATH")?;
    }
    Ok(CHROMIUM.into())
}

/// Installs the node modules of the lock file, unless they are installed.
fn install_modules(workspace: &Workspace, folder: &Path) -> Result<()> {
    ensure!(is_installed("npm"), "missing: Node.js 20 or newer with npm (https://nodejs.org)");
    let lock = folder.join("package-lock.json");
    let wanted = fs::read(&lock).with_context(|| format!("reading {}", lock.display()))?;
    let installed = folder.join("node_modules/.installed-lock.json");
    if fs::read(&installed).is_ok_and(|lock| lock == wanted) {
        return Ok(());
    }
    run(workspace
        .command("npm")
        .current_dir(folder)
        .args(["ci", "--no-audit", "--no-fund"])
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1"))?;
    fs::write(&installed, wanted).with_context(|| format!("writing {}", installed.display()))
}
