//! The token that scripts and the command line show: a file of this user, or `KANDEV_TOKEN`.

use std::{
    fmt, fs,
    io::{self, Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::token::random_token;

/// The least that a token of one's own may have, in characters.
const MIN_CHARS: usize = 16;
/// More than any token of ours has; a larger file is not ours.
const MAX_BYTES: u64 = 4096;

/// A token that opens everything. Never printed by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

/// The token is too easy to guess, or cannot stand in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "KANDEV_TOKEN has to be at least {MIN_CHARS} printable ASCII characters without spaces: set it \
     to a longer one, for example from `openssl rand -hex 32`, or unset it to use the secret that \
     Kandev made"
)]
pub struct WeakToken;

impl AccessToken {
    /// A token of at least 16 characters, as a header can carry them.
    ///
    /// # Errors
    ///
    /// It is shorter, or has other characters.
    pub fn new(text: impl Into<String>) -> Result<Self, WeakToken> {
        let text = text.into();
        let fits = text.len() >= MIN_CHARS && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text)) } else { Err(WeakToken) }
    }

    /// The token itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}

/// The secret file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Others may read it.
    #[error(
        "the secret {path} can be read by others (mode {mode:03o}): run `chmod 600 {path}`, or \
         remove it to get a new one"
    )]
    Loose {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It does not hold a token.
    #[error("the secret {path} is damaged: remove it to get a new one")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The system failed.
    #[error("the secret {path} cannot be used ({source}): correct its owner and permissions")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// The secret of a data directory.
///
/// # Errors
///
/// It is there but cannot be used.
pub fn load(dir: &Path) -> Result<Option<AccessToken>, SecretError> {
    let path = dir.join("secret");
    match read(&path) {
        Ok((mode, _)) if mode & 0o077 != 0 => Err(SecretError::Loose { path, mode }),
        Ok((_, text)) => match AccessToken::new(text.trim_end()) {
            Ok(token) => Ok(Some(token)),
            Err(WeakToken) => Err(SecretError::Damaged { path }),
        },
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SecretError::Io { path, source }),
    }
}

/// The secret of a data directory; made if it has none. The caller holds the directory's lock.
///
/// # Errors
///
/// It cannot be read, or cannot be made.
pub(crate) fn load_or_create(dir: &Path) -> Result<AccessToken, SecretError> {
    if let Some(token) = load(dir)? {
        return Ok(token);
    }
    let token = AccessToken(random_token());
    let path = dir.join("secret");
    write(&path, token.expose()).map_err(|source| SecretError::Io { path, source })?;
    Ok(token)
}

/// Permission bits and text.
fn read(path: &Path) -> io::Result<(u32, String)> {
    let file = fs::File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok((mode, text))
}

/// Under another name first, so that a crash leaves no half of a secret.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension("new");
    match fs::remove_file(&draft) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    writeln!(file, "{text}")?;
    file.sync_all()?;
    fs::rename(draft, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_002_the_secret_is_made_once_and_for_this_user_only() {
        let dir = tempfile::tempdir().unwrap();
        assert!(load(dir.path()).unwrap().is_none());
        let made = load_or_create(dir.path()).unwrap();
        assert_eq!(made.expose().len(), 43);
        assert_eq!(load_or_create(dir.path()).unwrap(), made);
        let mode = fs::metadata(dir.path().join("secret")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn q_002_a_secret_that_others_can_read_is_refused_with_the_command_that_helps() {
        let dir = tempfile::tempdir().unwrap();
        load_or_create(dir.path()).unwrap();
        let path = dir.path().join("secret");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let message = load_or_create(dir.path()).unwrap_err().to_string();
        assert!(message.contains("644"), "{message}");
        assert!(message.contains(&format!("chmod 600 {}", path.display())), "{message}");
    }

    #[test]
    fn a_damaged_secret_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("secret"), "").unwrap();
        assert!(matches!(load_or_create(dir.path()), Err(SecretError::Damaged { .. })));
    }

    #[test]
    fn q_002_no_token_is_printed_by_debug() {
        let token = AccessToken::new("0123456789abcdef").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
    }

    #[test]
    fn q_001_a_weak_token_is_refused() {
        for weak in ["", "short", "fifteen-letters", "with a space in it", "line\nbreak-line-break"]
        {
            assert_eq!(AccessToken::new(weak), Err(WeakToken), "{weak:?}");
        }
    }
}
