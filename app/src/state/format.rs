//! Numbers as people read them.

/// How long ago, coarsely: `now`, `4 min`, `2 h`, `3 d`, `5 w`.
pub fn age(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const WEEK: u64 = 7 * DAY;
    match seconds {
        0..MINUTE => "now".to_owned(),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..DAY => format!("{} h", seconds / HOUR),
        DAY..WEEK => format!("{} d", seconds / DAY),
        WEEK.. => format!("{} w", seconds / WEEK),
    }
}

/// How long something takes: `38 s`, `1 min 12 s`, `2 h 5 min`.
pub fn duration(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest} s"),
        (0, _) => format!("{minutes} min {rest} s"),
        (_, _) => format!("{hours} h {minutes} min"),
    }
}

/// A size: `412 B`, `1.4 KiB`, `256 KiB`, `2.0 MiB`.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        0..KIB => format!("{bytes} B"),
        KIB..MIB => scaled(bytes, KIB, "KiB"),
        MIB.. => scaled(bytes, MIB, "MiB"),
    }
}

/// One decimal below ten, none above.
fn scaled(bytes: u64, unit: u64, name: &str) -> String {
    let tenths = (bytes.saturating_mul(10) + unit / 2) / unit;
    if tenths < 100 {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    } else {
        format!("{} {name}", (tenths + 5) / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_coarse() {
        let texts = [0, 59, 60, 3599, 3600, 86_399, 86_400, 604_800, 6_048_000].map(age);
        assert_eq!(texts, ["now", "now", "1 min", "59 min", "1 h", "23 h", "1 d", "1 w", "10 w"]);
    }

    #[test]
    fn durations_have_two_units() {
        let texts = [0, 38, 72, 3600, 7512].map(duration);
        assert_eq!(texts, ["0 s", "38 s", "1 min 12 s", "1 h 0 min", "2 h 5 min"]);
    }

    #[test]
    fn s_049_sizes_are_those_of_the_look() {
        let texts = [0, 412, 1023, 1434, 9830, 18_432, 262_144, 2_097_152].map(size);
        assert_eq!(
            texts,
            ["0 B", "412 B", "1023 B", "1.4 KiB", "9.6 KiB", "18 KiB", "256 KiB", "2.0 MiB"]
        );
    }
}
