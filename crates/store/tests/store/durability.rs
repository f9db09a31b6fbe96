//! Acknowledged is on disk: power failures, kills, full disks, and what many commits share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Waker},
    time::Duration,
};

use anyhow::Result;
use proptest::prelude::*;
use store::{Op, Options, Store, StoreError};

use crate::{
    disk::{Disk, Fate},
    sample::{self, append, message, session_id, shell_ops, task},
};

fn open(disk: &Disk) -> Result<Store> {
    Ok(Store::open_backend(disk.clone(), &Options::default())?)
}

/// Options, and how often a repair that reads the whole file reported.
fn counting_repairs() -> (Options, Arc<AtomicUsize>) {
    let repairs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&repairs);
    let on_repair = Arc::new(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    (Options { on_repair: Some(on_repair), ..Options::default() }, repairs)
}

/// A batch of two messages, which are there together or not at all.
fn batch(n: u64, text: &str) -> Vec<Op> {
    let seq = 2 * n + 1;
    let mut ops = shell_ops(session_id(1), seq, text, "");
    ops.push(Op::PutMessage(message(session_id(1), seq + 1, "done")));
    ops
}

fn stored(store: &Store) -> Result<Vec<u64>, StoreError> {
    let (messages, _) = store.read(|reader| reader.messages(session_id(1), None, 10_000))?;
    Ok(messages.iter().map(|message| message.seq).collect())
}

/// Commits batches until one fails: how many were acknowledged, and how many of them are durable.
async fn commit_until_failure(store: &Store, durable: &[bool]) -> (u64, u64) {
    let (mut acknowledged, mut on_disk) = (0, 0);
    if store.commit(sample::owners()).await.is_err() {
        return (0, 0);
    }
    for (n, durable) in durable.iter().enumerate() {
        let ops = batch(n as u64, &"x".repeat(n * 3000));
        let result = if *durable { store.commit(ops).await } else { store.commit_lazy(ops).await };
        if result.is_err() {
            break;
        }
        acknowledged += 1;
        if *durable {
            on_disk = acknowledged;
        }
    }
    (acknowledged, on_disk)
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop::sample::select(vec![Fate::Kept, Fate::Lost, Fate::Torn]);
    prop::collection::vec(fate, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn q_006_a_power_failure_loses_nothing_that_was_acknowledged_as_durable(
        durable in prop::collection::vec(any::<bool>(), 1..12),
        power in 0..400usize,
        fates in fates(),
    ) {
        let disk = Disk::new();
        let store = open(&disk).unwrap();
        disk.set_power(Some(power));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (acknowledged, on_disk) = runtime.block_on(commit_until_failure(&store, &durable));

        let mut fate = fates.into_iter().cycle();
        let bytes = disk.after_power_failure(|| fate.next().unwrap());
        drop(store);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.redb");
        std::fs::write(&path, bytes).unwrap();
        let store = Store::open(&path, &Options::default()).unwrap();
        let seqs = stored(&store).unwrap();
        store.close();

        // Whole batches, in order, without a gap; at least those that were durable. The one that
        // failed may have reached the disk.
        prop_assert_eq!(&seqs, &(1..=seqs.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(seqs.len() % 2, 0);
        let found = seqs.len() as u64 / 2;
        prop_assert!((on_disk..=acknowledged + 1).contains(&found), "{} of {}", found, on_disk);
        prop_assert_eq!(store::check(&path).unwrap().problems, Vec::<String>::new());
    }
}

#[tokio::test]
async fn q_006_a_store_that_was_killed_opens_without_reading_the_file() -> Result<()> {
    let (options, repairs) = counting_repairs();
    let disk = Disk::new();
    let store = Store::open_backend(disk.clone(), &options)?;
    store.commit(sample::owners()).await?;
    store.commit(batch(0, &"x".repeat(200_000))).await?;
    store.commit_lazy(batch(1, "late")).await?;

    for bytes in [disk.bytes(), disk.after_power_failure(|| Fate::Lost)] {
        let killed = Store::open_backend(Disk::with(bytes), &options)?;
        assert!(stored(&killed)?.starts_with(&[1, 2]));
    }
    assert_eq!(repairs.load(Ordering::Relaxed), 0);
    Ok(())
}

#[tokio::test]
async fn lazy_output_is_seen_at_once_and_on_disk_soon() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    let syncs = disk.watch_syncs();
    store.commit_lazy(batch(0, "out")).await?;
    assert_eq!(stored(&store)?, [1, 2]);
    // More than one sync makes a commit: ask after each.
    let survives = || -> Result<bool> {
        let bytes = disk.after_power_failure(|| Fate::Lost);
        Ok(stored(&open(&Disk::with(bytes))?)? == [1, 2])
    };
    while !survives()? {
        syncs.recv_timeout(Duration::from_secs(20))?;
    }
    Ok(())
}

/// A durable commit that waits for the writer.
fn submitted(store: &Store, ops: Vec<Op>) -> impl Future<Output = Result<(), StoreError>> {
    let store = store.clone();
    let mut commit = Box::pin(async move { store.commit(ops).await });
    let waits = commit.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    assert!(waits, "the disk is shut");
    commit
}

#[tokio::test]
async fn commits_that_wait_together_share_one_transaction() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    disk.reset_counters();
    store.commit(batch(0, "first")).await?;
    let syncs_of_one = disk.counters().syncs;

    disk.shut(true);
    disk.reset_counters();
    let commits: Vec<_> = (1..=100).map(|n| submitted(&store, batch(n, "more"))).collect();
    disk.shut(false);
    for commit in commits {
        commit.await?;
    }
    assert_eq!(stored(&store)?.len(), 202);
    let syncs = disk.counters().syncs;
    assert!(syncs <= 2 * syncs_of_one, "{syncs} syncs, {syncs_of_one} for one commit");
    Ok(())
}

#[tokio::test]
async fn a_batch_that_cannot_be_applied_harms_none_that_waits_with_it() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    disk.shut(true);
    let session = |n: u64| if n % 3 == 1 { session_id(404) } else { session_id(1) };
    let ops = |n: u64| vec![Op::PutMessage(message(session(n), n + 1, "hi"))];
    let commits: Vec<_> = (0..10).map(|n| submitted(&store, ops(n))).collect();
    disk.shut(false);
    for (n, commit) in commits.into_iter().enumerate() {
        assert_eq!(commit.await.is_err(), n % 3 == 1, "{n}");
    }
    assert_eq!(stored(&store)?, [1, 3, 4, 6, 7, 9, 10]);
    Ok(())
}

