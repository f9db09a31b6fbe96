//! The wall clock.

use std::time::{SystemTime, UNIX_EPOCH};

use model::Timestamp;

pub(crate) fn now() -> Timestamp {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
