//! Values that are kept sealed: the variables of profiles (K-003). Their key lies in a file of its
//! own, beside the store and in no backup of it.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use chacha20poly1305::{
    Key, KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, AeadCore as _, OsRng},
};

/// Bytes of a nonce, which stands before what it sealed.
const NONCE_BYTES: usize = 24;

/// Seals and opens, with one key.
#[derive(Clone)]
pub struct Secrets(XChaCha20Poly1305);

/// The key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// Its file cannot be read or made.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Its file is not a key.
    #[error("it does not hold a key of 32 bytes in base64")]
    Malformed,
}

/// What was sealed cannot be opened: another key, or it was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("what was sealed cannot be opened")]
pub struct Unopened;

impl Secrets {
    /// A key that is kept nowhere: what it seals can be opened only in this process.
    pub fn ephemeral() -> Self {
        Self(XChaCha20Poly1305::new(&XChaCha20Poly1305::generate_key(&mut OsRng)))
    }

    /// The key in this file; a new one is made where there is none, for this user only.
    ///
    /// # Errors
    ///
    /// The file cannot be used.
    pub fn open(path: &Path) -> Result<Self, SecretsError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(err) if err.kind() == io::ErrorKind::NotFound => create(path)?,
            Err(err) => return Err(err.into()),
        };
        let key = BASE64_STANDARD.decode(text.trim()).map_err(|_| SecretsError::Malformed)?;
        let key: [u8; 32] = key.try_into().map_err(|_| SecretsError::Malformed)?;
        Ok(Self(XChaCha20Poly1305::new(Key::from_slice(&key))))
    }

    /// Seals a text.
    pub fn seal(&self, text: &str) -> String {
        let nonce = XChaCha20Poly1305::generate_nonce(&mut OsRng);
        let mut sealed = nonce.to_vec();
        // It fails only for more than 256 GiB.
        sealed.extend(self.0.encrypt(&nonce, text.as_bytes()).unwrap_or_default());
        BASE64_STANDARD.encode(sealed)
    }

    /// Opens what was sealed.
    ///
    /// # Errors
    ///
    /// Another key sealed it, or it was changed.
    pub fn unseal(&self, sealed: &str) -> Result<String, Unopened> {
        let bytes = BASE64_STANDARD.decode(sealed).map_err(|_| Unopened)?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_BYTES).ok_or(Unopened)?;
        let text = self.0.decrypt(XNonce::from_slice(nonce), sealed).map_err(|_| Unopened)?;
        String::from_utf8(text).map_err(|_| Unopened)
    }
}

fn create(path: &Path) -> io::Result<String> {
    let text = BASE64_STANDARD.encode(XChaCha20Poly1305::generate_key(&mut OsRng));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn k_003_what_is_sealed_is_opened_by_its_own_key_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let sealed = Secrets::open(&path).unwrap().seal("hunter2");
        assert!(!sealed.contains("hunter2"));
        assert_eq!(Secrets::open(&path).unwrap().unseal(&sealed).as_deref(), Ok("hunter2"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        for other in ["", "AAAA", "no base64!", &format!("{sealed}AA")] {
            assert_eq!(Secrets::open(&path).unwrap().unseal(other), Err(Unopened), "{other}");
        }
        assert_eq!(Secrets::ephemeral().unseal(&sealed), Err(Unopened));
        assert_ne!(
            Secrets::open(&path).unwrap().seal("x"),
            Secrets::open(&path).unwrap().seal("x")
        );
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        fs::write(&path, "short").unwrap();
        assert!(matches!(Secrets::open(&path), Err(SecretsError::Malformed)));
    }
}
