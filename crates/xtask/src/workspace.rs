//! Where things are: the workspace as cargo sees it.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};

/// The workspace around the current directory.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    target: PathBuf,
    pub(crate) metadata: Metadata,
}

/// How the server is built.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Profile {
    Dev,
    Release,
}

impl Workspace {
    /// Asks cargo, which knows about `CARGO_TARGET_DIR` and configuration files.
    pub(crate) fn load() -> Result<Self> {
        let metadata =
            MetadataCommand::new().no_deps().exec().context("reading the workspace with cargo")?;
        Ok(Self {
            root: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
            metadata,
        })
    }

    /// The running cargo, in the root of the workspace.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.command(cargo)
    }

    /// Any program, in the root of the workspace.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }

    /// The directory of build results.
    pub(crate) fn target(&self) -> PathBuf {
        self.target.clone()
    }

    /// The page's files, as the server embeds them.
    pub(crate) fn site(&self) -> PathBuf {
        self.root.join("dist/site")
    }

    /// A program that this workspace builds.
    pub(crate) fn binary(&self, profile: Profile, name: &str) -> PathBuf {
        let folder = match profile {
            Profile::Dev => "debug",
            Profile::Release => "release",
        };
        self.target.join(folder).join(name)
    }
}
