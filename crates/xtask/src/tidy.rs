//! `cargo xtask tidy`: the rules of the workspace that no compiler knows.
//!
//! Each rule is a pure function from text to violations; this file reads, prints and counts.

mod dependencies;
mod documents;
mod graph;
mod source;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::workspace::Workspace;

/// Folders of results, not of sources.
const GENERATED: [&str; 5] =
    ["dist", "node_modules", "playwright-report", "target", "test-results"];

/// A broken rule: where, and the rule as a sentence.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    place: String,
    rule: String,
}

impl Violation {
    fn new(place: impl Into<String>, rule: impl Into<String>) -> Self {
        Self { place: place.into(), rule: rule.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)
    }
}

/// Prints every violation and fails if there is one.
pub(crate) fn tidy(workspace: &Workspace) -> Result<()> {
    let members = dependencies::members(&workspace.metadata);
    let mut violations = dependencies::check(&members);
    violations.extend(dependencies::check_default_members(&members));
    violations.extend(graph::check(workspace, &members)?);
    violations.extend(documents::check(&workspace.root));
    for path in sources(&workspace.root)? {
        let content = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let relative = path.strip_prefix(&workspace.root).unwrap_or(&path);
        violations.extend(source::check(relative, &content));
    }
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => Ok(()),
        1 => bail!("one rule is broken"),
        n => bail!("rules are broken in {n} places"),
    }
}

/// Every Rust and TypeScript file of the workspace, in a stable order.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?
        {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if kind.is_dir() && !name.starts_with('.') && !GENERATED.contains(&name.as_str()) {
                folders.push(entry.path());
            } else if kind.is_file() && (name.ends_with(".rs") || name.ends_with(".ts")) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
