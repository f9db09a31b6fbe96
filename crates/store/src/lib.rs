//! Everything that outlives the server: one redb file, one writer thread, snapshots for readers.
//!
//! [`Store::commit`] returns when its operations are on disk, [`Store::commit_lazy`] when they can
//! be read; a [`Reader`] sees one snapshot. `docs/storage.md` describes the file.

mod apply;
mod backup;
mod body;
mod error;
mod file;

mod key;
pub mod lock;
mod maintenance;
mod op;
mod open;
mod reader;
mod schema;
mod store;
mod table;
mod verify;
mod writer;

pub use error::{OpenError, StoreError};
pub use maintenance::{CheckReport, check, compact, restore};
pub use op::{BrowserSession, Op};
pub use open::Options;
pub use reader::Reader;
pub use store::Store;
