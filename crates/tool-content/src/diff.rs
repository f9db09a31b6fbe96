//! Two texts of a file as what became of its lines.

use std::time::Duration;

use model::{DiffLine, FileDiff, Hunk, LineMark};
use similar::{Algorithm, ChangeTag, TextDiff};

use crate::part::Budget;

/// Lines around a change that are shown with it.
const CONTEXT_LINES: usize = 3;
/// After this long a diff is finished by what is left to be gained: longer than needed, never wrong.
const PATIENCE: Duration = Duration::from_millis(100);

/// What became of a file, as far as there is room; the counts are of all of it. `old` is `None` for
/// a file that was not there.
pub(crate) fn file_diff(path: &str, old: Option<&str>, new: &str, budget: &mut Budget) -> FileDiff {
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Myers)
        .timeout(PATIENCE)
        .diff_lines(old.unwrap_or_default(), new);
    let path = budget.take(path).to_owned();
    let (mut added, mut removed, mut hunks) = (0, 0, Vec::new());
    for group in diff.grouped_ops(CONTEXT_LINES) {
        let Some(first) = group.first() else { continue };
        let start = |range: std::ops::Range<usize>, is_empty: bool| {
            if is_empty { 0 } else { u32::try_from(range.start + 1).unwrap_or(u32::MAX) }
        };
        let mut hunk = Hunk {
            old_start: start(first.old_range(), old.is_none_or(str::is_empty)),
            new_start: start(first.new_range(), new.is_empty()),
            lines: Vec::new(),
        };
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let mark = match change.tag() {
                ChangeTag::Equal => LineMark::Context,
                ChangeTag::Insert => LineMark::Added,
                ChangeTag::Delete => LineMark::Removed,
            };
            added += u32::from(mark == LineMark::Added);
            removed += u32::from(mark == LineMark::Removed);
            if budget.is_spent() {
                budget.exceed();
                continue;
            }
            let line = change.value();
            let text = budget.take(line.strip_suffix('\n').unwrap_or(line)).to_owned();
            // An empty line costs something, too.
            let _ = budget.take("\n");
            hunk.lines.push(DiffLine { mark, text });
        }
        if !hunk.lines.is_empty() {
            hunks.push(hunk);
        }
    }
    FileDiff { path, is_new: old.is_none(), added, removed, hunks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: Option<&str>, new: &str) -> FileDiff {
        file_diff("a", old, new, &mut Budget::default())
    }

    fn lines(hunk: &Hunk) -> String {
        let line = |line: &DiffLine| {
            let mark = match line.mark {
                LineMark::Context => ' ',
                LineMark::Added => '+',
                LineMark::Removed => '-',
            };
            format!("{mark}{}\n", line.text)
        };
        hunk.lines.iter().map(line).collect()
    }

    #[test]
    fn changes_stand_with_three_lines_around_them() {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n25\n", "\n25\nmore\n");
        let diff = diff(Some(&old), &new);
        assert_eq!((diff.added, diff.removed, diff.is_new), (2, 1, false));
        let [first, second] = &diff.hunks[..] else { panic!("{diff:?}") };
        assert_eq!((first.old_start, first.new_start), (2, 2));
        assert_eq!(lines(first), " 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
        assert_eq!((second.old_start, second.new_start), (23, 23));
        assert_eq!(lines(second), " 23\n 24\n 25\n+more\n 26\n 27\n 28\n");
    }

    #[test]
    fn a_new_file_has_only_lines_that_came() {
        let diff = diff(None, "a\nb");
        assert_eq!((diff.is_new, diff.added, diff.removed), (true, 2, 0));
        assert_eq!(lines(&diff.hunks[0]), "+a\n+b\n");
        assert_eq!((diff.hunks[0].old_start, diff.hunks[0].new_start), (0, 1));
    }

    #[test]
    fn the_same_text_has_no_hunk() {
        assert!(diff(Some("a\n"), "a\n").hunks.is_empty());
    }

    #[test]
    fn a_text_that_has_nothing_in_common_comes_to_an_end() {
        let old: String = (0..40_000).map(|n| format!("{n}\n")).collect();
        let new: String = (0..40_000).map(|n| format!("{}\n", n * 7 + 100_001)).collect();
        let diff = diff(Some(&old), &new);
        assert!(diff.added > 30_000 && diff.removed > 30_000);
    }
}