#[tokio::test]
async fn q_006_a_full_disk_is_an_error_and_the_store_goes_on() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    store.commit(batch(0, "durable")).await?;
    store.commit_lazy(batch(1, "lazy")).await?;

    disk.set_full(true);
    let large = "x".repeat(8 << 20);
    let result = store.commit(batch(2, &large)).await;
    assert!(matches!(result, Err(StoreError::DiskFull)), "{result:?}");
    assert_eq!(stored(&store)?, [1, 2, 3, 4], "nothing acknowledged is lost");

    disk.set_full(false);
    store.commit(batch(2, &large)).await?;
    let bytes = disk.after_power_failure(|| Fate::Lost);
    let survivor = Store::open_backend(Disk::with(bytes), &Options::default())?;
    assert_eq!(stored(&survivor)?, [1, 2, 3, 4, 5, 6]);
    Ok(())
}

#[tokio::test]
async fn q_006_a_full_disk_takes_no_more_live_output_than_it_already_took() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    disk.set_full(true);
    store.commit_lazy(batch(0, &"x".repeat(1 << 20))).await?;
    assert!(matches!(store.commit(batch(1, "no")).await, Err(StoreError::DiskFull)));
    assert!(matches!(store.commit_lazy(batch(1, "no")).await, Err(StoreError::DiskFull)));
    assert_eq!(stored(&store)?, [1, 2]);

    disk.set_full(false);
    store.commit_lazy(batch(1, "yes")).await?;
    let bytes = disk.after_power_failure(|| Fate::Lost);
    assert_eq!(stored(&open(&Disk::with(bytes))?)?, [1, 2, 3, 4]);
    Ok(())
}

#[tokio::test]
async fn q_006_a_disk_that_comes_back_is_used_again() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    store.commit_lazy(batch(0, "lazy")).await?;
    disk.set_power(Some(0));
    let result = store.commit(batch(1, "fails")).await;
    assert!(matches!(result, Err(StoreError::Io(_))), "{result:?}");
    assert!(matches!(stored(&store), Err(StoreError::Io(_))));

    disk.set_power(None);
    store.commit(batch(2, "works")).await?;
    assert_eq!(stored(&store)?, [1, 2, 5, 6], "what was acknowledged and not on disk is there");
    Ok(())
}

#[tokio::test]
async fn closing_keeps_everything_and_ends_everything() -> Result<()> {
    let disk = Disk::new();
    let store = open(&disk)?;
    store.commit(sample::owners()).await?;
    store.commit_lazy(batch(0, "lazy")).await?;
    let handle = store.clone();
    handle.close();
    handle.close();
    assert!(matches!(store.commit(batch(1, "late")).await, Err(StoreError::Closed)));
    assert!(matches!(store.commit_lazy(batch(1, "late")).await, Err(StoreError::Closed)));
    assert!(matches!(stored(&store), Err(StoreError::Closed)));
    let bytes = disk.after_power_failure(|| Fate::Lost);
    assert_eq!(stored(&open(&Disk::with(bytes))?)?, [1, 2]);
    Ok(())
}

#[tokio::test]
async fn dropping_the_last_handle_closes() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("store.redb");
    let store = Store::open(&path, &Options::default())?;
    store.commit_lazy(vec![Op::PutTask(task(1))]).await?;
    drop(store);
    let again = Store::open(&path, &Options::default())?;
    assert_eq!(again.read(store::Reader::tasks)?, [task(1)]);
    Ok(())
}

#[tokio::test]
async fn a_reader_sees_one_moment() -> Result<()> {
    let store = open(&Disk::new())?;
    store.commit(sample::owners()).await?;
    let writer = store.clone();
    let runtime = tokio::runtime::Handle::current();
    let seen = tokio::task::spawn_blocking(move || {
        store.read(|reader| {
            let before = reader.last_seq(session_id(1))?;
            runtime.block_on(writer.commit(batch(0, "meanwhile")))?;
            runtime.block_on(writer.commit_lazy(vec![append(session_id(1), 1, 9, "!")]))?;
            Ok((before, reader.last_seq(session_id(1))?))
        })
    });
    assert_eq!(seen.await??, (0, 0));
    Ok(())
}
