//! Failed attempts, counted for each address.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

/// Failures that an address may have within [`WINDOW`].
const MAX_FAILURES: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// Addresses that are remembered; the oldest is forgotten first.
const MAX_ADDRESSES: usize = 1024;

/// Failures of the last minute.
#[derive(Default)]
pub(super) struct Attempts {
    failures: HashMap<IpAddr, Failures>,
}

struct Failures {
    since: Instant,
    count: u32,
}

/// Why there is no result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The check said no.
    Wrong,
    /// It was not even asked.
    Blocked {
        /// Until it will be.
        seconds: u64,
    },
}

impl Attempts {
    /// Runs `check`, unless this address has failed too often. The caller holds this whole, so that
    /// attempts side by side count like attempts in a row.
    pub(super) fn run<T>(
        &mut self,
        peer: IpAddr,
        now: Instant,
        check: impl FnOnce() -> Option<T>,
    ) -> Result<T, Failed> {
        let network = network_of(peer);
        self.failures.retain(|_, failures| now - failures.since < WINDOW);
        if let Some(failures) = self.failures.get(&network)
            && failures.count >= MAX_FAILURES
        {
            let left = WINDOW - (now - failures.since);
            return Err(Failed::Blocked { seconds: left.as_secs().max(1) });
        }
        check().ok_or_else(|| {
            self.record(network, now);
            Failed::Wrong
        })
    }

    fn record(&mut self, network: IpAddr, now: Instant) {
        if self.failures.len() >= MAX_ADDRESSES
            && !self.failures.contains_key(&network)
            && let Some(oldest) = self.oldest()
        {
            self.failures.remove(&oldest);
        }
        self.failures.entry(network).or_insert(Failures { since: now, count: 0 }).count += 1;
    }

    fn oldest(&self) -> Option<IpAddr> {
        self.failures.iter().min_by_key(|(_, failures)| failures.since).map(|(ip, _)| *ip)
    }
}

/// A machine has a whole /64 of IPv6 to itself.
fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            [a, b, c, d, 0, 0, 0, 0].into()
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn fail(attempts: &mut Attempts, peer: IpAddr, now: Instant) -> Failed {
        attempts.run(peer, now, || None::<()>).unwrap_err()
    }

    #[test]
    fn q_002_the_eleventh_failure_in_a_minute_is_not_checked() {
        let (mut attempts, began) = (Attempts::default(), Instant::now());
        for _ in 0..10 {
            assert_eq!(fail(&mut attempts, PEER, began), Failed::Wrong);
        }
        let later = began + Duration::from_secs(20);
        let right = attempts.run(PEER, later, || Some(()));
        assert_eq!(right, Err(Failed::Blocked { seconds: 40 }));
        assert_eq!(attempts.run(PEER, began + WINDOW, || Some(())), Ok(()));
    }

    #[test]
    fn addresses_fail_on_their_own() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for _ in 0..11 {
            fail(&mut attempts, PEER, now);
        }
        assert_eq!(attempts.run([10, 0, 0, 1].into(), now, || Some(())), Ok(()));
    }

    #[test]
    fn one_network_of_ipv6_fails_as_one() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for host in 0..10 {
            fail(&mut attempts, [0x2001, 0xdb8, 0, 1, 0, 0, 0, host].into(), now);
        }
        let other_host = [0x2001, 0xdb8, 0, 1, 9, 9, 9, 9].into();
        assert!(matches!(fail(&mut attempts, other_host, now), Failed::Blocked { .. }));
    }

    #[test]
    fn a_flood_of_addresses_is_forgotten_oldest_first() {
        let (mut attempts, now) = (Attempts::default(), Instant::now());
        for n in 0..3000_u32 {
            let peer = std::net::Ipv4Addr::from(n).into();
            fail(&mut attempts, peer, now + Duration::from_millis(n.into()));
        }
        assert_eq!(attempts.failures.len(), MAX_ADDRESSES);
    }
}
