//! The `kandev` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::cli::run(std::env::args_os())
}
