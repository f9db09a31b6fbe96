//! The data directory and what lies in it.

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

/// The directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "the data directory {dir} cannot be used ({source}): choose one that you may write with \
     --data-dir, or correct the permissions of this one"
)]
pub struct DataDirError {
    pub(crate) dir: PathBuf,
    pub(crate) source: io::Error,
}

/// Makes the directory, for this user only, where it is missing.
pub(crate) fn prepare(dir: &Path) -> Result<(), DataDirError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|source| DataDirError { dir: dir.into(), source })
}

/// The store's file.
pub(crate) fn store_file(dir: &Path) -> PathBuf {
    dir.join("kandev.redb")
}

/// The key that seals the variables of profiles. It is in no backup: a copy of the store alone gives
/// nothing secret away.
pub(crate) fn profile_key(dir: &Path) -> PathBuf {
    dir.join("profile.key")
}

/// Where data lives unless told otherwise: `kandev` in the user's data directory (XDG).
pub(crate) fn default_dir() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "kandev").map(|dirs| dirs.data_dir().to_owned())
}
