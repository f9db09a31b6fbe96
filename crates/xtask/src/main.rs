//! `cargo xtask`: builds, checks, measures and runs the workspace with nothing but cargo installed.
//!
//! One file for each command. What a command needs and does not find it installs, or names with the
//! command that installs it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool speaks on its terminal"
)]

mod bench;
mod browser;
mod build;
mod fuzz;
mod process;
mod run;
mod site;
mod test;
mod tidy;
mod wasm;
mod workspace;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  run [-- ARGS]         build the page and the server, then start `kandev serve ARGS`
  build                 build the release binary, page included
  test [--only STEP]... [--skip STEP]...
                        everything that must hold before a change lands
  tidy                  check the rules of the workspace that no compiler knows
  fuzz TARGET SECONDS   look for frames (`frames`) or bytes (`lines`) of an agent that break something
  screens               take the pictures in docs/screens again
  bench [idle | ingest | page]
                        what an idle server holds, what it costs to take in what agents say, and
                        what the page of a task costs
";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", args),
    };
    match command {
        "run" => run::run(&Workspace::load()?, rest),
        "build" => build::build(&Workspace::load()?),
        "test" => test::test(&Workspace::load()?, rest),
        "tidy" => tidy::tidy(&Workspace::load()?),
        "fuzz" => fuzz::fuzz(&Workspace::load()?, rest),
        "screens" => browser::screens(&Workspace::load()?),
        "bench" => bench::bench(&Workspace::load()?, rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        unknown => bail!("there is no command `{unknown}`\n\n{USAGE}"),
    }
}
