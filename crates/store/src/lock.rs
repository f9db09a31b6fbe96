//! The lock of a data directory: one server for each, taken before anything is opened or bound.
//!
//! The system's lock on `<dir>/lock` counts, not the file: it ends with the process that holds it.
//! The file says who that is, so that a second server can name the first.

use std::{
    fs::{File, TryLockError},
    io::{self, Seek, SeekFrom, Write},
    path::Path,
    thread,
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// Attempts to take the lock, since [`holder`] takes it for a moment to see whether it is free.
const ATTEMPTS: u32 = 5;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);

/// A data directory that is this process's, until dropped.
#[derive(Debug)]
pub struct DataLock {
    file: File,
}

/// Who has a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub pid: u32,
    /// Where it serves; none before it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.address {
            Some(address) => write!(f, "process {} at {address}", self.pid),
            None => write!(f, "process {}", self.pid),
        }
    }
}

/// Why a data directory could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error(
        "the data directory is in use by {}: stop it, or choose another data directory",
        .holder.as_ref().map_or_else(|| "another process".into(), ToString::to_string)
    )]
    Held {
        /// That process, if it said so.
        holder: Option<Holder>,
    },
    /// The system failed.
    #[error("the data directory cannot be locked ({0}): give this user write access to it")]
    Io(#[from] io::Error),
}

/// Takes a data directory that exists, without waiting for whoever has it.
///
/// # Errors
///
/// [`LockError::Held`] when another process has it.
pub fn acquire(dir: &Path) -> Result<DataLock, LockError> {
    let path = dir.join("lock");
    let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
    for attempt in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(err)) => return Err(err.into()),
            Err(TryLockError::WouldBlock) if attempt < ATTEMPTS => thread::sleep(BETWEEN_ATTEMPTS),
            Err(TryLockError::WouldBlock) => return Err(LockError::Held { holder: read(&path) }),
        }
    }
    let lock = DataLock { file };
    lock.write(None)?;
    Ok(lock)
}

/// Who has a data directory; none when it is free, or when that process has not said so.
pub fn holder(dir: &Path) -> Option<Holder> {
    let path = dir.join("lock");
    match File::open(&path).ok()?.try_lock_shared() {
        Err(TryLockError::WouldBlock) => read(&path),
        _ => None,
    }
}

fn read(path: &Path) -> Option<Holder> {
    let text = std::fs::read(path).ok()?;
    // The first value: a longer text may be about to be cut.
    serde_json::Deserializer::from_slice(&text).into_iter().next()?.ok()
}

impl DataLock {
    /// Says where this process serves.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn announce(&self, address: &str) -> io::Result<()> {
        self.write(Some(address.into()))
    }

    fn write(&self, address: Option<String>) -> io::Result<()> {
        let text = serde_json::to_vec(&Holder { pid: std::process::id(), address })?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&text)?;
        file.set_len(text.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_005_a_second_server_hears_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = acquire(dir.path()).unwrap();
        first.announce("http://127.0.0.1:1234").unwrap();
        let err = acquire(dir.path()).unwrap_err();
        let message = err.to_string();
        assert!(message.contains(&std::process::id().to_string()), "{message}");
        assert!(message.contains("http://127.0.0.1:1234"), "{message}");
        assert_eq!(holder(dir.path()).unwrap().address.as_deref(), Some("http://127.0.0.1:1234"));
    }

    #[test]
    fn q_005_the_lock_ends_with_its_holder_and_not_with_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let first = acquire(dir.path()).unwrap();
        first.announce("http://a-rather-long-address.example:65535").unwrap();
        drop(first);
        assert!(dir.path().join("lock").exists());
        assert_eq!(holder(dir.path()), None);
        let _second = acquire(dir.path()).unwrap();
        let pid = std::process::id();
        assert_eq!(holder(dir.path()), Some(Holder { pid, address: None }));
    }

    #[test]
    fn a_shorter_text_over_a_longer_one_is_still_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        std::fs::write(&path, br#"{"pid":7}ress":"left over"}"#).unwrap();
        assert_eq!(read(&path), Some(Holder { pid: 7, address: None }));
    }

    #[test]
    fn a_directory_that_is_not_there_is_an_error_of_the_system() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(acquire(&dir.path().join("none")), Err(LockError::Io(_))));
    }
}
