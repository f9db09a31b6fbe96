//! Text that comes as a window on the newest end of an output, whole again when it has moved.

/// What a window holds at most, in whole lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    lines: usize,
    bytes: usize,
    /// A line longer than this is not expected where it was not sent.
    longest_line: usize,
}

/// Pi's: the last 2000 lines of an output, and no more than 50 KiB of them.
pub(crate) const PI: Window = Window { lines: 2_000, bytes: 50 * 1024, longest_line: 4 * 1024 };

/// How a chunk joins the text before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joint {
    /// It follows.
    Follows,
    /// It is the window again, and begins with so many bytes that the text ends with.
    Repeats(usize),
    /// It is the window again, and has nothing of the text any more.
    Gap,
}

impl Window {
    /// Tells what a chunk is.
    ///
    /// The agent sends what its window has beyond the one before it, or where that is not how the
    /// new one begins, all of it. So it is all of it only when the output has outgrown the window:
    /// what fits into one with all that is held follows, and so does what would leave room in the
    /// window for the line before it, however much either looks like what is held.
    pub(crate) fn joint(self, held: &str, chunk: &str) -> Joint {
        let lines = newlines(chunk) + 1;
        if self.fits(held, chunk) || lines > self.lines || chunk.len() > self.bytes {
            return Joint::Follows;
        }
        let is_full_with =
            |line_before: usize| lines == self.lines || chunk.len() + line_before >= self.bytes;
        // The end of a line that fills a window lacks no more than a piece of a character.
        let is_end_of_line = lines == 1 && is_full_with(3);
        if lines == 1 && !is_end_of_line {
            return Joint::Follows;
        }
        let may_follow = |before: &str| is_end_of_line || is_full_with(last_line(before).len());
        match overlap(held, chunk, may_follow) {
            0 if is_full_with(self.longest_line) => Joint::Gap,
            0 => Joint::Follows,
            length => Joint::Repeats(length),
        }
    }

