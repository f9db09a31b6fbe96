//! Dotted numeric versions.

/// The numbers that a version begins with: `0.36.0 (commit 7c61e5bb)` is `[0, 36, 0]`.
///
/// `None` when it begins with none. Trailing zeros do not count, so that `1.2` is `1.2.0`.
pub(crate) fn numbers(version: &str) -> Option<Vec<u64>> {
    let version = version.trim();
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    let dotted = version[..end].trim_end_matches('.');
    let mut numbers: Vec<u64> = dotted.split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    while numbers.last() == Some(&0) {
        numbers.pop();
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let order = ["0.16.2", "0.49.0", "0.101.0", "1.18.33", "1.19", "10.0.1"];
        for pair in order.windows(2) {
            assert!(numbers(pair[0]) < numbers(pair[1]), "{pair:?}");
        }
        assert_eq!(numbers("1.2"), numbers("v1.2.0"));
    }

    #[test]
    fn what_follows_the_numbers_does_not_count() {
        assert_eq!(numbers("0.36.0 (commit 7c61e5bb)"), Some(vec![0, 36]));
        assert_eq!(numbers("2.6.0-beta.1"), Some(vec![2, 6]));
    }

    #[test]
    fn what_has_no_numbers_is_no_version() {
        for text in ["", "dev", "v", ".1", "1..2", "99999999999999999999999"] {
            assert_eq!(numbers(text), None, "{text:?}");
        }
    }
}
