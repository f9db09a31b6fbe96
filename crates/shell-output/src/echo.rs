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
/// Line ends may differ. With a `work_dir`, paths in the echo may be resolved against it. With
/// `cut_chars`, an echo that would be longer has so many characters, the last an ellipsis.
pub(crate) fn leading(
    text: &str,
    command: &str,
    work_dir: Option<&str>,
    cut_chars: Option<usize>,
) -> Echo {
    if command.is_empty() {
        return Echo::None;
    }
    let Some(body) = text.strip_prefix("$ ") else {
        return if "$ ".starts_with(text) { Echo::Begun } else { Echo::None };
    };
    if let Some(rest) = body.strip_prefix(command) {
        return whole(text, rest);
    }
    if let Some(cut) = cut_chars.and_then(|chars| cut(command, chars)) {
        return match body.strip_prefix(&*cut) {
            Some(rest) => whole(text, rest),
            None if cut.starts_with(body) => Echo::Begun,
            None => Echo::None,
        };
    }
    let dir = work_dir.map(|dir| format!("{}/", dir.trim_end_matches('/')));
    let lines = leading_lines(body, command.lines().count());
    let command = unix_lines(command);
    if unresolved(&unix_lines(lines), dir.as_deref()) == command.trim_end_matches('\n') {
        return whole(text, &body[lines.len()..]);
    }
    if is_begun(body, &command, dir.as_deref()) { Echo::Begun } else { Echo::None }
}

/// The echo is all before `rest`, and its line end.
fn whole(text: &str, rest: &str) -> Echo {
    Echo::Whole(text.len() - rest.len() + line_end(rest))
}

/// What of a long command is left once `$ ` and an ellipsis have their place among `chars`.
fn cut(command: &str, chars: usize) -> Option<String> {
    let (last, _) = command.char_indices().nth(chars.checked_sub(3)?)?;
    let is_longer = command[last..].chars().nth(1).is_some();
    is_longer.then(|| format!("{}\u{2026}", &command[..last]))
}

/// Whether more text may make `body` the command.
fn is_begun(body: &str, command: &str, dir: Option<&str>) -> bool {
    let body = unix_lines(body.strip_suffix('\r').unwrap_or(body));
    if command.starts_with(&*unresolved(&body, dir)) {
        return true;
    }
    // The directory itself may have begun.
    dir.is_some_and(|dir| {
        let begins = (1..dir.len()).rev().filter(|end| dir.is_char_boundary(*end));
        begins
            .filter_map(|end| body.strip_suffix(&dir[..end]))
            .any(|front| command.starts_with(&*unresolved(front, Some(dir))))
    })
}

/// Paths below `dir` as a command names them.
fn unresolved<'a>(text: &'a str, dir: Option<&str>) -> Cow<'a, str> {
    match dir {
        Some(dir) => Cow::Owned(text.replace(dir, "")),
        None => Cow::Borrowed(text),
    }
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
        match leading(text, command, work_dir, None) {
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
            assert_eq!(leading(text, command, None, None), Echo::None, "{text:?}");
        }
        assert_eq!(leading("$ cat /d/a.txt\n", "cat a.txt", None, None), Echo::None);
        let quoted = "$ grep '/d/x' /d/x\n";
        assert_eq!(leading(quoted, "grep '/d/x' x", Some("/d"), None), Echo::None);
    }

    #[test]
    fn s_009_what_may_become_an_echo_is_told_apart() {
        for text in ["", "$", "$ ", "$ l", "$ ls -", "$ a"] {
            let command = if text == "$ a" { "a\nb" } else { "ls -la" };
            assert_eq!(leading(text, command, None, None), Echo::Begun, "{text:?}");
        }
        assert_eq!(leading("$ a\r\n", "a\nb", None, None), Echo::Begun);
        assert_eq!(leading("$ lx", "ls", None, None), Echo::None);
    }

    #[test]
    fn s_009_an_echo_of_a_resolved_path_may_still_become_whole() {
        for end in 3.."$ cat /home/dev/demo/a.txt".len() {
            let begun = &"$ cat /home/dev/demo/a.txt"[..end];
            let echo = leading(begun, "cat a.txt", Some("/home/dev/demo"), None);
            assert_eq!(echo, Echo::Begun, "{begun:?}");
        }
        let other = leading("$ cat /home/other", "cat a.txt", Some("/home/dev/demo"), None);
        assert_eq!(other, Echo::None);
    }

    #[test]
    fn s_009_a_cut_echo_is_known_by_its_length() {
        let command = format!("echo {}", "x".repeat(5000));
        let cut = format!("$ {}\u{2026}", &command[..3997]);
        assert_eq!(cut.chars().count(), 4000);
        let text = format!("{cut}\nout\n");
        let find = |text: &str, cut| leading(text, &command, None, cut);
        assert_eq!(find(&text, Some(4000)), Echo::Whole(cut.len() + 1));
        assert_eq!(find(&text[..100], Some(4000)), Echo::Begun);
        assert_eq!(find(&text, None), Echo::None);
        assert_eq!(find(&text, Some(3999)), Echo::None);
        assert_eq!(find(&format!("$ {command}\nout"), Some(4000)), Echo::Whole(command.len() + 3));
        let fits = "y".repeat(3998);
        assert_eq!(leading(&format!("$ {fits}\nz"), &fits, None, Some(4000)), Echo::Whole(4001));
    }
}
