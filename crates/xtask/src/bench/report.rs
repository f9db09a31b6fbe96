//! `docs/benchmarks.md`: a section for each measurement, which writes it and leaves the others alone.

use std::fs;
use std::io::ErrorKind;

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;

const PATH: &str = "docs/benchmarks.md";
const HEAD: &str = "# Benchmarks\n";

/// The part of the document that belongs to one measurement.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// What was measured, and how; ends with a line break.
    pub(super) about: &'static str,
}

impl Section {
    /// Puts a table under the section's title, in place of the one that was there.
    pub(super) fn write(&self, workspace: &Workspace, table: &str) -> Result<()> {
        let path = workspace.root.join(PATH);
        let document = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => HEAD.to_owned(),
            document => document.with_context(|| format!("reading {}", path.display()))?,
        };
        fs::write(&path, self.put_into(&document, table))
            .with_context(|| format!("writing {}", path.display()))
    }

    fn put_into(&self, document: &str, table: &str) -> String {
        let heading = format!("\n## {}\n", self.title);
        let section = format!("{heading}\n{}\n{}\n", self.about, table.trim_end());
        let Some(begin) = document.find(&heading) else {
            return format!("{}\n{section}", document.trim_end());
        };
        let after = begin + heading.len();
        let end = document[after..].find("\n## ").map_or(document.len(), |at| after + at);
        format!("{}{section}{}", &document[..begin], &document[end..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Section = Section { title: "First", about: "Of one.\n" };
    const SECOND: Section = Section { title: "Second", about: "Of two.\n" };

    #[test]
    fn a_section_is_added_at_the_end() {
        let document = FIRST.put_into(HEAD, "| 1 |\n");
        assert_eq!(document, "# Benchmarks\n\n## First\n\nOf one.\n\n| 1 |\n");
        let document = SECOND.put_into(&document, "| 2 |\n");
        assert!(document.ends_with("| 1 |\n\n## Second\n\nOf two.\n\n| 2 |\n"), "{document}");
    }

    #[test]
    fn a_section_takes_the_place_of_its_own_and_leaves_the_others() {
        let both = SECOND.put_into(&FIRST.put_into(HEAD, "| 1 |"), "| 2 |");
        let again = FIRST.put_into(&both, "| 3 |");
        assert_eq!(again, both.replace("| 1 |", "| 3 |"));
        assert_eq!(SECOND.put_into(&both, "| 2 |"), both);
    }
}
