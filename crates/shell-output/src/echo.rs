//! The `$ command` line that some agents put before a command's output.

use std::borrow::Cow;

/// What stands at the begin of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// No echo.
    None,
    /// What may still become one.
    Begun,
    /// An echo of so many bytes, its line end included.
    Whole(usize),
}

/// Looks for the echo of `command` at the begin of `text`.
///
/// Line ends may differ. With a `work_dir`, paths in the echo may be resolved against it.
pub(crate) fn leading(text: &str, command: &str, work_dir: Option<&str>) -> Echo {
    if command.is_empty() {
        return Echo::None;
    }
    let Some(body) = text.strip_prefix("$ ") else {
        return if "$ ".starts_with(text) { Echo::Begun } else { Echo::None };
    };
    if let Some(rest) = body.strip_prefix(command) {
        return Echo::Whole(text.len() - rest.len() + line_end(rest));
    }
    if unix_lines(command).starts_with(&*unix_lines(body)) {
        return Echo::Begun;
    }
    let lines = leading_lines(body, command.lines().count());
    let plain = unix_lines(lines);
    let plain = match work_dir.map(|dir| dir.trim_end_matches('/')) {
        Some(dir) => Cow::Owned(plain.replace(&format!("{dir}/"), "")),
        None => plain,
    };
    if plain == unix_lines(command).trim_end_matches('\n') {
        let rest = &body[lines.len()..];
        return Echo::Whole(text.len() - rest.len() + line_end(rest));
    }
    Echo::None
}

fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// The first `count` lines, without the last one's line end.
fn leading_lines(text: &str, count: usize) -> &str {
    let end =
        text.match_indices('\n').nth(count.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let lines = &text[..end];
    lines.strip_suffix('\r').unwrap_or(lines)
}

fn line_end(text: &str) -> usize {
    ["\r\n", "\n"].into_iter().find(|end| text.starts_with(end)).map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text behind the echo, or the text.
    fn rest<'a>(text: &'a str, command: &str, work_dir: Option<&str>) -> &'a str {
        match leading(text, command, work_dir) {
            Echo::Whole(len) => &text[len..],
            Echo::None | Echo::Begun => text,
        }
    }

    #[test]
    fn s_009_an_echo_is_removed_once_glued_or_not() {
        assert_eq!(rest("$ cat a.txt=== x ===\n", "cat a.txt", None), "=== x ===\n");
        assert_eq!(rest("$ ls -la\ntotal 0\n", "ls -la", None), "total 0\n");
        assert_eq!(rest("$ ls\r\ntotal 0\r\n", "ls", None), "total 0\r\n");
        assert_eq!(rest("$ ls\n$ ls\n", "ls", None), "$ ls\n");
        assert_eq!(rest("$ ls", "ls", None), "");
    }

    #[test]
    fn s_009_an_echo_of_several_lines_is_removed_whatever_its_line_ends() {
        let command = "for i in 1 2; do\n  echo $i\ndone";
        assert_eq!(rest("$ for i in 1 2; do\n  echo $i\ndone\n1\n2\n", command, None), "1\n2\n");
        let crlf = "$ for i in 1 2; do\r\n  echo $i\r\ndone\r\n1\r\n";
        assert_eq!(rest(crlf, command, None), "1\r\n");
        assert_eq!(rest("$ a\nb\n1\n", "a\r\nb", None), "1\n");
    }

    #[test]
    fn s_009_paths_may_be_resolved_against_the_working_directory() {
        for dir in ["/home/dev/demo", "/home/dev/demo/"] {
            let text = "$ cat /home/dev/demo/a.txt\nhello\n";
            assert_eq!(rest(text, "cat a.txt", Some(dir)), "hello\n");
        }
        assert_eq!(rest("$ cat /a.txt\nhello\n", "cat a.txt", Some("/")), "hello\n");
    }

    #[test]
    fn s_009_a_near_miss_is_left_alone() {
        for (text, command) in [
            ("cat a.txt\nhello\n", "cat a.txt"),
            ("$ cat b.txt\nhello\n", "cat a.txt"),
            ("$ a\r\nb; echo x\r\n1\n", "a\nb"),
            ("$  ls\n", "ls"),
            ("hello\n$ ls\n", "ls"),
            ("$ ls\n", ""),
        ] {
            assert_eq!(leading(text, command, None), Echo::None, "{text:?}");
        }
        assert_eq!(leading("$ cat /d/a.txt\n", "cat a.txt", None), Echo::None);
        let quoted = "$ grep '/d/x' /d/x\n";
        assert_eq!(leading(quoted, "grep '/d/x' x", Some("/d")), Echo::None);
    }

    #[test]
    fn s_009_what_may_become_an_echo_is_told_apart() {
        for text in ["", "$", "$ ", "$ l", "$ ls -", "$ a"] {
            let command = if text == "$ a" { "a\nb" } else { "ls -la" };
            assert_eq!(leading(text, command, None), Echo::Begun, "{text:?}");
        }
        assert_eq!(leading("$ a\r\n", "a\nb", None), Echo::Begun);
        assert_eq!(leading("$ lx", "ls", None), Echo::None);
    }
}
