//! Random tokens and their digests.

use std::fmt::Write as _;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::RngCore as _;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// 32 random bytes in base64url: 43 characters.
pub(crate) fn random_token() -> String {
    URL_SAFE_NO_PAD.encode(random_bytes::<32>())
}

/// 8 random bytes in hex: names a thing, guards nothing.
pub(crate) fn random_id() -> String {
    hex(&random_bytes::<8>())
}

fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// The SHA-256 of a token. Tokens are compared by it, in constant time and whatever their length.
#[derive(Clone, Copy)]
pub(crate) struct TokenHash([u8; 32]);

impl TokenHash {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }

    pub(crate) fn matches(&self, token: &str) -> bool {
        self.0.ct_eq(&Self::of(token).0).into()
    }

    pub(crate) fn to_hex(self) -> String {
        hex(&self.0)
    }

    /// Whether `digest` is the hex form of this, in constant time.
    pub(crate) fn is_hex(self, digest: &str) -> bool {
        self.to_hex().as_bytes().ct_eq(digest.as_bytes()).into()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ok = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, two) = (random_token(), random_token());
        assert_eq!(one.len(), 43);
        assert_ne!(one, two);
    }

    #[test]
    fn a_digest_matches_its_token_only() {
        let hash = TokenHash::of("abc");
        assert!(hash.matches("abc"));
        assert!(!hash.matches("abd"));
        assert!(hash.is_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        assert!(!hash.is_hex("ba7816bf"));
    }
}
