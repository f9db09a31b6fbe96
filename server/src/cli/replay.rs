//! `kandev replay`

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Write as _},
    path::Path,
    process::ExitCode,
};

use engine::recording::{self, ReplayError, Replayed};
use model::AgentKind;
use serde::Serialize;

use super::Failure;

/// Said of a file that is no recording.
const NO_RECORDING: u8 = 2;

pub(super) fn run(file: &Path, agent: AgentKind, view: bool) -> Result<ExitCode, Failure> {
    let input: Box<dyn BufRead> = if file.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let opened =
            File::open(file).map_err(|err| format!("{} cannot be read ({err})", file.display()))?;
        Box::new(BufReader::new(opened))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(recording::replay(input, agent)) {
        Ok(replayed) => {
            write(&replayed, view)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(err @ ReplayError::Line { .. }) => {
            let _unseen = writeln!(io::stderr(), "kandev: {}: {err}", file.display());
            Ok(ExitCode::from(NO_RECORDING))
        }
        Err(err) => Err(err.into()),
    }
}

fn write(replayed: &Replayed, view: bool) -> Result<(), Failure> {
    if view { lines(&replayed.views()?) } else { lines(&replayed.messages()?) }
}

fn lines(messages: &[impl Serialize]) -> Result<(), Failure> {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    for message in messages {
        serde_json::to_writer(&mut stdout, message)?;
        writeln!(stdout)?;
    }
    Ok(stdout.flush()?)
}
