//! How a source file must be.

use std::path::Path;

use super::Violation;

/// Lines of a file before its tests.
const MOST_LINES: usize = 500;

/// What no Rust source may hold. Split, so that this file passes its own check.
const FORBIDDEN_IN_RUST: [(&str, &str); 3] = [
    (concat!("#[", "ignore"), "a test runs or does not exist"),
    (concat!("todo", "!("), "nothing is left to be done in code"),
    (concat!("unimplemented", "!("), "nothing is left to be done in code"),
];

/// What no end-to-end test may hold.
const FORBIDDEN_IN_TYPESCRIPT: [(&str, &str); 7] = [
    ("test.skip", "a test runs or does not exist"),
    ("test.only", "all tests run"),
    ("test.fixme", "a test runs or does not exist"),
    ("describe.skip", "a test runs or does not exist"),
    ("describe.only", "all tests run"),
    ("describe.fixme", "a test runs or does not exist"),
    ("waitForTimeout", "wait for what shows, not for time"),
];

/// What reaches outside, in crates that are pure.
const IMPURE: [&str; 9] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "SystemTime::now",
    "Instant::now",
    "now_utc",
    "now_v7",
];
const PURE: [&str; 2] = ["crates/model/src", "crates/shell-output/src"];

/// Every rule that this file breaks. `path` is relative to the root of the workspace.
pub(super) fn check(path: &Path, content: &[u8]) -> Vec<Violation> {
    let place = path.display().to_string();
    let Ok(text) = str::from_utf8(content) else {
        return vec![Violation::new(place, "a source is UTF-8")];
    };
    let broken = match path.extension().is_some_and(|extension| extension == "ts") {
        true => forbidden(text, &FORBIDDEN_IN_TYPESCRIPT),
        false => check_rust(path, text),
    };
    broken.into_iter().map(|rule| Violation::new(&place, rule)).collect()
}

fn check_rust(path: &Path, text: &str) -> Vec<String> {
    let mut broken = forbidden(text, &FORBIDDEN_IN_RUST);
    if path.file_name().is_some_and(|name| name == "mod.rs") {
        broken.push("a module is `name.rs` with `name/`, never `mod.rs`".to_owned());
    }
    if !text.trim_start().starts_with("//!") {
        broken.push("a module starts with `//!`: what it is, and what not".to_owned());
    }
    if let Some(n) = text.lines().position(|line| !line.is_ascii()) {
        broken.push(format!("a source is ASCII; line {} is not", n + 1));
    }
    let lines = without_tests(path, text).lines().count();
    if lines > MOST_LINES {
        broken.push(format!("{lines} lines are too many: split at {MOST_LINES}"));
    }
    if PURE.iter().any(|pure| path.starts_with(pure)) {
        broken.extend(impurities(without_tests(path, text)));
    }
    broken
}

fn forbidden(text: &str, rules: &[(&str, &str)]) -> Vec<String> {
    let found = rules.iter().filter(|(needle, _)| text.contains(needle));
    found.map(|(needle, why)| format!("holds `{needle}`: {why}")).collect()
}

fn impurities(code: &str) -> Vec<String> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let uses = |needle: &&&str| code.lines().filter(is_code).any(|line| line.contains(**needle));
    IMPURE.iter().filter(uses).map(|needle| format!("is pure and may not use `{needle}`")).collect()
}

/// Tests stand last in a file, or in files of their own.
fn without_tests<'text>(path: &Path, text: &'text str) -> &'text str {
    let is_test = path.components().any(|part| part.as_os_str() == "tests")
        || path.file_stem().is_some_and(|stem| stem == "tests");
    match text.find("\n#[cfg(test)]\n") {
        _ if is_test => "",
        Some(end) => &text[..end],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text.as_bytes()).into_iter().map(|found| found.rule).collect()
    }

    #[track_caller]
    fn breaks(path: &str, text: &str, words: &str) {
        let found = rules(path, text);
        assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
    }

    #[test]
    fn plain_module_is_fine() {
        assert_eq!(rules("app/src/page.rs", "//! A page.\n\nfn page() {}\n"), [""; 0]);
    }

    #[test]
    fn module_says_what_it_is() {
        breaks("app/src/page.rs", "fn page() {}\n", "starts with `//!`");
    }

    #[test]
    fn module_has_a_name() {
        breaks("app/src/page/mod.rs", "//! A page.\n", "never `mod.rs`");
    }

    #[test]
    fn line_outside_ascii_is_named() {
        breaks("app/src/page.rs", "//! A page.\n// Gr\u{fc}n\n", "line 2 is not");
        assert_eq!(check(Path::new("app/src/page.rs"), &[0xff])[0].rule, "a source is UTF-8");
    }

    #[test]
    fn long_file_is_split_unless_it_is_tests() {
        let head = "//! A page.\n";
        let long = format!("{head}{}", "fn f() {}\n".repeat(500));
        breaks("app/src/page.rs", &long, "501 lines are too many");
        assert_eq!(rules("app/tests/it/page.rs", &long), [""; 0]);
        assert_eq!(rules("app/src/page/tests.rs", &long), [""; 0]);
        let tested = format!("{head}\n#[cfg(test)]\nmod tests {{\n{}}}\n", "\n".repeat(600));
        assert_eq!(rules("app/src/page.rs", &tested), [""; 0]);
    }

    #[test]
    fn unfinished_code_and_ignored_tests_are_found() {
        for (needle, _) in FORBIDDEN_IN_RUST {
            breaks("app/src/page.rs", &format!("//! A page.\n{needle}"), needle);
        }
        for (needle, _) in FORBIDDEN_IN_TYPESCRIPT {
            breaks("end2end/tests/board.spec.ts", needle, needle);
        }
    }

    #[test]
    fn pure_crate_reaches_nothing_outside() {
        let clock = "//! Ids.\nfn now() { SystemTime::now(); }\n";
        breaks("crates/model/src/id.rs", clock, "`SystemTime::now`");
        assert_eq!(rules("crates/engine/src/id.rs", clock), [""; 0]);
        let comment = "//! Ids.\n// Never std::fs here.\n";
        assert_eq!(rules("crates/model/src/id.rs", comment), [""; 0]);
        let test = "//! Ids.\n\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(rules("crates/model/src/id.rs", test), [""; 0]);
    }
}
