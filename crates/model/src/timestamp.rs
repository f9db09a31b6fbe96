//! A point in time: milliseconds since the Unix epoch, written as RFC 3339 in UTC.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

/// Milliseconds since the Unix epoch. JSON: an RFC 3339 string in UTC.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time this many milliseconds after the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds from `earlier` to this, 0 if `earlier` is later.
    pub const fn seconds_since(self, earlier: Self) -> u64 {
        let millis = self.0.saturating_sub(earlier.0);
        if millis < 0 { 0 } else { millis.unsigned_abs() / 1000 }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = i128::from(self.0) * 1_000_000;
        let text = OffsetDateTime::from_unix_timestamp_nanos(nanos)
            .ok()
            .and_then(|at| at.format(&Rfc3339).ok())
            .ok_or(fmt::Error)?;
        f.write_str(&text)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

impl FromStr for Timestamp {
    type Err = time::error::Parse;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at = OffsetDateTime::parse(text, &Rfc3339)?.to_offset(UtcOffset::UTC);
        let millis = at.unix_timestamp() * 1000 + i64::from(at.millisecond());
        Ok(Self(millis))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_rfc_3339_in_utc() {
        let at = Timestamp::from_millis(1_784_203_200_120);
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(json, "\"2026-07-16T12:00:00.12Z\"");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
    }

    #[test]
    fn offsets_are_folded_into_utc() {
        let at: Timestamp = "2026-07-16T14:00:00+02:00".parse().unwrap();
        assert_eq!(at.to_string(), "2026-07-16T12:00:00Z");
    }

    #[test]
    fn a_clock_that_ran_backwards_counts_as_no_time() {
        assert_eq!(Timestamp::from_millis(0).seconds_since(Timestamp::from_millis(5)), 0);
    }
}
