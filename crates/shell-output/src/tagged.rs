//! Text that is made of `<output>`, `<stderr>` and `<return-code>` alone.

use serde_json::Value;

use crate::value::exit_code;

/// The parts of such a text.
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
        match tag {
            0 => tagged.stdout = Some(unframed(inner)),
            1 => tagged.stderr = Some(unframed(inner)),
            _ => tagged.code = exit_code(&Value::from(inner)),
        }
        rest = rest[end + close.len()..].trim_start();
    }
    Some(tagged)
}

const TAGS: [(&str, &str); 3] =
    [("<output>", "</output>"), ("<stderr>", "</stderr>"), ("<return-code>", "</return-code>")];

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
