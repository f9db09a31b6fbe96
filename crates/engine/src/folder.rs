//! The folder of a task: absolute, there, and a folder.

use std::path::{Path, PathBuf};

use model::{ApiError, ErrorCode};

/// Checks what a person typed and gives it back without a trailing slash; `~` is their home.
pub(crate) fn check(typed: &str, home: Option<&Path>) -> Result<String, ApiError> {
    let path = expand(typed.trim(), home);
    if path.as_os_str().is_empty() {
        return Err(refusal("Name the folder that the agent works in."));
    }
    if !path.is_absolute() {
        return Err(refusal("Name the folder by its full path, from the root."));
    }
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(refusal("That is a file, not a folder.")),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
            return Err(refusal("There is no such folder on the server's machine."));
        }
        Err(err) => return Err(refusal(&format!("The folder cannot be read: {err}."))),
    }
    let clean: PathBuf = path.components().collect();
    clean.into_os_string().into_string().map_err(|_| refusal("The folder's name is not UTF-8."))
}

fn expand(typed: &str, home: Option<&Path>) -> PathBuf {
    match (typed.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(typed),
    }
}

fn refusal(message: &str) -> ApiError {
    ApiError::new(ErrorCode::ValidationError, message).about("folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_folder_is_refused_with_a_sentence_about_the_field() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "").unwrap();
        let missing = dir.path().join("missing");
        for typed in
            ["", "  ", "relative/path", "~other", file.to_str().unwrap(), missing.to_str().unwrap()]
        {
            let err = check(typed, Some(dir.path())).unwrap_err();
            assert_eq!(
                (err.code, err.field.as_deref()),
                (ErrorCode::ValidationError, Some("folder"))
            );
        }
    }

    #[test]
    fn a_folder_is_kept_without_trailing_slash_and_home_is_expanded() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("code")).unwrap();
        let expected = dir.path().join("code").to_str().unwrap().to_owned();
        assert_eq!(check(&format!("{expected}/"), None).unwrap(), expected);
        assert_eq!(check("~/code", Some(dir.path())).unwrap(), expected);
    }
}
