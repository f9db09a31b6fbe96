//! A sorted list of records with a signal for each, so that a change touches one row of the page.

use std::hash::Hash;

use leptos::prelude::*;

/// A record with a key that never changes and says where it stands.
pub trait Keyed: Clone + PartialEq + Send + Sync + 'static {
    /// The key: rows are sorted by it.
    type Key: Copy + Ord + Hash + Send + Sync + 'static;

    /// The record's key.
    fn key(&self) -> Self::Key;
}

/// One record and its signal. Two rows are equal when they are the same row.
pub struct Row<T: Keyed> {
    /// The record's key.
    pub key: T::Key,
    /// The record as it is now.
    pub record: ArcRwSignal<T>,
}

impl<T: Keyed> Clone for Row<T> {
    fn clone(&self) -> Self {
        Self { key: self.key, record: self.record.clone() }
    }
}

impl<T: Keyed> PartialEq for Row<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.record == other.record
    }
}

/// Records, sorted by their key. The list changes when rows come and go; a row when its record does.
pub struct Rows<T: Keyed> {
    list: ArcRwSignal<Vec<Row<T>>>,
}

impl<T: Keyed> Clone for Rows<T> {
    fn clone(&self) -> Self {
        Self { list: self.list.clone() }
    }
}

impl<T: Keyed> Default for Rows<T> {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl<T: Keyed> Rows<T> {
    /// These records, in any order.
    pub fn new(records: Vec<T>) -> Self {
        let mut rows = Vec::with_capacity(records.len());
        for record in records {
            insert(&mut rows, row(record));
        }
        Self { list: ArcRwSignal::new(rows) }
    }

    /// The rows, in order. Tracks which there are, not what they hold.
    pub fn list(&self) -> Vec<Row<T>> {
        self.list.get()
    }

    /// The row of this key, if there is one. Tracks whether there is.
    pub fn find(&self, key: T::Key) -> Option<Row<T>> {
        self.list.with(|rows| position(rows, key).ok().map(|at| rows[at].clone()))
    }

    /// The key of the first row, without tracking.
    pub fn first_key(&self) -> Option<T::Key> {
        self.list.with_untracked(|rows| rows.first().map(|row| row.key))
    }

    /// Puts a record in its place: a new row, or the new state of the one it has.
    pub fn upsert(&self, record: T) {
        let key = record.key();
        let known =
            self.list.with_untracked(|rows| position(rows, key).map(|at| rows[at].record.clone()));
        match known {
            Ok(signal) => settle(&signal, record),
            Err(at) => self.list.update(|rows| rows.insert(at, row(record))),
        }
    }

    /// How many rows there are. Tracked.
    pub fn len(&self) -> usize {
        self.list.with(Vec::len)
    }

    /// Takes the first rows out, as they are.
    pub fn split_front(&self, count: usize) -> Self {
        let front = self.list.try_update(|rows| rows.drain(..count.min(rows.len())).collect());
        Self { list: ArcRwSignal::new(front.unwrap_or_default()) }
    }

    /// Removes a row, if it is there.
    pub fn remove(&self, key: T::Key) {
        let known = self.list.with_untracked(|rows| position(rows, key));
        if let Ok(at) = known {
            self.list.update(|rows| {
                rows.remove(at);
            });
        }
    }

    /// Makes these records all there are. Rows that stay keep their signal.
    pub fn replace(&self, records: Vec<T>) {
        let mut next = Vec::with_capacity(records.len());
        for record in records {
            let same = match self.find_untracked(record.key()) {
                Some(known) => {
                    settle(&known.record, record);
                    known
                }
                None => row(record),
            };
            insert(&mut next, same);
        }
        if self.list.with_untracked(|rows| *rows != next) {
            self.list.set(next);
        }
    }

    fn find_untracked(&self, key: T::Key) -> Option<Row<T>> {
        self.list.with_untracked(|rows| position(rows, key).ok().map(|at| rows[at].clone()))
    }
}

fn row<T: Keyed>(record: T) -> Row<T> {
    Row { key: record.key(), record: ArcRwSignal::new(record) }
}

/// Puts a row in its place: at the end, as a rule. Of two with one key the last one stays.
fn insert<T: Keyed>(rows: &mut Vec<Row<T>>, row: Row<T>) {
    match position(rows, row.key) {
        Ok(at) => rows[at] = row,
        Err(at) => rows.insert(at, row),
    }
}

fn position<T: Keyed>(rows: &[Row<T>], key: T::Key) -> Result<usize, usize> {
    rows.binary_search_by_key(&key, |row| row.key)
}

/// Tells the row's readers only when something is different.
fn settle<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, record: T) {
    if signal.with_untracked(|known| *known != record) {
        signal.set(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (u8, &'static str);

    impl Keyed for Pair {
        type Key = u8;

        fn key(&self) -> u8 {
            self.0
        }
    }

    fn records(rows: &Rows<Pair>) -> Vec<Pair> {
        rows.list.with_untracked(|rows| rows.iter().map(|r| r.record.get_untracked()).collect())
    }

    fn list(rows: &Rows<Pair>) -> Vec<Row<Pair>> {
        rows.list.get_untracked()
    }

    #[test]
    fn records_stand_in_order_whenever_they_come() {
        let rows = Rows::new(vec![(5, "e"), (2, "b")]);
        rows.upsert((3, "c"));
        rows.upsert((9, "i"));
        rows.upsert((1, "a"));
        assert_eq!(records(&rows), [(1, "a"), (2, "b"), (3, "c"), (5, "e"), (9, "i")]);
        assert_eq!(rows.first_key(), Some(1));
    }

    #[test]
    fn k_001_an_update_touches_one_row_and_twice_is_once() {
        let rows = Rows::new(vec![(1, "a"), (2, "b")]);
        let before = list(&rows);
        rows.upsert((2, "B"));
        rows.upsert((2, "B"));
        assert!(before == list(&rows), "the rows are the same ones");
        assert_eq!(records(&rows), [(1, "a"), (2, "B")]);
    }

    #[test]
    fn a_snapshot_keeps_the_rows_that_stay() {
        let rows = Rows::new(vec![(1, "a"), (2, "b")]);
        let kept = rows.find_untracked(2);
        rows.replace(vec![(3, "c"), (2, "B")]);
        assert!(kept == rows.find_untracked(2));
        assert_eq!(records(&rows), [(2, "B"), (3, "c")]);
    }

    #[test]
    fn s_051_rows_that_are_split_off_are_the_same_ones() {
        let rows = Rows::new(vec![(1, "a"), (2, "b"), (3, "c")]);
        let before = list(&rows);
        let front = rows.split_front(2);
        assert!(list(&front) == before[..2] && list(&rows) == before[2..]);
        assert_eq!((front.len(), rows.len()), (2, 1));
        assert_eq!(rows.split_front(9).len(), 1);
    }

    #[test]
    fn removing_what_is_not_there_changes_nothing() {
        let rows = Rows::new(vec![(1, "a")]);
        rows.remove(7);
        assert_eq!(records(&rows), [(1, "a")]);
        rows.remove(1);
        assert_eq!(records(&rows), []);
    }
}
