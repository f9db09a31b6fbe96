//! `cargo xtask fuzz`: the fuzz targets, built with the coverage counters that libFuzzer steers by.
//!
//! The flags are those of `cargo fuzz --sanitizer none`, which a stable compiler takes, too.

mod corpus;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::process::{install_packages, is_installed, run};
use crate::workspace::Workspace;

const TARGETS: [&str; 2] = ["frames", "lines"];
/// Inputs that a smoke run tries after the recordings; it takes seconds.
const SMOKE_RUNS: &str = "-runs=20000";
/// Recordings are cut to this; what breaks in more, breaks in less.
const INPUT_BYTES: &str = "-max_len=32768";

const COVERAGE: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Fuzzes one target for so many seconds: `fuzz TARGET SECONDS`.
pub(crate) fn fuzz(workspace: &Workspace, args: &[String]) -> Result<()> {
    let [target, seconds] = args else {
        bail!("name a target ({}) and how many seconds: `fuzz frames 60`", TARGETS.join(", "));
    };
    let Some(target) = TARGETS.into_iter().find(|known| known == target) else {
        bail!("there is no target `{target}`; there are {}", TARGETS.join(", "));
    };
    let seconds: u32 = seconds.parse().context("reading the seconds")?;
    build(workspace)?;
    play(workspace, target, &[&format!("-max_total_time={seconds}")])
}

/// Every target over the recordings, and over some thousand inputs made from them.
pub(crate) fn smoke(workspace: &Workspace) -> Result<()> {
    build(workspace)?;
    for target in TARGETS {
        play(workspace, target, &[SMOKE_RUNS, "-seed=1"])?;
    }
    Ok(())
}

fn build(workspace: &Workspace) -> Result<()> {
    if !is_installed("c++") {
        install_packages(&["g++"]).context("libFuzzer is built by a C++ compiler")?;
    }
    run(workspace
        .cargo()
        .args(["build", "--package", "fuzz", "--profile", "fuzz", "--target", &host()?])
        // With a target named, build scripts and macros are spared the flags.
        .env("RUSTFLAGS", COVERAGE))
}

/// Runs a target. What it learns stays in the target folder; an input that fails is kept, too.
fn play(workspace: &Workspace, target: &str, options: &[&str]) -> Result<()> {
    let folder = workspace.target().join("fuzz").join(target);
    let [seeds, learnt, failed] = ["seeds", "learnt", "failed"].map(|name| folder.join(name));
    corpus::write(workspace, target, &seeds)?;
    for made in [&learnt, &failed] {
        fs::create_dir_all(made).with_context(|| format!("making {}", made.display()))?;
    }
    let failed = format!("-artifact_prefix={}/", failed.display());
    run(workspace
        .command(program(workspace, target)?)
        .args(options)
        .args([INPUT_BYTES, "-verbosity=0", "-print_final_stats=1", &failed])
        .args([learnt, seeds]))
    .with_context(|| format!("`{target}` failed; its input is under {}", folder.display()))
}

fn program(workspace: &Workspace, target: &str) -> Result<PathBuf> {
    Ok(workspace.target().join(host()?).join("fuzz").join(target))
}

/// The triple of this machine, as the compiler names it.
fn host() -> Result<String> {
    let version =
        crate::process::capture(std::process::Command::new("rustc").arg("--version").arg("-v"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not name its host")
}
