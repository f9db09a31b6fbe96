//! What the page of a task costs in Chromium; `end2end/bench` measures, this file judges.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::report::Section;
use crate::browser;
use crate::process::run;
use crate::workspace::{Profile, Workspace};

/// What bodies may add to a page that does not show them.
const BODIES_RATIO: f64 = 1.2;
/// The same of the time in which the page is rendered: a row whose output can be opened is more to
/// render than one without.
const RENDERING_RATIO: f64 = 1.4;
/// What a hundred times the history may add to a page that shows its end.
const HISTORY_RATIO: f64 = 1.5;
/// The longest task of the page's main thread while an output of 256 KiB is opened.
const OPENING_MS: f64 = 100.0;
/// The longest task of the page's main thread while an agent says something 200 times a second.
const FLOOD_MS: f64 = 50.0;

const SECTION: Section = Section {
    title: "The page of a task",
    about: "\
Written by `cargo xtask bench page`: the release server and Chromium, on one machine.
Medians of several; ratios are of requests in turn, and a time is until the whole answer was there, over loopback.
Tasks of the page's main thread are from Chromium's own trace; limits are for the time in which it ran, since by the clock others on the same processors are measured with it.
Outputs are opened, and an agent floods its task, on a page with 1,000 messages behind it.
\"Against none\" is the task of 1,000 messages whose commands wrote nothing.
",
};

/// A number of the table.
struct Row {
    /// What `end2end/bench` calls it.
    name: &'static str,
    what: &'static str,
    unit: &'static str,
    most: Option<f64>,
}

const fn row(name: &'static str, what: &'static str, unit: &'static str) -> Row {
    Row { name, what, unit, most: None }
}

impl Row {
    const fn at_most(self, most: f64) -> Self {
        Self { most: Some(most), ..self }
    }
}

#[rustfmt::skip]
const ROWS: [Row; 37] = [
    row("page.bytes", "page of 1,000 messages", " bytes"),
    row("page.ms", "page of 1,000 messages", " ms"),
    row("page.full.bytes", "page, 512 KiB in each message against none: bytes", "x").at_most(BODIES_RATIO),
    row("page.full.ms", "page, 512 KiB in each message against none: time", "x").at_most(RENDERING_RATIO),
    row("page.long.bytes", "page, 100,000 messages against 1,000: bytes", "x").at_most(HISTORY_RATIO),
    row("page.long.ms", "page, 100,000 messages against 1,000: time", "x").at_most(HISTORY_RATIO),
    row("state.bytes", "boot state of 1,000 messages", " bytes"),
    row("state.ms", "boot state of 1,000 messages", " ms"),
    row("state.full.bytes", "boot state, 512 KiB in each message against none: bytes", "x").at_most(BODIES_RATIO),
    row("state.full.ms", "boot state, 512 KiB in each message against none: time", "x").at_most(BODIES_RATIO),
    row("state.long.bytes", "boot state, 100,000 messages against 1,000: bytes", "x").at_most(HISTORY_RATIO),
    row("state.long.ms", "boot state, 100,000 messages against 1,000: time", "x").at_most(HISTORY_RATIO),
    row("messages.bytes", "list of messages", " bytes"),
    row("messages.ms", "list of messages", " ms"),
    row("messages.full.bytes", "list, 512 KiB in each message against none: bytes", "x").at_most(BODIES_RATIO),
    row("messages.full.ms", "list, 512 KiB in each message against none: time", "x").at_most(BODIES_RATIO),
    row("messages.long.bytes", "list, 100,000 messages against 1,000: bytes", "x").at_most(HISTORY_RATIO),
    row("messages.long.ms", "list, 100,000 messages against 1,000: time", "x").at_most(HISTORY_RATIO),
    row("opening.lines.cpuMs", "opening 256 KiB in lines: longest task", " ms").at_most(OPENING_MS),
    row("opening.lines.ms", "opening 256 KiB in lines: longest task, by the clock", " ms"),
    row("opening.one-line.cpuMs", "opening 256 KiB in one line: longest task", " ms").at_most(OPENING_MS),
    row("opening.one-line.ms", "opening 256 KiB in one line: longest task, by the clock", " ms"),
    row("flood.closed.cpuMs", "flood of output, closed: longest task", " ms").at_most(FLOOD_MS),
    row("flood.closed.ms", "flood of output, closed: longest task, by the clock", " ms"),
    row("flood.closed.n_long", "flood of output, closed: tasks over 50 ms, by the clock", ""),
    row("flood.closed.rate", "flood of output, closed: frames of the agent", "/s"),
    row("flood.closed.updates", "flood of output, closed: updates on the page", ""),
    row("flood.open.cpuMs", "flood of output, open: longest task", " ms").at_most(FLOOD_MS),
    row("flood.open.ms", "flood of output, open: longest task, by the clock", " ms"),
    row("flood.open.n_long", "flood of output, open: tasks over 50 ms, by the clock", ""),
    row("flood.open.rate", "flood of output, open: frames of the agent", "/s"),
    row("flood.open.updates", "flood of output, open: updates on the page", ""),
    row("flood.answer.cpuMs", "flood of answer: longest task", " ms").at_most(FLOOD_MS),
    row("flood.answer.ms", "flood of answer: longest task, by the clock", " ms"),
    row("flood.answer.n_long", "flood of answer: tasks over 50 ms, by the clock", ""),
    row("flood.answer.rate", "flood of answer: frames of the agent", "/s"),
    row("flood.answer.updates", "flood of answer: updates on the page", ""),
];

