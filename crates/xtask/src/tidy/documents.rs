//! The documents that a reader looks for.

use std::fs;
use std::path::Path;

use super::Violation;

const REQUIRED: [&str; 7] = [
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/ARCHITECTURE.md",
    "docs/STYLE.md",
    "docs/protocol.md",
    "docs/storage.md",
];

/// Every document that is missing or empty.
pub(super) fn check(root: &Path) -> Vec<Violation> {
    let has_text = |name: &str| fs::metadata(root.join(name)).is_ok_and(|file| file.len() > 0);
    let missing = REQUIRED.iter().filter(|name| !has_text(name));
    let mut violations: Vec<Violation> =
        missing.map(|name| Violation::new(*name, "this document must exist")).collect();
    if !has_decision(&root.join("docs/adr")) {
        violations.push(Violation::new("docs/adr", "decisions are recorded here, one file each"));
    }
    violations
}

fn has_decision(folder: &Path) -> bool {
    let is_record = |entry: fs::DirEntry| entry.path().extension().is_some_and(|end| end == "md");
    fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_record))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_empty_documents_are_named() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("docs/adr")).unwrap();
        for name in REQUIRED {
            fs::write(root.path().join(name), "text").unwrap();
        }
        fs::write(root.path().join("docs/adr/0001-one.md"), "text").unwrap();
        assert_eq!(check(root.path()), []);

        fs::write(root.path().join("docs/STYLE.md"), "").unwrap();
        fs::remove_file(root.path().join("README.md")).unwrap();
        fs::remove_file(root.path().join("docs/adr/0001-one.md")).unwrap();
        let places: Vec<String> = check(root.path()).into_iter().map(|found| found.place).collect();
        assert_eq!(places, ["README.md", "docs/STYLE.md", "docs/adr"]);
    }
}
