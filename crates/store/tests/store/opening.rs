//! Opening what is there: sound, damaged, in use, not ours; and backup, restore, check, compact.

use std::{fs, path::Path};

use anyhow::Result;
use store::{Op, OpenError, Options, Store};

use crate::sample::{self, message, session_id, shell_ops, task};

async fn filled(path: &Path, messages: u64) -> Result<Store> {
    let store = Store::open(path, &Options::default())?;
    store.commit(sample::owners()).await?;
    for seq in 1..=messages {
        store.commit(shell_ops(session_id(1), seq, &"x".repeat(100_000), "")).await?;
    }
    Ok(store)
}

fn seqs(path: &Path) -> Result<Vec<u64>> {
    let store = Store::open(path, &Options::default())?;
    let (messages, _) = store.read(|reader| reader.messages(session_id(1), None, 1000))?;
    Ok(messages.iter().map(|message| message.seq).collect())
}

fn opened(path: &Path) -> Result<Store, OpenError> {
    Store::open(path, &Options::default())
}

/// One wrong byte in every page of a body: only a checksum can tell.
fn with_wrong_bodies(mut file: Vec<u8>) -> Vec<u8> {
    const PAGE: usize = 4096;
    let full = |page: &&mut [u8]| page.iter().all(|byte| *byte == b'x');
    let flipped = file.chunks_mut(PAGE).filter(full).map(|page| page[PAGE / 2] = b'y').count();
    assert!(flipped > 0, "no body was found");
    file
}

#[tokio::test]
async fn q_006_a_damaged_file_is_named_and_left_alone() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    filled(&path, 3).await?.close();
    let sound = fs::read(&path)?;
    let mut header = sound.clone();
    header[..4096].fill(0xa5);
    let cases = [
        ("empty", Vec::new()),
        ("text", b"this is no store".repeat(1000)),
        ("zeros", vec![0; 1 << 20]),
        ("cut", sound[..sound.len() / 2].to_vec()),
        ("cut short", sound[..100].to_vec()),
        ("header", header),
    ];
    for (name, bytes) in cases {
        fs::write(&path, &bytes)?;
        let err = opened(&path).err().map(|err| err.to_string());
        let err = err.ok_or_else(|| anyhow::anyhow!("{name} was opened"))?;
        assert!(err.contains("damaged") && err.contains("kandev restore"), "{name}: {err}");
        assert!(err.contains(&path.display().to_string()), "{name}: {err}");
        assert!(fs::read(&path)? == bytes, "{name} was changed");
    }
    Ok(())
}

#[test]
fn a_database_of_someone_else_is_not_taken_over() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    drop(redb::Database::create(&path)?);
    assert!(matches!(opened(&path).err(), Some(OpenError::Damaged { .. })));
    Ok(())
}

#[test]
fn q_005_a_store_that_is_open_is_in_use() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let _first = opened(&path)?;
    assert!(matches!(opened(&path).err(), Some(OpenError::InUse { .. })));
    Ok(())
}

#[test]
fn a_folder_that_is_not_there_is_an_error_of_the_system() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let result = opened(&dir.path().join("none/store.redb"));
    assert!(matches!(result.err(), Some(OpenError::Io { .. })));
    Ok(())
}

