//! The version of the file's layout, and the way from older ones to this one.

use std::path::Path;

use redb::{Database, ReadableDatabase, TableError, WriteTransaction};

use crate::{
    OpenError, StoreError, backup, file,
    table::{self, Readable},
};

/// Changes the tables from one schema to the next.
pub(crate) type Migration = fn(&WriteTransaction) -> Result<(), StoreError>;

/// The way forward: the first leads from schema 1 to 2. Append only.
pub(crate) const MIGRATIONS: &[Migration] = &[];

const KEY: &[u8] = b"schema";

/// The newest schema that these migrations lead to.
pub(crate) const fn supported(migrations: &[Migration]) -> u32 {
    1 + migrations.len() as u32
}

/// Makes the tables of a new store, in one durable transaction.
pub(crate) fn initialize(db: &Database) -> Result<(), StoreError> {
    let mut txn = db.begin_write()?;
    txn.set_quick_repair(true);
    for table in table::ALL {
        txn.open_table(*table)?;
    }
    write(&txn, supported(MIGRATIONS))?;
    Ok(txn.commit()?)
}

/// The schema of a store; none when it is no store of ours.
pub(crate) fn read(db: &impl ReadableDatabase) -> Result<Option<u32>, StoreError> {
    match db.begin_read()?.open_table(table::META) {
        Ok(meta) => meta.record(KEY),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(err) => Err(err.into()),
    }
}

fn write(txn: &WriteTransaction, schema: u32) -> Result<(), StoreError> {
    txn.open_table(table::META)?.insert(KEY, &*table::encode(&schema)?)?;
    Ok(())
}

/// Brings a store to the newest schema. The file as it was is kept beside it under
/// `<name>.schema-<old>`.
pub(crate) fn migrate(
    db: &Database,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), OpenError> {
    let damaged = |reason: String| OpenError::Damaged { path: path.into(), reason };
    let found = read(db)
        .map_err(|err| damaged(err.to_string()))?
        .filter(|schema| *schema > 0)
        .ok_or_else(|| damaged("it has no schema version".into()))?;
    let supported = supported(migrations);
    if found > supported {
        return Err(OpenError::NewerSchema { path: path.into(), found, supported });
    }
    if found < supported {
        let failed = |err: StoreError| OpenError::from_store(path, err);
        let snapshot = db.begin_read().map_err(|err| failed(err.into()))?;
        backup::copy(&snapshot, &file::beside(path, &format!(".schema-{found}")))
            .map_err(failed)?;
        run(db, &migrations[found as usize - 1..], supported).map_err(failed)?;
        tracing::info!(found, supported, "the store was brought to a newer schema");
    }
    Ok(())
}

fn run(db: &Database, migrations: &[Migration], schema: u32) -> Result<(), StoreError> {
    let mut txn = db.begin_write()?;
    txn.set_quick_repair(true);
    for migration in migrations {
        migration(&txn)?;
    }
    write(&txn, schema)?;
    Ok(txn.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, open};

    fn two_steps() -> [Migration; 2] {
        [
            |txn| {
                txn.open_table(table::META)?.insert(b"one".as_slice(), b"1".as_slice())?;
                Ok(())
            },
            |txn| {
                let one = txn.open_table(table::META)?.record::<u32>(b"one")?;
                txn.open_table(table::META)?
                    .insert(b"two".as_slice(), &*table::encode(&one.map(|n| n + 1))?)?;
                Ok(())
            },
        ]
    }

    fn meta(db: &Database, key: &[u8]) -> Option<u32> {
        db.begin_read().unwrap().open_table(table::META).unwrap().record(key).unwrap()
    }

    #[test]
    fn an_older_store_is_brought_forward_and_a_copy_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let db = open::file(&path, &Options::default()).unwrap();
        migrate(&db, &path, &two_steps()).unwrap();
        assert_eq!((read(&db).unwrap(), meta(&db, b"two")), (Some(3), Some(2)));

        let copy = Database::open(file::beside(&path, ".schema-1")).unwrap();
        assert_eq!((read(&copy).unwrap(), meta(&copy, b"one")), (Some(1), None));
    }

    #[test]
    fn a_failed_migration_leaves_the_old_schema() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let db = open::file(&path, &Options::default()).unwrap();
        let [first, _] = two_steps();
        let failing: Migration = |_| Err(StoreError::Invalid("no".into()));
        assert!(migrate(&db, &path, &[first, failing]).is_err());
        assert_eq!((read(&db).unwrap(), meta(&db, b"one")), (Some(1), None));
    }

    #[test]
    fn a_newer_store_is_refused_with_both_versions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        let db = open::file(&path, &Options::default()).unwrap();
        run(&db, &[], 7).unwrap();
        drop(db);
        let err = open::file(&path, &Options::default()).unwrap_err();
        assert!(matches!(err, OpenError::NewerSchema { found: 7, supported: 1, .. }), "{err}");
    }
}
