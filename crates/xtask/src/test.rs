//! `cargo xtask test`: everything that must hold before a change lands, cheapest first.

mod summary;

use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::browser;
use crate::fuzz;
use crate::process::{is_installed, run};
use crate::site;
use crate::tidy;
use crate::wasm::Toolchain;
use crate::workspace::Workspace;
use summary::{Outcome, Verdict};

/// One thing that is checked.
struct Step {
    name: &'static str,
    title: &'static str,
    /// What to do when it fails.
    advice: &'static str,
    check: fn(&Workspace) -> Result<()>,
}

const STEPS: [Step; 8] = [
    Step { name: "fmt", title: "Formatting", advice: "run `cargo fmt --all`", check: formatting },
    Step {
        name: "tidy",
        title: "Rules of the workspace",
        advice: "each line above names the rule and the file; `cargo xtask tidy` checks again",
        check: tidy::tidy,
    },
    Step {
        name: "clippy",
        title: "Lints, for the host and for the browser",
        advice: "fix the lint; `cargo xtask test --only clippy` checks again",
        check: lints,
    },
    Step {
        name: "site",
        title: "The page's files and their size",
        advice: "mend the build; or, over the budget, move what grew to the server",
        check: page,
    },
    Step {
        name: "nextest",
        title: "Unit and integration tests",
        advice: "run one test with `cargo nextest run -p PACKAGE NAME`",
        check: unit_tests,
    },
    Step {
        name: "fuzz",
        title: "A short run of the fuzz targets",
        advice: "make the input that was kept a test; `cargo xtask fuzz TARGET 60` looks for more",
        check: fuzz::smoke,
    },
    Step {
        name: "doc",
        title: "Documentation",
        advice: "fix the link or the markup that rustdoc names",
        check: documentation,
    },
    Step {
        name: "e2e",
        title: "End-to-end tests in Chromium",
        advice: "traces and screenshots of failed tests are in end2end/test-results",
        check: browser::test,
    },
];

/// Runs the chosen steps, stops at the first failure, and sums up.
pub(crate) fn test(workspace: &Workspace, args: &[String]) -> Result<()> {
    let steps = chosen(args)?;
    let mut outcomes = Vec::new();
    for step in &steps {
        let outcome = attempt(workspace, step);
        let is_over = outcome.verdict == Verdict::Failed;
        outcomes.push(outcome);
        if is_over {
            break;
        }
    }
    println!("\n{}", summary::table(&outcomes));
    match outcomes.iter().any(|outcome| outcome.verdict == Verdict::Failed) {
        true => bail!("stopped at `{}`", outcomes[outcomes.len() - 1].name),
        false => Ok(()),
    }
}

fn attempt(workspace: &Workspace, step: &Step) -> Outcome {
    println!("\n=== {}: {}", step.name, step.title);
    let start = Instant::now();
    let verdict = match (step.check)(workspace) {
        Ok(()) => Verdict::Passed,
        Err(error) => {
            println!("\n{} failed: {error:#}\nWhat to do: {}.", step.name, step.advice);
            Verdict::Failed
        }
    };
    let time = start.elapsed();
    println!("--- {}: {}", step.name, summary::seconds(time));
    Outcome { name: step.name, verdict, time }
}

/// The steps that `--only` and `--skip` leave, in their order.
fn chosen(args: &[String]) -> Result<Vec<&'static Step>> {
    let (mut only, mut skip) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(option) = rest.next() {
        let list = match option.as_str() {
            "--only" => &mut only,
            "--skip" => &mut skip,
            unknown => bail!("`cargo xtask test` knows --only and --skip, not `{unknown}`"),
        };
        list.push(known(rest.next().with_context(|| format!("{option} needs a step"))?)?);
    }
    let is_wanted = |name| (only.is_empty() || only.contains(&name)) && !skip.contains(&name);
    Ok(STEPS.iter().filter(|step| is_wanted(step.name)).collect())
}

fn known(name: &str) -> Result<&'static str> {
    let names = STEPS.map(|step| step.name);
    let found = names.iter().find(|known| **known == name).copied();
    found.with_context(|| format!("there is no step `{name}`; there are {}", names.join(", ")))
}

fn formatting(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["fmt", "--all", "--check"]))
}

/// Host and browser apart: one graph with both of Leptos' sides would be a third program.
fn lints(workspace: &Workspace) -> Result<()> {
    let deny = ["--", "--deny", "warnings"];
    run(workspace.cargo().args(["clippy", "--all-targets"]).args(deny))?;
    run(workspace
        .cargo()
        .args(["clippy", "--all-targets", "--package", "xtask", "--package", "fuzz"])
        .args(deny))?;
    let browser = Toolchain::find()?;
    let hydrate = ["--package", "app", "--no-default-features", "--features", "hydrate"];
    browser.lint(workspace, &hydrate)?;
    browser.lint(workspace, &["--package", "frontend"])
}

fn page(workspace: &Workspace) -> Result<()> {
    site::build(workspace)?;
    site::check_budget(&workspace.site())
}

fn unit_tests(workspace: &Workspace) -> Result<()> {
    if !is_installed("cargo-nextest") {
        run(workspace.cargo().args(["install", "--locked", "cargo-nextest"]))?;
    }
    // Tests start the fake agent and find it beside themselves; a test build alone makes no programs.
    run(workspace.cargo().args(["build", "--bins"]))?;
    run(workspace.cargo().args(["nextest", "run"]))?;
    run(workspace.cargo().args(["nextest", "run", "--package", "xtask"]))
}

fn documentation(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo().args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(args: &[&str]) -> Result<Vec<&'static str>> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        Ok(chosen(&args)?.into_iter().map(|step| step.name).collect())
    }

    #[test]
    fn every_step_runs_by_default() {
        assert_eq!(
            names(&[]).unwrap(),
            ["fmt", "tidy", "clippy", "site", "nextest", "fuzz", "doc", "e2e"]
        );
    }

    #[test]
    fn only_and_skip_choose_steps_in_their_order() {
        assert_eq!(names(&["--only", "site", "--only", "fmt"]).unwrap(), ["fmt", "site"]);
        let skipped = names(&["--skip", "e2e", "--skip", "clippy"]).unwrap();
        assert_eq!(skipped, ["fmt", "tidy", "site", "nextest", "fuzz", "doc"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (args, complaint) in [
            (&["--only"][..], "--only needs a step"),
            (&["--only", "lint"], "there is no step `lint`"),
            (&["--fast"], "not `--fast`"),
        ] {
            let error = names(args).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