/// Measures, prints, writes down, and fails when a promise is not kept.
pub(super) fn measure(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["build", "--release", "--package", "store", "--example", "fill"]))?;
    let folder = tempfile::tempdir().context("making a folder for the results")?;
    let (script, results) = (folder.path().join("script"), folder.path().join("results.json"));
    fs::write(&results, "{}").context("making the results")?;
    browser::bench(
        workspace,
        &[
            ("BENCH_FILL", &workspace.binary(Profile::Release, "examples/fill")),
            ("BENCH_SCRIPT", &script),
            ("BENCH_RESULTS", &results),
        ],
    )?;
    let results = fs::read_to_string(&results).context("reading the results")?;
    let found = serde_json::from_str(&results).context("reading the results")?;
    let table = table(&found)?;
    print!("{table}");
    SECTION.write(workspace, &table)?;
    let broken = broken(&found);
    ensure!(broken.is_empty(), "more than promised: {}", broken.join("; "));
    Ok(())
}

fn table(found: &BTreeMap<String, f64>) -> Result<String> {
    let mut table = String::from("| what | measured | at most |\n|---|---|---|\n");
    for Row { name, what, unit, most } in ROWS {
        let value = found.get(name).with_context(|| format!("{name} was not measured"))?;
        let most = most.map(|most| format!("{most}{unit}")).unwrap_or_default();
        writeln!(table, "| {what} | {}{unit} | {most} |", shown(*value))?;
    }
    Ok(table)
}

/// Three digits say enough.
fn shown(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 || value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn broken(found: &BTreeMap<String, f64>) -> Vec<&'static str> {
    let is_broken = |row: &&Row| match (found.get(row.name), row.most) {
        (Some(value), Some(most)) => *value > most,
        _ => false,
    };
    ROWS.iter().filter(is_broken).map(|row| row.what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(value: f64) -> BTreeMap<String, f64> {
        ROWS.iter().map(|row| (row.name.to_owned(), value)).collect()
    }

    #[test]
    fn what_is_over_its_limit_is_named() {
        let mut found = all(1.2);
        assert_eq!(broken(&found), [""; 0]);
        found.insert("opening.lines.cpuMs".into(), 100.1);
        found.insert("page.ms".into(), 1e9);
        assert_eq!(broken(&found), ["opening 256 KiB in lines: longest task"]);
    }

    #[test]
    fn every_number_is_in_the_table_or_missed() {
        let table = table(&all(12.345)).unwrap();
        assert!(table.contains("| flood of answer: longest task | 12.3 ms | 50 ms |"), "{table}");
        assert!(super::table(&BTreeMap::new()).is_err());
    }
}
