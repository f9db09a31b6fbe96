//! Letting a browser in: the token of a link, and what became of it.

/// Where letting in stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// The page was opened without a token.
    NoToken,
    /// The server is asked.
    Checking,
    /// The link was used already, or is too old.
    Spent,
    /// Too many attempts.
    RateLimited,
    /// The server did not answer.
    Unreachable,
}

impl LoginState {
    /// What an answer with this status means; none: the browser is in.
    pub const fn after(status: Option<u16>) -> Option<Self> {
        match status {
            Some(200..=299) => None,
            Some(429) => Some(Self::RateLimited),
            Some(400..=499) => Some(Self::Spent),
            _ => Some(Self::Unreachable),
        }
    }
}

/// The token in a link, in its fragment, or alone.
pub fn token(text: &str) -> Option<&str> {
    let token = text.trim().rsplit('#').next().unwrap_or_default();
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '=');
    (!token.is_empty() && token.chars().all(fits)).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_002_a_token_is_found_in_a_link_its_fragment_or_alone() {
        for text in ["http://127.0.0.1:38429/login#aB-_9", "#aB-_9", " aB-_9\n"] {
            assert_eq!(token(text), Some("aB-_9"), "{text:?}");
        }
    }

    #[test]
    fn q_002_what_has_no_token_gives_none() {
        for text in
            ["", "#", "http://127.0.0.1:38429/login", "http://127.0.0.1:38429/login#", "a b"]
        {
            assert_eq!(token(text), None, "{text:?}");
        }
    }

    #[test]
    fn q_002_each_refusal_has_its_own_words() {
        assert_eq!(LoginState::after(Some(204)), None);
        assert_eq!(LoginState::after(Some(401)), Some(LoginState::Spent));
        assert_eq!(LoginState::after(Some(429)), Some(LoginState::RateLimited));
        assert_eq!(LoginState::after(Some(503)), Some(LoginState::Unreachable));
        assert_eq!(LoginState::after(None), Some(LoginState::Unreachable));
    }
}
