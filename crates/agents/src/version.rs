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

/// The version in what a program printed: the first word that begins with a number and a dot.
pub fn printed(text: &str) -> Option<&str> {
    let is_version = |word: &&str| {
        word.contains('.') && numbers(word).is_some_and(|numbers| !numbers.is_empty())
    };
    text.split(|c: char| c.is_whitespace() || matches!(c, '/' | '@' | '(' | ')' | ','))
        .map(|word| word.trim_end_matches('.'))
        .find(is_version)
}

/// Whether a version is this one or a later one; one that cannot be read is not.
pub fn is_at_least(version: &str, lowest: &str) -> bool {
    numbers(version).is_some_and(|version| Some(version) >= numbers(lowest))
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
    fn a_version_is_found_in_what_a_program_prints() {
        for (text, version) in [
            ("2.1.318 (Claude Code)", "2.1.318"),
            ("codex-cli 0.166.0\n", "0.166.0"),
            ("v22.19.0", "v22.19.0"),
            ("omp/18.2.0", "18.2.0"),
            ("GitHub Copilot CLI 1.0.102.\n", "1.0.102"),
        ] {
            assert_eq!(printed(text), Some(version));
        }
        assert_eq!(printed("hello world. 7"), None);
    }

    #[test]
    fn p_002_a_node_is_old_or_new_enough() {
        assert!(is_at_least("v22.19.0", "22.19") && is_at_least("22.23.3", "22.19"));
        assert!(is_at_least("24", "22.19"));
        assert!(!is_at_least("v20.20.2", "22.19") && !is_at_least("22.9.0", "22.19"));
        assert!(!is_at_least("nonsense", "1"));
    }

    #[test]
    fn what_has_no_numbers_is_no_version() {
        for text in ["", "dev", "v", ".1", "1..2", "99999999999999999999999"] {
            assert_eq!(numbers(text), None, "{text:?}");
        }
    }
}
