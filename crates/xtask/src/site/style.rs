//! One style sheet out of the files in `style/`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// The layers in the order in which they build on each other; other files follow by name.
const ORDER: [&str; 4] = ["tokens.css", "base.css", "components.css", "pages.css"];

/// Concatenates and shrinks every style sheet of the folder.
pub(super) fn bundle(folder: &Path) -> Result<String> {
    let mut sheet = String::new();
    for name in ordered(sheets(folder)?) {
        let path = folder.join(&name);
        let text =
            fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        sheet.push_str(&shrink(&text));
    }
    ensure!(!sheet.is_empty(), "{} holds no style sheet", folder.display());
    Ok(sheet)
}

fn sheets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".css") {
            names.push(name);
        }
    }
    Ok(names)
}

pub(super) fn ordered(mut names: Vec<String>) -> Vec<String> {
    let place = |name: &String| ORDER.iter().position(|known| known == name);
    names.sort_by_key(|name| (place(name).unwrap_or(ORDER.len()), name.clone()));
    names
}

/// Drops comments, indentation and blank lines. The rest is brotli's work.
pub(super) fn shrink(css: &str) -> String {
    let mut lines = String::new();
    for line in without_comments(css).lines().map(str::trim).filter(|line| !line.is_empty()) {
        lines.push_str(line);
        lines.push('\n');
    }
    lines
}

/// A comment ends nothing but itself: inside a string the same characters are text.
fn without_comments(css: &str) -> String {
    let mut kept = String::with_capacity(css.len());
    let mut quote = None;
    let mut rest = css.chars().peekable();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '/') if rest.peek() == Some(&'*') => {
                rest.next();
                skip_comment(&mut rest);
                kept.push(' ');
                continue;
            }
            (Some(_), '\\') => {
                kept.push(c);
                kept.extend(rest.next());
                continue;
            }
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        kept.push(c);
    }
    kept
}

fn skip_comment(rest: &mut impl Iterator<Item = char>) {
    let mut previous = ' ';
    for c in rest.by_ref() {
        if previous == '*' && c == '/' {
            return;
        }
        previous = c;
    }
}
