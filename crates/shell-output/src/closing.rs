//! The lines with which some agents close a command's output, each behind an empty line.

use std::ops::Range;

/// What such a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// `Command exited with code 4`
    Exited(i64),
    /// `Command timed out after 2 seconds`
    TimedOut,
    /// `Command aborted`
    Aborted,
    /// `Wall time: 1.09 seconds`
    WallTime,
    /// `[Showing lines 18032-20000 of 20000 ...]`
    Showing,
    /// `Backgrounded as job bg_1; ...`
    Backgrounded,
    /// `<shellId: 0 completed with exit code 4>`
    Shell(i64),
}

/// The output in front of the closing lines, and the lines, the last one first; each kind once.
///
/// `is_whole`: the text begins where the output began, so that it may be a closing line alone.
pub(crate) fn split(
    text: &str,
    is_whole: bool,
    is_known: impl Fn(Line) -> bool,
) -> (Range<usize>, Vec<Line>) {
    let mut output = text;
    let mut lines = Vec::new();
    while let Some((rest, line)) = last(output, is_whole).filter(|(_, line)| is_known(*line)) {
        let is_new =
            !lines.iter().any(|l| std::mem::discriminant(l) == std::mem::discriminant(&line));
        if !is_new {
            break;
        }
        lines.push(line);
        output = rest;
    }
    (0..output.len(), lines)
}

/// The output in front of one closing line, and the line.
pub(crate) fn last(text: &str, is_whole: bool) -> Option<(&str, Line)> {
    let (output, line) = match text.rsplit_once('\n') {
        Some((output, line)) => (output.strip_suffix('\n')?, line),
        None if is_whole => ("", text),
        None => return None,
    };
    Some((output, read(line)?))
}

/// What a line says.
pub(crate) fn read(line: &str) -> Option<Line> {
    let between = |begin: &str, end: &str| line.strip_prefix(begin)?.strip_suffix(end);
    if let Some(code) = line.strip_prefix("Command exited with code ") {
        code.parse().ok().map(Line::Exited)
    } else if between("Command timed out after ", " seconds").is_some_and(is_number) {
        Some(Line::TimedOut)
    } else if line == "Command aborted" {
        Some(Line::Aborted)
    } else if between("Wall time: ", " seconds").is_some_and(is_number) {
        Some(Line::WallTime)
    } else if between("[Showing lines ", "]").is_some() {
        Some(Line::Showing)
    } else if between("Backgrounded as job ", "; result will be delivered automatically.").is_some()
    {
        Some(Line::Backgrounded)
    } else if let Some(words) = between("<shellId: ", ">") {
        let (id, code) = words.split_once(" completed with exit code ")?;
        code.parse().ok().filter(|_| !id.contains(' ')).map(Line::Shell)
    } else {
        None
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> (&str, Vec<Line>) {
        let (range, lines) = split(text, true, |_| true);
        (&text[range], lines)
    }

    #[test]
    fn s_018_closing_lines_are_told_from_output() {
        let text = "a\n\n\nWall time: 1.09 seconds\n\nCommand exited with code 4";
        assert_eq!(output(text), ("a\n", vec![Line::Exited(4), Line::WallTime]));
        assert_eq!(output("Command timed out after 2 seconds"), ("", vec![Line::TimedOut]));
        assert_eq!(output("a\n\nCommand aborted"), ("a", vec![Line::Aborted]));
        let shown = "a\n\n[Showing lines 2-9 of 9 (50.0KB limit). Full output: /tmp/x.log]";
        assert_eq!(output(shown), ("a", vec![Line::Showing]));
        let job = "a\n\nBackgrounded as job bg_1; result will be delivered automatically.";
        assert_eq!(output(job), ("a", vec![Line::Backgrounded]));
    }

    #[test]
    fn s_018_each_kind_is_taken_once_and_a_near_miss_stays() {
        let twice = "a\n\nCommand exited with code 1\n\nCommand exited with code 4";
        assert_eq!(output(twice).0, "a\n\nCommand exited with code 1");
        for text in [
            "a\nCommand exited with code 4",
            "a\n\nCommand exited with code 4\n",
            "a\n\nCommand exited with code four",
            "a\n\n Command aborted",
            "a\n\nWall time: soon seconds",
            "Command aborted\n\na",
        ] {
            assert_eq!(output(text), (text, vec![]), "{text:?}");
        }
        assert_eq!(split("Command aborted", false, |_| true).1, []);
        assert_eq!(split("a\n\nCommand aborted", true, |line| line != Line::Aborted).1, []);
    }
}
