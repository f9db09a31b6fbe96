//! A consistent copy of the store, while it goes on.

use std::path::Path;

use redb::{Database, ReadTransaction, ReadableTable, TableError};

use crate::{StoreError, file, open::Options, table};

/// Bytes in one transaction of a copy: bounds the memory that it takes.
const CHUNK_BYTES: usize = 4 << 20;

/// Copies a snapshot into a new file, which has its name only when it is whole and on disk.
pub(crate) fn copy(snapshot: &ReadTransaction, path: &Path) -> Result<(), StoreError> {
    let temporary = file::beside(path, ".partial");
    file::remove(&temporary)?;
    let copied = fill(snapshot, &temporary).and_then(|()| Ok(file::publish(&temporary, path)?));
    if copied.is_err() {
        // The first error is the one to report.
        let _ = file::remove(&temporary);
    }
    copied
}

fn fill(snapshot: &ReadTransaction, path: &Path) -> Result<(), StoreError> {
    let mut copy = Options::default().builder().create(path).map_err(redb::Error::from)?;
    for definition in table::ALL {
        match snapshot.open_table(*definition) {
            Ok(source) => copy_table(&source, &copy, *definition)?,
            // A copy of an older schema has the tables of that schema.
            Err(TableError::TableDoesNotExist(_)) => {}
            Err(err) => return Err(err.into()),
        }
    }
    copy.compact().map_err(redb::Error::from)?;
    Ok(copy.close().map_err(redb::Error::from)?)
}

fn copy_table(
    source: &impl ReadableTable<&'static [u8], &'static [u8]>,
    copy: &Database,
    definition: table::Definition,
) -> Result<(), StoreError> {
    let mut entries = source.range::<&[u8]>(..)?;
    loop {
        let txn = copy.begin_write()?;
        let mut bytes = 0;
        {
            let mut target = txn.open_table(definition)?;
            while bytes < CHUNK_BYTES
                && let Some(entry) = entries.next()
            {
                let (key, value) = entry?;
                bytes += key.value().len() + value.value().len();
                target.insert(key.value(), value.value())?;
            }
        }
        txn.commit()?;
        if bytes < CHUNK_BYTES {
            return Ok(());
        }
    }
}
