//! What it costs to take in what agents say; the table goes to `docs/benchmarks.md`.

use anyhow::{Context as _, Result, bail};

use super::report::Section;
use crate::workspace::Workspace;

const SECTION: Section = Section {
    title: "Taking in what agents say",
    about: "\
Written by `cargo xtask bench ingest`.
Ratios of one run, each the best of five: machines differ, and are noisy.
Recorded conversations are taken in as fast as the machine can; what changed is taken from the machine as often as the recorded time says, and goes to the store in batches, each record in its last form.
",
};

/// Runs the benchmark and writes down what it printed, also when a promise is not kept.
pub(super) fn measure(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo();
    command.args(["bench", "--quiet", "--package", "engine", "--bench", "ingest"]);
    println!("$ cargo bench --package engine --bench ingest");
    let output = command.output().context("running the benchmark")?;
    let table = String::from_utf8(output.stdout).context("reading what the benchmark printed")?;
    print!("{table}");
    if table.starts_with('|') {
        SECTION.write(workspace, &table)?;
    }
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