    fn fits(self, held: &str, chunk: &str) -> bool {
        let open_line = usize::from(!chunk.ends_with('\n'));
        held.len() + chunk.len() <= self.bytes
            && newlines(held) + newlines(chunk) + open_line <= self.lines
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The last of a text's lines, each of which has its line end.
fn last_line(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.rsplit_once('\n').map_or(text, |(_, line)| line)
}

/// The length of the longest begin of `chunk` that `held` ends with, if `may_follow` says so of
/// what `held` has before it; 0 for none.
///
/// Of whole lines, since a window begins with a line: less is chance. Only the end of a line that
/// is longer than a window has no lines to go by.
fn overlap(held: &str, chunk: &str, may_follow: impl Fn(&str) -> bool) -> usize {
    let (text, next) = (held.as_bytes(), chunk.as_bytes());
    let borders = borders(next);
    let reach = text.len().saturating_sub(next.len());
    let mut length =
        text[reach..].iter().fold(0, |matched, &byte| extend(next, &borders, matched, byte));
    let first_line = chunk.find('\n');
    let is_joint = |length: usize| {
        let before = held.get(..text.len() - length).unwrap_or_default();
        let is_of_lines = first_line.is_none_or(|end| length >= end && before.ends_with('\n'));
        !before.is_empty() && is_of_lines && may_follow(before)
    };
    while length > 0 && !is_joint(length) {
        length = borders[length - 1];
    }
    length
}

/// For every begin of a text: the length of the longest shorter begin that it ends with (the
/// failure function of Knuth, Morris and Pratt).
fn borders(text: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; text.len()];
    for at in 1..text.len() {
        borders[at] = extend(text, &borders, borders[at - 1], text[at]);
    }
    borders
}

/// How much of `next` is matched when `byte` comes after `matched` bytes of it.
fn extend(next: &[u8], borders: &[usize], mut matched: usize, byte: u8) -> usize {
    while matched > 0 && next.get(matched) != Some(&byte) {
        matched = borders[matched - 1];
    }
    matched + usize::from(next.get(matched) == Some(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: Window = Window { lines: 8, bytes: 64, longest_line: 20 };

    /// The window as the agent makes it: the newest whole lines, without the last line end where
    /// it leaves something out.
    fn seen(text: &str, window: Window) -> String {
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        if lines.len() <= window.lines && text.len() <= window.bytes {
            return text.to_owned();
        }
        let mut begin = lines.len();
        let mut bytes = 0;
        while begin > 0 && lines.len() - begin < window.lines {
            bytes += lines[begin - 1].len() + 1;
            if bytes - 1 > window.bytes {
                break;
            }
            begin -= 1;
        }
        lines[begin..].join("\n")
    }

    #[test]
    fn s_005_equal_chunks_are_equal_lines() {
        assert_eq!(PI.joint("a\n", "a\n"), Joint::Follows);
        assert_eq!(PI.joint("a\na\n", "a\na\nb\n"), Joint::Follows);
        for chunk in ["0123456789\n".repeat(1_500), "a".repeat(30_000), "line\n".repeat(9_000)] {
            for times in 1..9 {
                assert_eq!(PI.joint(&chunk.repeat(times), &chunk), Joint::Follows);
            }
        }
    }

    #[test]
    fn s_005_a_window_that_moved_repeats_what_is_held() {
        let held: String = (1..=2_000).map(|n| format!("{n}\n")).collect();
        let next = seen(&format!("{held}2001\n20"), PI);
        assert_eq!(PI.joint(&held, &next), Joint::Repeats(held.len() - "1\n2\n".len()));
        let next: Vec<String> = (5_001..=7_000).map(|n| n.to_string()).collect();
        assert_eq!(PI.joint(&held, &next.join("\n")), Joint::Gap);
    }

    #[test]
    fn s_005_a_long_line_moves_a_window_at_once() {
        let held = format!("{}\nb\n", "a".repeat(51_200));
        assert_eq!(PI.joint(&held, "b\nc"), Joint::Repeats(2));
    }

    #[test]
    fn s_005_a_piece_of_a_line_is_no_overlap() {
        let window = "line\n".repeat(7) + "line of the rest, which is";
        let held = |end: &str| "x".repeat(60) + end;
        assert_eq!(SMALL.joint(&held("\nli"), &window), Joint::Gap);
        assert_eq!(SMALL.joint(&held("line"), &window), Joint::Gap);
        assert_eq!(SMALL.joint(&held("\nline"), &window), Joint::Repeats(4));
        assert_eq!(SMALL.joint(&held("\nline\nli"), &window), Joint::Repeats(7));
    }

    #[test]
    fn s_005_the_end_of_an_endless_line_has_no_lines_to_go_by() {
        let digits = "0123456789".repeat(7);
        let (held, next) = (format!("ab\u{2603}{digits}"), format!("{}xyz", &digits[10..]));
        assert_eq!(SMALL.joint(&held, &next), Joint::Repeats(60));
    }

    #[test]
    fn s_005_an_output_that_repeats_itself_costs_no_time() {
        let lines = "a\n".repeat(600_000);
        let next = "a\n".repeat(1_999) + "b";
        assert_eq!(PI.joint(&lines, &next), Joint::Repeats(2 * 1_999));
    }

    proptest! {
        #[test]
        fn s_005_whatever_moves_by_less_than_a_window_is_put_together_again(
            pieces in prop::collection::vec((1..14_usize, any::<bool>()), 1..60)
        ) {
            let mut output = String::new();
            let mut held = String::new();
            let mut last = String::new();
            for (at, (size, ends_line)) in pieces.into_iter().enumerate() {
                let end = if ends_line { "\n" } else { "" };
                output.push_str(&format!("{at:03}\n{at:03}{}{end}", "-".repeat(size)));
                let next = seen(&output, SMALL);
                let chunk = next.strip_prefix(&last).unwrap_or(&next).to_owned();
                match SMALL.joint(&held, &chunk) {
                    Joint::Follows => held.push_str(&chunk),
                    Joint::Repeats(length) => held.push_str(&chunk[length..]),
                    Joint::Gap => prop_assert!(false, "{held:?} {chunk:?}"),
                }
                last = next;
            }
            prop_assert_eq!(held.trim_end(), output.trim_end());
        }
    }
}