#[tokio::test]
async fn q_006_a_backup_of_a_running_store_can_be_restored() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (path, copy) = (dir.path().join("store.redb"), dir.path().join("backup.redb"));
    let store = filled(&path, 3).await?;
    store.commit_lazy(vec![Op::PutMessage(message(session_id(1), 4, "lazy"))]).await?;
    store.backup_to(&copy)?;
    store.commit(vec![Op::PutMessage(message(session_id(1), 5, "after the backup"))]).await?;
    store.close();
    assert_eq!(store::check(&copy)?.problems, Vec::<String>::new());

    store::restore(&copy, &path)?;
    assert_eq!(seqs(&path)?, [1, 2, 3, 4]);
    assert_eq!(seqs(&dir.path().join("store.redb.replaced-1"))?, [1, 2, 3, 4, 5]);
    // Again, over what is damaged: what was kept the first time is still there.
    fs::write(&path, "damaged")?;
    store::restore(&copy, &path)?;
    assert_eq!(seqs(&path)?, [1, 2, 3, 4]);
    assert_eq!(fs::read(dir.path().join("store.redb.replaced-2"))?, b"damaged");
    assert_eq!(seqs(&dir.path().join("store.redb.replaced-1"))?, [1, 2, 3, 4, 5]);
    let mut names: Vec<_> = fs::read_dir(dir.path())?
        .map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()))
        .collect::<Result<_>>()?;
    names.sort();
    let kept = ["backup.redb", "store.redb", "store.redb.replaced-1", "store.redb.replaced-2"];
    assert_eq!(names, kept);
    Ok(())
}

#[tokio::test]
async fn q_006_a_backup_that_is_not_sound_replaces_nothing() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (path, copy) = (dir.path().join("store.redb"), dir.path().join("backup.redb"));
    let store = filled(&path, 2).await?;
    store.backup_to(&copy)?;
    store.close();
    let before = fs::read(&path)?;

    let sound = fs::read(&copy)?;
    let flipped = with_wrong_bodies(sound.clone());
    for bytes in [&flipped[..], &sound[..sound.len() - 5000], b"no store"] {
        fs::write(&copy, bytes)?;
        let err = store::restore(&copy, &path).err().map(|err| err.to_string());
        let err = err.ok_or_else(|| anyhow::anyhow!("a damaged backup was taken"))?;
        assert!(err.contains("backup.redb") && err.contains("damaged"), "{err}");
        assert!(fs::read(&path)? == before);
    }
    assert_eq!(fs::read_dir(dir.path())?.count(), 2);
    Ok(())
}

#[tokio::test]
async fn q_006_a_check_finds_wrong_bytes_in_a_body() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    filled(&path, 2).await?.close();
    let file_bytes = fs::metadata(&path)?.len();
    let report = store::check(&path)?;
    assert_eq!((report.schema, report.problems), (1, vec![]));
    assert!(report.entries.contains(&("tasks", 1)), "{:?}", report.entries);
    assert_eq!(report.file_bytes, file_bytes);

    let wrong = with_wrong_bodies(fs::read(&path)?);
    fs::write(&path, wrong)?;
    assert!(matches!(store::check(&path).err(), Some(OpenError::Damaged { .. })));
    Ok(())
}

#[tokio::test]
async fn a_check_finds_output_that_is_not_there() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let store = filled(&path, 0).await?;
    let mut ops = shell_ops(session_id(1), 1, "out", "err");
    ops.pop();
    store.commit(ops).await?;
    store.close();
    let problems = store::check(&path)?.problems;
    assert!(problems.len() == 1 && problems[0].contains("lacks"), "{problems:?}");
    Ok(())
}

#[tokio::test]
async fn compacting_gives_the_room_of_deleted_tasks_back() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let store = filled(&path, 100).await?;
    store.commit(vec![Op::DeleteTask(task(1).id), Op::PutTask(task(2))]).await?;
    store.close();
    let (before, after) = store::compact(&path)?;
    assert_eq!(after, fs::metadata(&path)?.len());
    assert!(after * 4 < before, "{before} to {after}");
    assert_eq!(opened(&path)?.read(store::Reader::tasks)?, [task(2)]);
    Ok(())
}

#[tokio::test]
async fn a_backup_that_fails_leaves_the_earlier_one() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let store = filled(&path, 1).await?;
    let copy = dir.path().join("backup.redb");
    fs::create_dir(&copy)?;
    assert!(store.backup_to(&copy).is_err());
    let names = fs::read_dir(dir.path())?.count();
    assert_eq!(names, 2, "nothing half made is left");
    Ok(())
}
