//! What can go wrong with the store, each with the next step.

use std::{io, path::PathBuf, sync::Arc};

/// Why a store could not be opened. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file is not a store, or its contents cannot be trusted.
    #[error(
        "{path} is damaged ({reason}): nothing was written to it; restore a backup with \
         `kandev restore`, or move the file away to begin anew"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// The file or its folder may not be written.
    #[error("{path} cannot be written ({source}): give this user read and write access to it")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has it open.
    #[error("{path} is in use by another process: stop that process first")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of Kandev wrote it.
    #[error(
        "{path} was written by a newer Kandev (schema {found}, this one knows {supported}): \
         use that version, or restore a backup from before it"
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The schema of the file.
        found: u32,
        /// The newest schema that this version knows.
        supported: u32,
    },
    /// The system failed.
    #[error("{path} cannot be opened ({source}): look at the disk and the path, then try again")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Why an operation of an open store failed. What failed has changed nothing that counts.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The store was closed.
    #[error("the store is closed: start the server again")]
    Closed,
    /// There is no space left.
    #[error("the disk is full: free some space, then try again")]
    DiskFull,
    /// The system failed.
    #[error("the store's file cannot be read or written ({0}): look at the disk")]
    Io(Arc<io::Error>),
    /// The file's contents cannot be trusted.
    #[error("the store is damaged ({0}): stop the server and run `kandev check`")]
    Damaged(String),
    /// What the record belongs to is not, or no longer, stored.
    #[error("{child} was not stored: its {parent} is gone")]
    Orphan {
        /// What was to be stored.
        child: &'static str,
        /// What it would belong to.
        parent: &'static str,
    },
    /// The operation contradicts itself or what is stored.
    #[error("not stored: {0}")]
    Invalid(String),
}

impl StoreError {
    /// The database failed, not the operation: the database must be opened again.
    pub(crate) const fn is_storage(&self) -> bool {
        matches!(self, Self::DiskFull | Self::Io(_) | Self::Damaged(_))
    }
}

impl From<io::Error> for StoreError {
    fn from(err: io::Error) -> Self {
        match err.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io(Arc::new(err)),
        }
    }
}

impl From<OpenError> for StoreError {
    fn from(err: OpenError) -> Self {
        match err {
            OpenError::Io { source, .. } | OpenError::ReadOnly { source, .. } => source.into(),
            OpenError::InUse { .. } => io::Error::other(err).into(),
            OpenError::Damaged { reason, .. } => Self::Damaged(reason),
            OpenError::NewerSchema { .. } => Self::Damaged(err.to_string()),
        }
    }
}

impl From<redb::Error> for StoreError {
    fn from(err: redb::Error) -> Self {
        match err {
            redb::Error::Io(err) => err.into(),
            redb::Error::PreviousIo => io::Error::other("an earlier write failed").into(),
            redb::Error::DatabaseClosed => Self::Closed,
            redb::Error::ValueTooLarge(bytes) => {
                Self::Invalid(format!("a value of {bytes} bytes is too large"))
            }
            err => Self::Damaged(err.to_string()),
        }
    }
}

macro_rules! from_redb {
    ($($source:ident),*) => {$(
        impl From<redb::$source> for StoreError {
            fn from(err: redb::$source) -> Self {
                redb::Error::from(err).into()
            }
        }
    )*};
}

from_redb!(CommitError, SetDurabilityError, StorageError, TableError, TransactionError);
