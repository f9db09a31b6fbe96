//! A scripted ACP agent over real stdio, for the tests of everything that talks to one.
//!
//! `fake-agent acp` does what the lines of each prompt say (see [`directive`]), in the dialect of a
//! real agent; `fake-agent replay FILE` plays a recording of a real one back.

mod acp;
mod args;
mod dialect;
pub mod directive;
mod replay;
mod shell;
mod signals;
mod tool;
mod turn;
mod wire;

use std::os::unix::process::CommandExt;

use args::Mode;

/// Runs the program with these arguments, the program's name not among them.
///
/// # Errors
///
/// When the arguments, or a file that they name, cannot be used.
pub fn run(args: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
    let args: Vec<String> = args.into_iter().collect();
    match args::parse(&args)? {
        Mode::IgnoreTerm { rest } => Err(ignoring_term(&rest).into()),
        Mode::Acp(options) => acp::serve(options),
        Mode::Replay { file, speed } => replay::serve(&file, speed),
    }
}

/// Starts over with SIGTERM ignored: a shell can do that for its successor, safe code cannot for
/// itself. Returns only when it fails.
fn ignoring_term(args: &[String]) -> std::io::Error {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(err) => return err,
    };
    let script = r#"trap "" TERM; exec "$0" "$@""#;
    std::process::Command::new("sh").args(["-c", script]).arg(program).args(args).exec()
}
