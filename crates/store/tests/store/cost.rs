//! What reading and writing cost, in bytes.

use anyhow::Result;
use model::{BodyChange, BodyExtent, BodyStream, OutputRecord};
use store::{Op, Options, Store};

use crate::{
    disk::Disk,
    sample::{self, append, session_id, shell, shell_ops},
};

const STREAM: usize = model::shell::STREAM_LIMIT_BYTES;

#[tokio::test]
async fn s_034_listing_200_commands_does_not_read_their_output() -> Result<()> {
    let disk = Disk::default();
    let session = session_id(1);
    let output = "x".repeat(STREAM);
    let store = Store::open_backend(disk.clone(), &Options::default())?;
    store.commit(sample::owners()).await?;
    for seq in 1..=200 {
        store.commit(shell_ops(session, seq, &output, &output)).await?;
    }
    store.close();

    let cold = Options { cache_bytes: 0, ..Options::default() };
    let store = Store::open_backend(disk.clone(), &cold)?;
    disk.reset_counters();
    let (messages, older) = store.read(|reader| reader.messages(session, None, 200))?;
    let read = disk.counters().read_bytes;
    assert_eq!((messages.len(), older), (200, false));
    assert!(read > 0, "nothing was counted");
    assert!(read < 2_000_000, "{read} bytes were read");

    disk.reset_counters();
    let extent = BodyExtent { start: 0, end: STREAM as u64 };
    store.read(|reader| reader.body(session, 7, BodyStream::Stdout, extent))?;
    let read = disk.counters().read_bytes;
    assert!((STREAM as u64..2 * STREAM as u64).contains(&read), "{read} bytes for one body");
    Ok(())
}

#[tokio::test]
async fn an_append_to_a_long_body_writes_little() -> Result<()> {
    let disk = Disk::default();
    let session = session_id(1);
    let store = Store::open_backend(disk.clone(), &Options::default())?;
    store.commit(sample::owners()).await?;
    store.commit(shell_ops(session, 1, &"x".repeat(STREAM), "")).await?;
    disk.reset_counters();
    let end = STREAM as u64;
    let text = "one more line\n";
    let output = OutputRecord {
        stdout: Some(BodyExtent { start: 0, end: end + text.len() as u64 }),
        ..OutputRecord::default()
    };
    store
        .commit(vec![
            Op::PutMessage(shell(session, 1, Some(output))),
            append(session, 1, end, text),
        ])
        .await?;
    let written = disk.counters().written_bytes;
    assert!(written < STREAM as u64 / 2, "{written} bytes were written");
    Ok(())
}

#[tokio::test]
async fn replacing_a_long_body_by_a_little_more_writes_little() -> Result<()> {
    let disk = Disk::default();
    let session = session_id(1);
    let store = Store::open_backend(disk.clone(), &Options::default())?;
    store.commit(sample::owners()).await?;
    let mut output = "x".repeat(STREAM - 100);
    store.commit(shell_ops(session, 1, &output, "")).await?;
    disk.reset_counters();
    output.push_str("one more line\n");
    store.commit(shell_ops(session, 1, &output, "")).await?;
    let written = disk.counters().written_bytes;
    assert!(written < STREAM as u64 / 2, "{written} bytes were written");
    Ok(())
}

#[tokio::test]
async fn a_body_takes_little_more_room_than_its_bytes() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let session = session_id(1);
    let store = Store::open(&path, &Options::default())?;
    store.commit(sample::owners()).await?;
    for seq in 1..=40 {
        store.commit(shell_ops(session, seq, &"x".repeat(STREAM), "")).await?;
    }
    let copy = dir.path().join("copy.redb");
    store.backup_to(&copy)?;
    let bytes = copy.metadata()?.len();
    let body_bytes = 40 * STREAM as u64;
    assert!(bytes < body_bytes * 5 / 4, "{bytes} bytes for {body_bytes}");
    Ok(())
}

#[tokio::test]
async fn live_output_for_a_long_time_does_not_grow_the_file_without_end() -> Result<()> {
    let disk = Disk::default();
    let session = session_id(1);
    let store = Store::open_backend(disk.clone(), &Options::default())?;
    store.commit(sample::owners()).await?;
    store.commit(shell_ops(session, 1, "", "")).await?;
    let line = "x".repeat(100);
    for n in 0..2000 {
        store.commit_lazy(vec![append(session, 1, n * 100, &line)]).await?;
    }
    store.close();
    let bytes = disk.bytes().len();
    assert!(bytes < 8 << 20, "{bytes} bytes for 200 kB");
    Ok(())
}

#[tokio::test]
async fn a_body_that_loses_its_beginning_gives_the_room_back() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let session = session_id(1);
    let store = Store::open(&path, &Options::default())?;
    store.commit(sample::owners()).await?;
    store.commit(shell_ops(session, 1, "", "")).await?;
    let text = "x".repeat(STREAM / 2);
    let mut extent = BodyExtent::default();
    for _ in 0..16 {
        extent.end += text.len() as u64;
        extent.start = extent.end.saturating_sub(STREAM as u64);
        let output = OutputRecord { stdout: Some(extent), ..OutputRecord::default() };
        let change = BodyChange::Append { text: text.clone(), start: extent.start };
        let stream = BodyStream::Stdout;
        store
            .commit(vec![
                Op::PutMessage(shell(session, 1, Some(output))),
                Op::ChangeBody { session_id: session, seq: 1, stream, change, extent },
            ])
            .await?;
    }
    store.close();
    let report = store::check(&path)?;
    assert_eq!(report.problems, Vec::<String>::new());
    let entries = report.entries.into_iter().find(|(table, _)| *table == "messages");
    let segments = STREAM as u64 / 16_000 + 2;
    assert!(entries.is_some_and(|(_, entries)| entries < segments + 4), "{entries:?}");
    Ok(())
}
