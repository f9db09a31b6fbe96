//! A hunk of a diff as it is shown.

use model::{Hunk, LineMark};

/// Lines that follow each other and have the same mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// What became of them.
    pub mark: LineMark,
    /// Their numbers, a line each: those of the old text for lines that went.
    pub numbers: String,
    /// The lines, each with its sign.
    pub text: String,
}

/// The runs of a hunk.
pub fn runs(hunk: &Hunk) -> Vec<Run> {
    let (mut old, mut new) = (hunk.old_start, hunk.new_start);
    let mut runs: Vec<Run> = Vec::new();
    for line in &hunk.lines {
        let (number, sign) = match line.mark {
            LineMark::Context => (new, ' '),
            LineMark::Added => (new, '+'),
            LineMark::Removed => (old, '\u{2212}'),
        };
        old += u32::from(line.mark != LineMark::Added);
        new += u32::from(line.mark != LineMark::Removed);
        let line_text = format!("{sign}{}", line.text);
        match runs.last_mut().filter(|run| run.mark == line.mark) {
            Some(run) => {
                run.numbers.push_str(&format!("\n{number}"));
                run.text.push('\n');
                run.text.push_str(&line_text);
            }
            None => {
                runs.push(Run { mark: line.mark, numbers: number.to_string(), text: line_text });
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::DiffLine;

    #[test]
    fn lines_are_numbered_and_those_of_one_kind_are_one_run() {
        let line = |mark, text: &str| DiffLine { mark, text: text.into() };
        let hunk = Hunk {
            old_start: 9,
            new_start: 11,
            lines: vec![
                line(LineMark::Context, "a"),
                line(LineMark::Removed, "b"),
                line(LineMark::Removed, "c"),
                line(LineMark::Added, "d"),
                line(LineMark::Context, "e"),
            ],
        };
        let run = |mark, numbers: &str, text: &str| Run {
            mark,
            numbers: numbers.into(),
            text: text.into(),
        };
        assert_eq!(
            runs(&hunk),
            [
                run(LineMark::Context, "11", " a"),
                run(LineMark::Removed, "10\n11", "\u{2212}b\n\u{2212}c"),
                run(LineMark::Added, "12", "+d"),
                run(LineMark::Context, "13", " e"),
            ]
        );
    }
}
