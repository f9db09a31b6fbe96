//! From a launch command to a process that is ready to be spawned.

use std::{
    env,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    process::Stdio,
};

use model::{LaunchCommand, SessionId, TaskId};
use rustix::fs::{Access, access};
use tokio::process::Command;

use crate::{SpawnError, Tap, process};

/// What is started, where, and for whom.
pub struct Launch {
    /// The program.
    pub command: LaunchCommand,
    /// The folder it works in, absolute.
    pub work_dir: PathBuf,
    /// The session it works for: `KANDEV_SESSION_ID`.
    pub session_id: SessionId,
    /// The task it works on: `KANDEV_TASK_ID`.
    pub task_id: TaskId,
    /// Who hears what passes.
    pub tap: Option<Tap>,
}

/// What the server takes its secret from, where it is given by the environment.
const SERVER_TOKEN_VARIABLE: &str = "KANDEV_TOKEN";

impl Launch {
    /// The command: own process group, three pipes, the ids in its environment (P-011).
    pub(crate) fn to_command(&self) -> Result<Command, SpawnError> {
        self.check_work_dir()?;
        let LaunchCommand { program, args, env } = &self.command;
        // Resolved first: a failed exec is hard to tell from a program that ended at once.
        let path = resolve(program, &self.search_path())
            .ok_or_else(|| SpawnError::NotFound { program: program.clone() })?;
        let mut command = Command::new(path);
        command
            .args(args)
            // The server's own secret is none of the agent's business.
            .env_remove(SERVER_TOKEN_VARIABLE)
            .envs(env.iter().map(|(name, value)| (name, value)))
            .env(process::TASK_VARIABLE, self.task_id.to_string())
            .env(process::SESSION_VARIABLE, self.session_id.to_string())
            .current_dir(&self.work_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        Ok(command)
    }

    fn check_work_dir(&self) -> Result<(), SpawnError> {
        let failed = |source| SpawnError::WorkDir { path: self.work_dir.clone(), source };
        let metadata = self.work_dir.metadata().map_err(failed)?;
        if metadata.is_dir() { Ok(()) } else { Err(failed(io::ErrorKind::NotADirectory.into())) }
    }

    /// The PATH that the program will have itself.
    fn search_path(&self) -> OsString {
        let own = self.command.env.iter().rfind(|(name, _)| name == "PATH");
        own.map_or_else(|| env::var_os("PATH").unwrap_or_default(), |(_, value)| value.into())
    }
}

/// The file that a program name stands for.
fn resolve(program: &str, search_path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        let path = PathBuf::from(program);
        return is_runnable(&path).then_some(path);
    }
    if program.is_empty() {
        return None;
    }
    env::split_paths(search_path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|path| is_runnable(path))
}

/// Where a program is, by its name and a list of folders like `PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located {
    /// Here.
    At(PathBuf),
    /// A file of its name is here, and may not be run.
    NotExecutable(PathBuf),
    /// Nowhere.
    Nowhere,
}

/// Looks for a program.
pub fn locate(program: &str, search_path: &OsStr) -> Located {
    if let Some(path) = resolve(program, search_path) {
        return Located::At(path);
    }
    let files = env::split_paths(search_path).map(|folder| folder.join(program));
    match files.into_iter().find(|path| path.is_file()) {
        Some(path) => Located::NotExecutable(path),
        None => Located::Nowhere,
    }
}

fn is_runnable(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(program: &str, work_dir: &str) -> Launch {
        Launch {
            command: LaunchCommand { program: program.into(), ..LaunchCommand::default() },
            work_dir: work_dir.into(),
            session_id: SessionId::from_bytes([1; 16]),
            task_id: TaskId::from_bytes([2; 16]),
            tap: None,
        }
    }

    #[test]
    fn a_missing_program_is_named() {
        for program in ["no-such-agent", "/no/such/agent", "", "/tmp"] {
            let err = launch(program, "/").to_command().err();
            assert!(matches!(&err, Some(SpawnError::NotFound { program: p }) if p == program));
            assert!(err.is_some_and(|err| err.to_string().contains(&format!("{program:?}"))));
        }
    }

    #[test]
    fn a_folder_that_is_none_is_refused() {
        for folder in ["/no/such/folder", "/bin/sh"] {
            let err = launch("sh", folder).to_command().err();
            assert!(matches!(err, Some(SpawnError::WorkDir { .. })), "{folder}: {err:?}");
        }
    }

    #[test]
    fn the_launch_commands_own_path_is_searched() {
        let mut launch = launch("sh", "/");
        assert!(launch.to_command().is_ok());
        launch.command.env.push(("PATH".into(), "/no/such/folder".into()));
        assert!(matches!(launch.to_command(), Err(SpawnError::NotFound { .. })));
    }

    #[test]
    fn p_011_the_agent_gets_its_ids_and_not_the_servers_secret() {
        let command = launch("sh", "/").to_command().expect("sh is there");
        let env: Vec<_> = command.as_std().get_envs().collect();
        let value = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| *value);
        let session = SessionId::from_bytes([1; 16]).to_string();
        assert_eq!(value("KANDEV_SESSION_ID").flatten(), Some(OsStr::new(&session)));
        assert_eq!(value("KANDEV_TOKEN"), Some(None));
    }
}
