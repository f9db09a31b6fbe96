//! Work on a store that no server has open: check, compact, restore.

use std::{fs, io, path::Path};

use redb::{Database, ReadableDatabase};

use crate::{OpenError, Options, Reader, StoreError, file, open, schema, verify};

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The schema of the file.
    pub schema: u32,
    /// The size of the file, in bytes.
    pub file_bytes: u64,
    /// How many entries each table has.
    pub entries: Vec<(&'static str, u64)>,
    /// What does not fit, one sentence each; empty for a sound store.
    pub problems: Vec<String>,
}

/// Verifies the checksum of every page, and that records, indexes and bodies fit together.
/// Reads the whole file.
///
/// # Errors
///
/// [`OpenError`], [`OpenError::Damaged`] above all.
pub fn check(path: &Path) -> Result<CheckReport, OpenError> {
    let file_bytes = size(path)?;
    let db = open_verified(path)?;
    report(&db, file_bytes).map_err(|err| OpenError::from_store(path, err))
}

fn size(path: &Path) -> Result<u64, OpenError> {
    fs::metadata(path).map(|it| it.len()).map_err(|err| OpenError::from_io(path, err))
}

fn report(db: &Database, file_bytes: u64) -> Result<CheckReport, StoreError> {
    let reader = Reader::new(db.begin_read()?);
    let (entries, problems) = verify::verify(&reader)?;
    Ok(CheckReport { schema: schema::read(db)?.unwrap_or(0), file_bytes, entries, problems })
}

/// Opens a store after verifying the checksum of every page of it.
fn open_verified(path: &Path) -> Result<Database, OpenError> {
    let mut builder = Options::default().builder();
    builder.set_check_integrity_on_open(true);
    let db = open::guarded(path, || builder.open(path))?;
    let supported = schema::supported(schema::MIGRATIONS);
    let damaged = |reason: String| OpenError::Damaged { path: path.into(), reason };
    match schema::read(&db).map_err(|err| damaged(err.to_string()))? {
        Some(found) if found > supported => {
            Err(OpenError::NewerSchema { path: path.into(), found, supported })
        }
        Some(found) if found > 0 => Ok(db),
        _ => Err(damaged("it has no schema version".into())),
    }
}

/// Gives free space inside the file back to the system: its size in bytes before and after.
///
/// # Errors
///
/// [`OpenError`].
pub fn compact(path: &Path) -> Result<(u64, u64), OpenError> {
    let before = size(path)?;
    let mut db = open::guarded(path, || Options::default().builder().open(path))?;
    let failed = |err: redb::Error| OpenError::from_store(path, err.into());
    while db.compact().map_err(|err| failed(err.into()))? {}
    db.close().map_err(|err| failed(err.into()))?;
    Ok((before, size(path)?))
}

/// Puts a backup in the place of a store, after verifying it. The store that was there, damaged or
/// not, is kept beside it under `<name>.replaced-<n>`. The caller holds the data directory's lock.
///
/// # Errors
///
/// [`OpenError`], about the backup or the store; then the store is as it was.
pub fn restore(backup: &Path, path: &Path) -> Result<(), OpenError> {
    let temporary = file::beside(path, ".restoring");
    let restored = prepare(backup, &temporary).and_then(|()| {
        keep_aside(path)
            .and_then(|()| file::publish(&temporary, path))
            .map_err(|err| OpenError::from_io(path, err))
    });
    if restored.is_err() {
        // The first error is the one to report.
        let _ = file::remove(&temporary);
    }
    restored
}

/// Copies the backup and verifies the copy: the backup itself is only read.
fn prepare(backup: &Path, copy: &Path) -> Result<(), OpenError> {
    fs::copy(backup, copy).map_err(|err| OpenError::from_io(backup, err))?;
    let name_backup = |err| match err {
        OpenError::Damaged { reason, .. } => OpenError::Damaged { path: backup.into(), reason },
        OpenError::NewerSchema { found, supported, .. } => {
            OpenError::NewerSchema { path: backup.into(), found, supported }
        }
        err => err,
    };
    let report = check(copy).map_err(name_backup)?;
    match report.problems.into_iter().next() {
        None => Ok(()),
        Some(reason) => Err(OpenError::Damaged { path: backup.into(), reason }),
    }
}

/// Gives the file a second name that no earlier one has.
fn keep_aside(path: &Path) -> io::Result<()> {
    if !path.try_exists()? {
        return Ok(());
    }
    let names = (1..).map(|n: u32| file::beside(path, &format!(".replaced-{n}")));
    for name in names {
        match fs::hard_link(path, &name) {
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            Err(err) if err.kind() == io::ErrorKind::Unsupported => {
                // For a moment there is no file under the store's name.
                return fs::rename(path, &name);
            }
            result => return result,
        }
    }
    Ok(())
}
