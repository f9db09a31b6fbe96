//! An agent's error text, made safe to show: no addresses, no paths, nothing that looks like a key.

/// The longest text that is shown, in bytes.
const LIMIT_BYTES: usize = 2048;

/// Folds white space, drops what may be secret, and cuts on a character boundary.
///
/// Empty when nothing is left.
pub(crate) fn safe_text(text: &str) -> String {
    let mut safe = String::new();
    for word in text.split_whitespace() {
        let word = if is_private(word) { "[removed]" } else { word };
        if !safe.is_empty() {
            safe.push(' ');
        }
        safe.push_str(word);
        if safe.len() > LIMIT_BYTES {
            break;
        }
    }
    safe.truncate(safe.floor_char_boundary(LIMIT_BYTES));
    safe
}

fn is_private(word: &str) -> bool {
    word.contains("://")
        || word.contains('@')
        || is_path(word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '~'))
        || word.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').any(is_key)
}

fn is_path(word: &str) -> bool {
    word.starts_with("~/") || word.matches('/').count() > 1
}

/// Long and mixed, or with a well-known prefix: a key, a token, an id.
fn is_key(part: &str) -> bool {
    let known = ["sk-", "key-", "ghp_", "gho_", "ses_", "run_", "wrk_", "msg_", "xox"];
    let mixed =
        part.bytes().any(|b| b.is_ascii_digit()) && part.bytes().any(|b| b.is_ascii_alphabetic());
    known.iter().any(|prefix| part.starts_with(prefix) && part.len() > prefix.len() + 3)
        || (part.len() >= 24 && mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_addresses_and_paths_are_removed() {
        let text = "Invalid key sk-abc123def\nfor joe@example.com, see https://x.test/a?k=1 and /home/joe/.config/x (ses_0123456)";
        assert_eq!(
            safe_text(text),
            "Invalid key [removed] for [removed] see [removed] and [removed] [removed]"
        );
    }

    #[test]
    fn plain_words_stay() {
        let text = "429 Too Many Requests: rate limit reached, input/output tokens";
        assert_eq!(safe_text(text), text);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let safe = safe_text(&"\u{e9}".repeat(3000));
        assert!(safe.len() <= LIMIT_BYTES && safe.chars().all(|c| c == '\u{e9}'));
    }
}
