//! `kandev backup`, `restore`, `check`, `compact`

use std::{path::Path, process::ExitCode};

use store::{
    Store,
    lock::{self, DataLock, LockError},
};

use super::{Failure, client::Client, print};
use crate::{
    admin::BackupRequest,
    data_dir::{self, DataDirError, store_file},
};

/// Copies the store: by the server that has it, else directly.
pub(super) fn backup(dir: &Path, file: &Path) -> Result<(), Failure> {
    let path = std::path::absolute(file)?;
    if path.exists() {
        return Err(format!("{} is there already: name a new file", path.display()).into());
    }
    match take(dir)? {
        Taken::Ours(_lock) => {
            let store = Store::open(&existing_store(dir)?, &store::Options::default())?;
            store.backup_to(&path)?;
            store.close();
        }
        Taken::Theirs(_) => {
            Client::connect(dir)?.backup(&BackupRequest { path: path.clone() })?;
        }
    }
    print(format_args!("Backed up to {}", path.display()));
    Ok(())
}

/// Replaces the store by a backup.
pub(super) fn restore(dir: &Path, file: &Path) -> Result<(), Failure> {
    data_dir::prepare(dir)?;
    let _lock = take_alone(dir)?;
    store::restore(file, &store_file(dir))?;
    print(format_args!("Restored {} into {}", file.display(), dir.display()));
    Ok(())
}

/// Reads everything; the exit code says whether it fits together.
pub(super) fn check(dir: &Path) -> Result<ExitCode, Failure> {
    let (_lock, file) = (take_alone(dir)?, existing_store(dir)?);
    let report = store::check(&file)?;
    for (table, entries) in &report.entries {
        print(format_args!("{entries:>10}  {table}"));
    }
    for problem in &report.problems {
        print(format_args!("problem: {problem}"));
    }
    if report.problems.is_empty() {
        print(format_args!(
            "{} is sound ({}, schema {})",
            file.display(),
            size(report.file_bytes),
            report.schema
        ));
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!(
        "{} has {} problems: restore a backup with `kandev restore`, or keep a copy and go on",
        file.display(),
        report.problems.len()
    )
    .into())
}

/// Shrinks the file.
pub(super) fn compact(dir: &Path) -> Result<(), Failure> {
    let (_lock, file) = (take_alone(dir)?, existing_store(dir)?);
    let (before, after) = store::compact(&file)?;
    print(format_args!("{}: {} before, {} after", file.display(), size(before), size(after)));
    Ok(())
}

/// Who has the data directory.
enum Taken {
    Ours(DataLock),
    Theirs(LockError),
}

fn take(dir: &Path) -> Result<Taken, Failure> {
    if !dir.is_dir() {
        return Err(missing(dir).into());
    }
    match lock::acquire(dir) {
        Ok(lock) => Ok(Taken::Ours(lock)),
        Err(held @ LockError::Held { .. }) => Ok(Taken::Theirs(held)),
        Err(LockError::Io(source)) => Err(DataDirError { dir: dir.into(), source }.into()),
    }
}

fn take_alone(dir: &Path) -> Result<DataLock, Failure> {
    match take(dir)? {
        Taken::Ours(lock) => Ok(lock),
        Taken::Theirs(LockError::Held { holder: Some(holder) }) => Err(format!(
            "a server runs on {} ({holder}): stop it first, then run this again",
            dir.display()
        )
        .into()),
        Taken::Theirs(held) => Err(held.into()),
    }
}

fn existing_store(dir: &Path) -> Result<std::path::PathBuf, Failure> {
    let file = store_file(dir);
    if file.exists() { Ok(file) } else { Err(missing(dir).into()) }
}

fn missing(dir: &Path) -> String {
    format!("{} holds no data of Kandev: name the right --data-dir", dir.display())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}
