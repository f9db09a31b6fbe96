//! Opening the file: new, as a clean stop left it, as a crash left it, or not at all.

use std::{
    any::Any,
    fmt, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use redb::{Builder, Database, DatabaseError, StorageBackend, StorageError};

use crate::{OpenError, StoreError, file, schema};

/// How a store is opened.
#[derive(Clone)]
pub struct Options {
    /// The most memory that redb uses for its cache, in bytes.
    pub cache_bytes: usize,
    /// Hears the progress, from 0 to 1, of a repair that reads the whole file. A crash alone needs
    /// none.
    pub on_repair: Option<Arc<dyn Fn(f64) + Send + Sync>>,
}

impl Default for Options {
    fn default() -> Self {
        Self { cache_bytes: 8 << 20, on_repair: None }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("cache_bytes", &self.cache_bytes).finish_non_exhaustive()
    }
}

impl Options {
    pub(crate) fn builder(&self) -> Builder {
        let mut builder = Builder::new();
        builder.set_cache_size(self.cache_bytes);
        if let Some(on_repair) = self.on_repair.clone() {
            builder.set_repair_callback(move |session| on_repair(session.progress()));
        }
        builder
    }
}

/// Opens the store in a file, and makes one where there is no file.
pub(crate) fn file(path: &Path, options: &Options) -> Result<Database, OpenError> {
    let exists = path.try_exists().map_err(|err| OpenError::from_io(path, err))?;
    if !exists {
        create(path, options)?;
    }
    let db = guarded(path, || options.builder().open(path))?;
    schema::migrate(&db, path, schema::MIGRATIONS)?;
    Ok(db)
}

/// Makes a store under another name first: an empty or half made file never has the store's name.
fn create(path: &Path, options: &Options) -> Result<(), OpenError> {
    let temporary = file::beside(path, ".new");
    let failed = |err: io::Error| OpenError::from_io(path, err);
    file::remove(&temporary).map_err(failed)?;
    let db = guarded(path, || options.builder().create(&temporary))?;
    schema::initialize(&db).map_err(|err| OpenError::from_store(path, err))?;
    drop(db);
    file::publish(&temporary, path).map_err(failed)
}

/// Opens the store in a backend, and makes one where there is none.
pub(crate) fn backend(
    backend: impl StorageBackend,
    options: &Options,
) -> Result<Database, OpenError> {
    let path = Path::new("(backend)");
    let db = guarded(path, || options.builder().create_with_backend(backend))?;
    let failed = |err| OpenError::from_store(path, err);
    if schema::read(&db).map_err(failed)?.is_none() {
        schema::initialize(&db).map_err(failed)?;
    }
    schema::migrate(&db, path, schema::MIGRATIONS)?;
    Ok(db)
}

/// Runs what opens a database. redb trusts a file that was closed cleanly, and may panic over one
/// that was changed since.
pub(crate) fn guarded<T>(
    path: &Path,
    open: impl FnOnce() -> Result<T, DatabaseError>,
) -> Result<T, OpenError> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(result) => result.map_err(|err| OpenError::from_database(path, err)),
        Err(panic) => Err(OpenError::Damaged { path: path.into(), reason: panic_message(&*panic) }),
    }
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}

impl OpenError {
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { path, source }
            }
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                Self::Damaged { path, reason: source.to_string() }
            }
            _ => Self::Io { path, source },
        }
    }

    pub(crate) fn from_database(path: &Path, err: DatabaseError) -> Self {
        match err {
            DatabaseError::Storage(StorageError::Io(source)) => Self::from_io(path, source),
            DatabaseError::DatabaseAlreadyOpen
            | DatabaseError::LockProtocolMismatch
            | DatabaseError::TransactionInProgress => Self::InUse { path: path.into() },
            err => Self::Damaged { path: path.into(), reason: err.to_string() },
        }
    }

    pub(crate) fn from_store(path: &Path, err: StoreError) -> Self {
        match err {
            StoreError::Damaged(reason) => Self::Damaged { path: path.into(), reason },
            err => Self::Io { path: path.into(), source: io::Error::other(err) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_be_written_is_told_from_what_is_damaged() {
        let open = |kind: io::ErrorKind| OpenError::from_io(Path::new("store.redb"), kind.into());
        let denied = open(io::ErrorKind::PermissionDenied);
        assert!(matches!(denied, OpenError::ReadOnly { .. }));
        assert!(denied.to_string().contains("give this user read and write access"), "{denied}");
        let read_only = open(io::ErrorKind::ReadOnlyFilesystem);
        assert!(matches!(read_only, OpenError::ReadOnly { .. }));
        assert!(matches!(open(io::ErrorKind::InvalidData), OpenError::Damaged { .. }));
        assert!(matches!(open(io::ErrorKind::NotFound), OpenError::Io { .. }));
    }

    #[test]
    fn a_panic_while_opening_is_damage() {
        let err = guarded::<()>(Path::new("store.redb"), || panic!("page {} is odd", 7));
        let message = err.map_err(|err| err.to_string());
        assert!(matches!(&message, Err(text) if text.contains("page 7 is odd")), "{message:?}");
    }
}
