//! Text with `<output>`, `<stderr>` and `<return-code>` in it.

use serde_json::Value;

use crate::value::exit_code;

/// What such a text has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tagged<'a> {
    pub(crate) stdout: Option<&'a str>,
    pub(crate) stderr: Option<&'a str>,
    pub(crate) code: Option<i64>,
}

/// Reads a text that has nothing besides the tags, each at most once, in any order.
///
/// `None` for any other text: the same tags inside real output are output.
pub(crate) fn read_whole(text: &str) -> Option<Tagged<'_>> {
    let mut tagged = Tagged::default();
    let mut seen = [false; 3];
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let tag = TAGS.iter().position(|(open, _)| rest.starts_with(open))?;
        let (open, close) = TAGS[tag];
        // The last one: output may quote its own closing tag.
        let end = rest.rfind(close)?;
        let inner = rest.get(open.len()..end)?;
        if std::mem::replace(&mut seen[tag], true) {
            return None;
        }
        tagged.set(tag, inner);
        rest = rest[end + close.len()..].trim_start();
    }
    Some(tagged)
}

/// Reads the first of each tag wherever it stands; the words around the tags are no output.
///
/// `None` where no tag is closed. Once one is, another that is not has all that follows: its end
/// was cut off. Tags inside another tag are a part of that.
pub(crate) fn read_within(text: &str) -> Option<Tagged<'_>> {
    let mut tagged = Tagged::default();
    let mut seen = [false; 3];
    let mut has_closed = false;
    let mut rest = text;
    while let Some((at, tag)) = first_tag(rest, seen) {
        let (open, close) = TAGS[tag];
        let inner = &rest[at + open.len()..];
        seen[tag] = true;
        // Output may quote its own closing tag, a number does not.
        let end = if tag == CODE { inner.find(close) } else { inner.rfind(close) };
        rest = match end {
            Some(end) => {
                has_closed = true;
                tagged.set(tag, &inner[..end]);
                &inner[end + close.len()..]
            }
            None if has_closed && tag != CODE => {
                tagged.set(tag, inner);
                ""
            }
            None => inner,
        };
    }
    has_closed.then_some(tagged)
}

/// Where the first of the tags that were not seen yet opens, and which it is.
fn first_tag(text: &str, seen: [bool; 3]) -> Option<(usize, usize)> {
    let unseen = (0..TAGS.len()).filter(|&tag| !seen[tag]);
    unseen.filter_map(|tag| Some((text.find(TAGS[tag].0)?, tag))).min()
}

const TAGS: [(&str, &str); 3] =
    [("<output>", "</output>"), ("<stderr>", "</stderr>"), ("<return-code>", "</return-code>")];
const STDOUT: usize = 0;
const STDERR: usize = 1;
const CODE: usize = 2;

impl<'a> Tagged<'a> {
    fn set(&mut self, tag: usize, inner: &'a str) {
        match tag {
            STDOUT => self.stdout = Some(unframed(inner)),
            STDERR => self.stderr = Some(unframed(inner)),
            _ => self.code = exit_code(&Value::from(inner)),
        }
    }
}

/// Without the line breaks that set the tags off.
fn unframed(inner: &str) -> &str {
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    inner.strip_suffix('\n').unwrap_or(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_028_a_text_of_tags_is_read() {
        let text = "<return-code>1</return-code><output>auggie out</output><stderr>err</stderr>";
        let expected = Tagged { stdout: Some("auggie out"), stderr: Some("err"), code: Some(1) };
        assert_eq!(read_whole(text), Some(expected));
        let text = "\n<return-code>\n0\n</return-code>\n<output>\none\ntwo\n\n</output>\n";
        let expected = Tagged { stdout: Some("one\ntwo\n"), stderr: None, code: Some(0) };
        assert_eq!(read_whole(text), Some(expected));
    }

    #[test]
    fn s_028_output_may_quote_its_closing_tag() {
        let tagged = read_whole("<output>a</output>b</output>").unwrap();
        assert_eq!(tagged.stdout, Some("a</output>b"));
    }

    #[test]
    fn s_008_tags_are_read_among_other_words() {
        let read = |text| {
            let tagged = read_within(text).unwrap();
            (tagged.stdout, tagged.stderr, tagged.code)
        };
        let text = "Results:\n<return-code>\n4\n</return-code>\n<output>\none\n\n</output>\nBye";
        assert_eq!(read(text), (Some("one\n"), None, Some(4)));
        let text = "<output>o</output> and <stderr>e</stderr>, <return-code>0</return-code>";
        assert_eq!(read(text), (Some("o"), Some("e"), Some(0)));
        assert_eq!(read("so: <return-code>1</return-code>"), (None, None, Some(1)));
        assert_eq!(read("<output>\n\n</output>"), (Some(""), None, None));
    }

    #[test]
    fn s_008_tags_inside_a_tag_are_output() {
        let inner = "<return-code>7</return-code>\n<output>a</output>\n<stderr>b</stderr>";
        let text = format!("<return-code>0</return-code><output>\n{inner}\n</output>");
        let expected = Tagged { stdout: Some(inner), stderr: None, code: Some(0) };
        assert_eq!(read_within(&text), Some(expected));
        let text = format!("still running\n<output>\n{inner}\n</output>");
        let expected = Tagged { stdout: Some(inner), stderr: None, code: None };
        assert_eq!(read_within(&text), Some(expected));
    }

    #[test]
    fn s_008_a_tag_whose_end_is_missing_costs_no_text() {
        let cut = "<return-code>0</return-code><output>\none\ntwo";
        assert_eq!(read_within(cut).and_then(|tagged| tagged.stdout), Some("one\ntwo"));
        for text in ["", "hello", "<output>a", "a</output>", "<output>a<return-code>1"] {
            assert_eq!(read_within(text), None, "{text:?}");
        }
        let tagged = read_within("<output>a <return-code>1</return-code>").unwrap();
        assert_eq!((tagged.stdout, tagged.code), (None, Some(1)));
    }

    #[test]
    fn s_013_a_code_that_is_none_is_unknown() {
        let tagged = read_whole("<return-code>none</return-code><output>a</output>").unwrap();
        assert_eq!((tagged.code, tagged.stdout), (None, Some("a")));
    }

    #[test]
    fn s_008_tags_among_other_text_are_text() {
        for text in [
            "",
            "  ",
            "hello",
            "see <output>a</output>",
            "<output>a</output> and more",
            "<output>a",
            "<output></return-code>",
            "<output>a</output><output>b</output><return-code>0</return-code><output>c</output>x",
        ] {
            assert_eq!(read_whole(text), None, "{text:?}");
        }
    }
}
