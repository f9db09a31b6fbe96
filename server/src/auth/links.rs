//! One-time links: in memory only, so that a restart ends them.

use std::time::{Duration, Instant};

use crate::token::{TokenHash, random_token};

/// How long a link works.
pub(crate) const LINK_LIFETIME: Duration = Duration::from_secs(15 * 60);
/// Links that wait at the same time; the oldest gives way.
const MAX_LINKS: usize = 32;

/// The links that nobody has used yet.
#[derive(Default)]
pub(super) struct Links {
    waiting: Vec<(TokenHash, Instant)>,
}

impl Links {
    /// Makes a link's token.
    pub(super) fn create(&mut self, now: Instant) -> String {
        self.forget_expired(now);
        if self.waiting.len() >= MAX_LINKS {
            self.waiting.remove(0);
        }
        let token = random_token();
        self.waiting.push((TokenHash::of(&token), now));
        token
    }

    /// Takes a link's token; true once.
    pub(super) fn spend(&mut self, token: &str, now: Instant) -> bool {
        self.forget_expired(now);
        let before = self.waiting.len();
        self.waiting.retain(|(hash, _)| !hash.matches(token));
        self.waiting.len() < before
    }

    fn forget_expired(&mut self, now: Instant) {
        self.waiting.retain(|(_, created)| now - *created < LINK_LIFETIME);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_002_a_link_works_once() {
        let (mut links, now) = (Links::default(), Instant::now());
        let (one, two) = (links.create(now), links.create(now));
        assert!(!links.spend("wrong", now));
        assert!(links.spend(&one, now));
        assert!(!links.spend(&one, now));
        assert!(links.spend(&two, now));
    }

    #[test]
    fn q_002_a_link_works_for_fifteen_minutes() {
        let (mut links, now) = (Links::default(), Instant::now());
        let (one, two) = (links.create(now), links.create(now));
        assert!(links.spend(&one, now + LINK_LIFETIME - Duration::from_secs(1)));
        assert!(!links.spend(&two, now + LINK_LIFETIME));
    }

    #[test]
    fn links_do_not_pile_up() {
        let (mut links, now) = (Links::default(), Instant::now());
        let first = links.create(now);
        let last = (0..MAX_LINKS).map(|_| links.create(now)).last().unwrap();
        assert_eq!(links.waiting.len(), MAX_LINKS);
        assert!(!links.spend(&first, now));
        assert!(links.spend(&last, now));
    }
}
