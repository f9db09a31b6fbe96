//! The time that ages are measured from: the server's at the first render, then a ticking one.

use std::time::Duration;

use leptos::prelude::*;
use model::Timestamp;

use crate::{browser, state::format};

/// The page's clock.
#[derive(Clone, Copy)]
pub struct Clock {
    second: RwSignal<Timestamp>,
    coarse: Memo<Timestamp>,
}

const COARSE_MILLIS: i64 = 15_000;

impl Clock {
    /// A clock that stands at the server's time until the page is alive.
    pub fn new(now: Timestamp) -> Self {
        let second = RwSignal::new(now);
        let coarse = Memo::new(move |_| {
            let millis = second.get().as_millis();
            Timestamp::from_millis(millis - millis.rem_euclid(COARSE_MILLIS))
        });
        Effect::new(move |_| tick(second, now));
        Self { second, coarse }
    }

    /// How long ago, coarsely. Tracked, and told only when a minute may have passed.
    pub fn age(self, at: Timestamp) -> String {
        format::age(self.coarse.get().seconds_since(at))
    }

    /// How long since, to the second. Tracked.
    pub fn elapsed(self, since: Timestamp) -> String {
        format::duration(self.second.get().seconds_since(since))
    }
}

/// Counts on from the server's time by the browser's clock, which may be wrong but runs evenly.
fn tick(second: RwSignal<Timestamp>, server: Timestamp) {
    let began = browser::now().as_millis();
    let count = move || {
        let passed = browser::now().as_millis() - began;
        second.set(Timestamp::from_millis(server.as_millis() + passed));
    };
    if let Ok(handle) = set_interval_with_handle(count, Duration::from_secs(1)) {
        on_cleanup(move || handle.clear());
    }
}
