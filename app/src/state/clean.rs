//! Terminal output as plain text: control sequences taken out, progress lines at their last state.
//!
//! Only the view does this; what is stored and sent stays as the agent wrote it (S-050).

use std::{iter::Peekable, str::Chars};

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
const BACKSPACE: char = '\u{8}';
/// The one-character forms of `ESC [` and of the sequences that carry a string.
const CSI: char = '\u{9b}';
const STRING_OPENERS: [char; 5] = ['\u{90}', '\u{98}', '\u{9d}', '\u{9e}', '\u{9f}'];
const STRING_TERMINATOR: char = '\u{9c}';

/// The text as a person would see it in a terminal that never scrolls back.
pub fn clean(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    // Where the current line begins, and whether a carriage return waits for what replaces it.
    let (mut line_start, mut returned) = (0, false);
    let mut chars = raw.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            ESC => skip_escape(&mut chars),
            CSI => skip_csi(&mut chars),
            _ if STRING_OPENERS.contains(&char) => skip_string(&mut chars),
            '\n' => {
                text.push('\n');
                (line_start, returned) = (text.len(), false);
            }
            '\r' => returned = true,
            BACKSPACE if text.len() > line_start => drop(text.pop()),
            _ if char.is_control() && char != '\t' => {}
            _ => {
                if std::mem::take(&mut returned) {
                    text.truncate(line_start);
                }
                text.push(char);
            }
        }
    }
    text
}

fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.next_if(|char| !char.is_control()) {
        Some('[') => skip_csi(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars),
        Some(' '..='/') => {
            while chars.next_if(|char| matches!(char, ' '..='/')).is_some() {}
            chars.next_if(|char| matches!(char, '0'..='~'));
        }
        _ => {}
    }
}

/// Parameters, intermediates, one final character. Anything else ends it and is kept.
fn skip_csi(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|char| matches!(char, ' '..='?')).is_some() {}
    chars.next_if(|char| matches!(char, '@'..='~'));
}

/// Up to its terminator. A line break ends it too, so that a cut sequence costs one line at most.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    while let Some(char) = chars.next_if(|char| *char != '\n') {
        match char {
            BEL | STRING_TERMINATOR => return,
            ESC => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_050_plain_text_stays_as_it_is() {
        let text = "  a\tb\nc \u{fc} \u{4e16}\n\n";
        assert_eq!(clean(text), text);
    }

    #[test]
    fn s_050_control_sequences_never_show() {
        for (raw, shown) in [
            ("\u{1b}[1;31mred\u{1b}[0m text", "red text"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;https://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(Bplain\u{1b}7\u{1b}=", "plain"),
            ("\u{9b}32mgreen", "green"),
            ("\u{1b}P1$r0m\u{1b}\\x", "x"),
            ("bell\u{7} nul\u{0}", "bell nul"),
            ("\u{1b}[?25lhidden\u{1b}[2K", "hidden"),
            ("ab\u{8}c", "ac"),
        ] {
            assert_eq!(clean(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn s_050_progress_lines_collapse_to_their_last_state() {
        assert_eq!(clean("start\n10%\r50%\r100%\nend"), "start\n100%\nend");
        assert_eq!(clean("10%\r50%\r"), "50%", "what stands before a return still shows");
        assert_eq!(clean("a\r\nb\r\n"), "a\nb\n");
        assert_eq!(clean("a\r\r\nb"), "a\nb");
        assert_eq!(clean("50%\r\u{1b}[K60%"), "60%");
    }

    #[test]
    fn s_050_a_sequence_that_was_cut_costs_no_more_than_its_line() {
        assert_eq!(clean("\u{1b}]0;never ends\nnext"), "\nnext");
        assert_eq!(clean("text\u{1b}"), "text");
        assert_eq!(clean("text\u{1b}[12"), "text");
        assert_eq!(clean("\u{1b}[1\nnext"), "\nnext");
        assert_eq!(clean("\u{8}\u{8}x"), "x");
    }
}
