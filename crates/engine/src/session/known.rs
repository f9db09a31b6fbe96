//! The calls that an agent's session has had, so that the store is asked only for what it may have.

use std::{
    collections::HashSet,
    hash::{BuildHasher as _, RandomState},
};

/// More ids than this are not remembered; then every call may be known. 8 bytes each.
const REMEMBERED: usize = 65_536;

/// Remembers ids by their hashes: one that was never seen may look known, and costs a read.
#[derive(Debug, Default)]
pub(crate) struct KnownCalls {
    hashes: HashSet<u64>,
    hasher: RandomState,
    is_complete: bool,
}

impl KnownCalls {
    /// Of a session that has had no calls.
    pub(crate) fn none() -> Self {
        Self { is_complete: true, ..Self::default() }
    }

    /// The session has had calls of which nothing is remembered.
    pub(crate) fn lose_track(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn insert(&mut self, call_id: &str) {
        if self.hashes.len() >= REMEMBERED {
            self.lose_track();
        }
        if self.is_complete {
            self.hashes.insert(self.hasher.hash_one(call_id));
        }
    }

    /// Whether the session may have had this call.
    pub(crate) fn may_contain(&self, call_id: &str) -> bool {
        !self.is_complete || self.hashes.contains(&self.hasher.hash_one(call_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_024_only_a_call_that_was_seen_or_forgotten_may_be_known() {
        let mut known = KnownCalls::none();
        assert!(!known.may_contain("a"));
        known.insert("a");
        assert!(known.may_contain("a") && !known.may_contain("b"));
        known.lose_track();
        assert!(known.may_contain("b"));
    }

    #[test]
    fn s_024_beyond_the_bound_every_call_may_be_known() {
        let mut known = KnownCalls::none();
        for n in 0..=REMEMBERED {
            known.insert(&n.to_string());
        }
        assert!(known.may_contain("never seen") && known.hashes.is_empty());
    }
}
