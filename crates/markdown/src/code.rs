//! Code in colours: spans with a class of one letter.

use std::{
    num::NonZeroUsize,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use lru::LruCache;
use syntect::{
    easy::ScopeRegionIterator,
    parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet},
    util::LinesWithEndings,
};

/// Comment, string, number or constant, keyword, function, type, inserted and deleted line.
pub(crate) const CLASSES: [&str; 8] = ["c", "s", "n", "k", "f", "t", "i", "d"];

/// Scopes by what they begin with; the innermost that is known decides.
const SCOPES: [(&str, &str); 15] = [
    ("comment", "c"),
    ("string", "s"),
    ("constant.character.escape", "n"),
    ("constant", "n"),
    ("keyword.operator", ""),
    ("keyword", "k"),
    ("storage", "k"),
    ("variable.language", "k"),
    ("entity.name.function", "f"),
    ("support.function", "f"),
    ("variable.function", "f"),
    ("entity.name", "t"),
    ("support.type", "t"),
    ("markup.inserted", "i"),
    ("markup.deleted", "d"),
];

/// More code than this stays plain, in bytes: the grammars are slow.
const MOST: usize = 32 * 1024;
/// A longer line is no code that anybody reads, in bytes.
const LONGEST_LINE: usize = 2_000;
/// Blocks whose colours are kept, so that a text that grows colours its earlier code once.
const KEPT: NonZeroUsize = match NonZeroUsize::new(256) {
    Some(kept) => kept,
    None => NonZeroUsize::MIN,
};

struct Grammars {
    set: SyntaxSet,
    scopes: Vec<(Scope, &'static str)>,
}

static GRAMMARS: LazyLock<Grammars> = LazyLock::new(|| Grammars {
    set: two_face::syntax::extra_newlines(),
    scopes: SCOPES
        .iter()
        .filter_map(|(name, class)| Some((Scope::new(name).ok()?, *class)))
        .collect(),
});

/// HTML by code and language.
type Kept = LruCache<(String, String), Arc<str>>;

static KEPT_BLOCKS: LazyLock<Mutex<Kept>> = LazyLock::new(|| Mutex::new(LruCache::new(KEPT)));

/// The code as HTML. A language that is not known, and code that is too long, stay plain.
pub(crate) fn highlighted(code: &str, language: &str) -> Arc<str> {
    if language.is_empty() || code.len() > MOST || code.lines().any(|l| l.len() > LONGEST_LINE) {
        return escaped(code).into();
    }
    let kept = || KEPT_BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (code.to_owned(), language.to_owned());
    if let Some(html) = kept().get(&key) {
        return html.clone();
    }
    let syntax = GRAMMARS.set.find_syntax_by_token(language);
    let html: Arc<str> =
        syntax.and_then(|syntax| coloured(code, syntax)).unwrap_or_else(|| escaped(code)).into();
    kept().put(key, html.clone());
    html
}

/// None where a grammar fails over the code.
fn coloured(code: &str, syntax: &SyntaxReference) -> Option<String> {
    let mut state = ParseState::new(syntax);
    let mut stack = ScopeStack::new();
    let mut html = String::with_capacity(code.len() * 2);
    let mut open = "";
    for line in LinesWithEndings::from(code) {
        let changes = state.parse_line(line, &GRAMMARS.set).ok()?;
        for (text, change) in ScopeRegionIterator::new(&changes, line) {
            stack.apply(change).ok()?;
            if text.is_empty() {
                continue;
            }
            let class = class_of(&stack);
            if class != open && !text.trim().is_empty() {
                close(&mut html, open);
                if !class.is_empty() {
                    html.push_str("<span class=\"");
                    html.push_str(class);
                    html.push_str("\">");
                }
                open = class;
            }
            escape_into(&mut html, text);
        }
    }
    close(&mut html, open);
    Some(html)
}

fn close(html: &mut String, open: &str) {
    if !open.is_empty() {
        html.push_str("</span>");
    }
}

fn class_of(stack: &ScopeStack) -> &'static str {
    let known = |scope: &Scope| {
        let mut scopes = GRAMMARS.scopes.iter();
        scopes.find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, class)| *class)
    };
    stack.as_slice().iter().rev().find_map(known).unwrap_or_default()
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    escape_into(&mut html, text);
    html
}

fn escape_into(html: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_the_names_that_agents_use() {
        for name in [
            "rust",
            "rs",
            "python",
            "py",
            "js",
            "ts",
            "tsx",
            "typescript",
            "bash",
            "sh",
            "json",
            "toml",
            "yaml",
            "go",
            "diff",
            "html",
            "css",
            "sql",
            "dockerfile",
            "kotlin",
            "swift",
        ] {
            assert!(GRAMMARS.set.find_syntax_by_token(name).is_some(), "{name}");
        }
    }

    #[test]
    fn code_that_is_too_long_stays_plain() {
        let long = "let x = 1;\n".repeat(4_000);
        assert!(!highlighted(&long, "rust").contains("<span"));
        let line = format!("let x = \"{}\";", "y".repeat(3_000));
        assert!(!highlighted(&line, "rust").contains("<span"));
    }

    #[test]
    fn a_diff_has_lines_that_came_and_went() {
        let html = highlighted("-a\n+b\n", "diff");
        assert!(
            html.contains("<span class=\"d\">") && html.contains("<span class=\"i\">"),
            "{html}"
        );
    }
}
