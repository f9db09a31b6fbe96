//! Which revision a part of the page stands at, so that nothing older is shown again.

use model::wire::Since;

/// The newest revision of one run of the server that was applied; none before the first snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(Option<Since>);

impl Seen {
    /// A state that came with this revision.
    pub fn at(epoch: &str, rev: u64) -> Self {
        Self(Some(Since { epoch: epoch.to_owned(), rev }))
    }

    /// What to tell the server that is already here.
    pub fn since(&self) -> Option<Since> {
        self.0.clone()
    }

    /// Whether this comes from the run of the server whose state is here.
    pub fn is_of(&self, epoch: &str) -> bool {
        self.0.as_ref().is_some_and(|since| since.epoch == epoch)
    }

    /// Forgets, so that the next snapshot is a whole one.
    pub fn forget(&mut self) {
        self.0 = None;
    }

    /// Takes the revision of a notification; false when a newer state is already here.
    ///
    /// Before the first snapshot everything is new: changes are whole records, so one that the
    /// snapshot brings again does no harm.
    pub fn admits(&mut self, rev: u64) -> bool {
        match &mut self.0 {
            None => true,
            Some(since) if rev <= since.rev => false,
            Some(since) => {
                since.rev = rev;
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_001_what_a_snapshot_already_had_is_ignored() {
        let mut seen = Seen::at("a", 7);
        assert!(!seen.admits(7));
        assert!(seen.admits(9));
        assert!(!seen.admits(8));
        assert_eq!(seen.since(), Some(Since { epoch: "a".into(), rev: 9 }));
    }

    #[test]
    fn a_client_that_fell_behind_asks_for_everything() {
        let mut seen = Seen::at("a", 7);
        seen.forget();
        assert_eq!(seen.since(), None);
        assert!(seen.admits(1));
    }
}
