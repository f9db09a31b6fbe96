//! A disk in memory: it counts, it fills up, it fails, and it forgets what was not synced.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, mpsc},
};

use redb::StorageBackend;

/// A disk; clones are the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Disk {
    shared: Arc<(Mutex<Content>, Condvar)>,
}

/// What a disk did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counters {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) syncs: u64,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// What a crash leaves for sure, when this disk can crash.
    synced: Option<Vec<u8>>,
    unsynced: Vec<Change>,
    counters: Counters,
    /// What lies beyond cannot be written, though the file may become longer.
    capacity: Option<u64>,
    /// Changes and syncs that succeed before everything fails.
    power: Option<usize>,
    /// Syncs wait while it is shut.
    shut: bool,
    on_sync: Option<mpsc::Sender<()>>,
}

#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::SetLen(len) => bytes.resize(*len as usize, 0),
            Self::Write(offset, data) => {
                let (begin, end) = (*offset as usize, *offset as usize + data.len());
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[begin..end].copy_from_slice(data);
            }
        }
    }
}

/// What became of a change that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Lost,
    /// Only its first half, in whole sectors, was written.
    Torn,
}

impl Disk {
    /// A disk that can crash.
    pub(crate) fn new() -> Self {
        Self::with(Vec::new())
    }

    /// A disk that can crash, with this on it.
    pub(crate) fn with(bytes: Vec<u8>) -> Self {
        let disk = Self::default();
        let synced = Some(bytes.clone());
        *disk.content() = Content { bytes, synced, ..Content::default() };
        disk
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.shared.0.lock().expect("no test panics with the lock")
    }

    pub(crate) fn counters(&self) -> Counters {
        self.content().counters
    }

    pub(crate) fn reset_counters(&self) {
        self.content().counters = Counters::default();
    }

    /// From now on nothing can be written beyond its end; or it can again.
    pub(crate) fn set_full(&self, full: bool) {
        let mut content = self.content();
        content.capacity = full.then_some(content.bytes.len() as u64);
    }

    /// Everything fails after this many changes and syncs; with `None` nothing does.
    pub(crate) fn set_power(&self, power: Option<usize>) {
        self.content().power = power;
    }

    /// Syncs wait from now on, or go on.
    pub(crate) fn shut(&self, shut: bool) {
        self.content().shut = shut;
        self.shared.1.notify_all();
    }

    /// Hears of every sync from now on.
    pub(crate) fn watch_syncs(&self) -> mpsc::Receiver<()> {
        let (sender, receiver) = mpsc::channel();
        self.content().on_sync = Some(sender);
        receiver
    }

    /// What a process that was killed leaves: all that it wrote.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.content().bytes.clone()
    }

    /// What a power failure leaves: all that was synced, and of the rest what fate says.
    pub(crate) fn after_power_failure(&self, mut fate: impl FnMut() -> Fate) -> Vec<u8> {
        const SECTOR: usize = 512;
        let content = self.content();
        let mut bytes = content.synced.clone().expect("this disk can crash");
        for change in &content.unsynced {
            match (fate(), change) {
                (Fate::Lost, _) => {}
                (Fate::Torn, Change::Write(offset, data)) => {
                    let half = data.len() / 2 / SECTOR * SECTOR;
                    Change::Write(*offset, data[..half].to_vec()).apply(&mut bytes);
                }
                (Fate::Kept | Fate::Torn, change) => change.apply(&mut bytes),
            }
        }
        bytes
    }
}

impl Content {
    fn spend(&mut self) -> io::Result<()> {
        match &mut self.power {
            None => Ok(()),
            Some(0) => Err(io::Error::other("the power is off")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }

    fn change(&mut self, change: Change) -> io::Result<()> {
        self.spend()?;
        if let (Some(capacity), Change::Write(offset, data)) = (self.capacity, &change)
            && offset + data.len() as u64 > capacity
        {
            return Err(io::ErrorKind::StorageFull.into());
        }
        change.apply(&mut self.bytes);
        if self.synced.is_some() {
            self.unsynced.push(change);
        }
        Ok(())
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.content().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut content = self.content();
        if content.power == Some(0) {
            return Err(io::Error::other("the power is off"));
        }
        content.counters.read_bytes += out.len() as u64;
        let begin = offset as usize;
        let bytes = content.bytes.get(begin..begin + out.len());
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.content().change(Change::SetLen(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let content = self.content();
        let mut content = self
            .shared
            .1
            .wait_while(content, |content| content.shut)
            .expect("no test panics with the lock");
        content.spend()?;
        content.counters.syncs += 1;
        let unsynced = std::mem::take(&mut content.unsynced);
        if let Some(synced) = &mut content.synced {
            unsynced.iter().for_each(|change| change.apply(synced));
        }
        if let Some(on_sync) = &content.on_sync {
            let _ = on_sync.send(());
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut content = self.content();
        content.counters.written_bytes += data.len() as u64;
        content.change(Change::Write(offset, data.to_vec()))
    }
}
