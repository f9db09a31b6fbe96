//! Names beside the store's file, and making a rename last.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// The path with something behind its name, in the same folder.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Gives a finished file its name, durably. Only its owner may read it: it holds what agents saw.
pub(crate) fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    let file = File::open(temporary)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    file.sync_all()?;
    fs::rename(temporary, path)?;
    sync_folder(path)
}

/// Makes a changed name in the folder of `path` durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    // A bare file name has an empty parent, which is the current folder.
    match path.parent() {
        Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// Removes a file that may not be there.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => Err(err),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_published_file_is_its_owners_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (temporary, path) = (dir.path().join("t"), dir.path().join("f"));
        fs::write(&temporary, "x").unwrap();
        publish(&temporary, &path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
