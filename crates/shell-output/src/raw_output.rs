//! `rawOutput` in the forms that agents give it.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    tagged::{self, Tagged},
    value::text_of,
};

/// The streams that a `rawOutput` has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Streams<'a> {
    pub(crate) stdout: Option<Cow<'a, str>>,
    pub(crate) stderr: Option<Cow<'a, str>>,
}

/// Reads the first form that is there: named streams, `formatted_output`, `output`, a plain text.
///
/// An object without any of these is no output.
pub(crate) fn streams(raw: &Value) -> Streams<'_> {
    let raw = result(raw);
    if !raw.is_object() {
        return Streams { stdout: text_of(raw), stderr: None };
    }
    let field = |key: &str| raw.get(key).and_then(text_of);
    let named = Streams { stdout: field("stdout"), stderr: field("stderr") };
    if named != Streams::default() {
        return named;
    }
    Streams { stdout: field("formatted_output").or_else(|| field("output")), stderr: None }
}

/// The same, with a text that is made of tags taken apart; and the exit code that the tags state.
pub(crate) fn tagged_streams(raw: &Value) -> (Streams<'_>, Option<i64>) {
    streams_by(raw, tagged::read_whole)
}

/// The same, with the tags where `read` finds them.
pub(crate) fn streams_by(
    raw: &Value,
    read: fn(&str) -> Option<Tagged<'_>>,
) -> (Streams<'_>, Option<i64>) {
    let streams = streams(raw);
    let (Some(Cow::Borrowed(text)), None) = (&streams.stdout, &streams.stderr) else {
        return (streams, None);
    };
    let Some(tagged) = read(text) else { return (streams, None) };
    let [stdout, stderr] = [tagged.stdout, tagged.stderr].map(|part| part.map(Cow::Borrowed));
    (Streams { stdout, stderr }, tagged.code)
}

/// The object with the fields: a list may hold it among its blocks (Claude's code execution).
pub(crate) fn result(raw: &Value) -> &Value {
    let is_result = |item: &&Value| {
        ["stdout", "stderr", "return_code"].iter().any(|key| item.get(key).is_some())
    };
    raw.as_array().and_then(|items| items.iter().find(is_result)).unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(raw: &Value) -> (Option<String>, Option<String>) {
        let Streams { stdout, stderr } = streams(raw);
        (stdout.map(Cow::into_owned), stderr.map(Cow::into_owned))
    }

    #[test]
    fn s_028_named_streams_come_before_combined_text() {
        let all = json!({"stdout": "o", "stderr": "e", "formatted_output": "f", "output": "x"});
        assert_eq!(parts(&all), (Some("o".into()), Some("e".into())));
        assert_eq!(parts(&json!({"stderr": "e"})), (None, Some("e".into())));
        let combined = json!({"formatted_output": "f", "output": "x"});
        assert_eq!(parts(&combined), (Some("f".into()), None));
        assert_eq!(parts(&json!({"output": "x"})), (Some("x".into()), None));
    }

    #[test]
    fn s_006_plain_text_blocks_and_code_execution_results_are_read() {
        assert_eq!(parts(&json!("a")), (Some("a".into()), None));
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        assert_eq!(parts(&blocks), (Some("ab".into()), None));
        let result = json!([
            {"type": "text", "text": "ran"},
            {"type": "bash_code_execution_result", "stdout": "o", "stderr": "e", "return_code": 2}
        ]);
        assert_eq!(parts(&result), (Some("o".into()), Some("e".into())));
    }

    #[test]
    fn s_009_a_structure_without_a_known_field_is_no_output() {
        for raw in [json!({"metadata": {"exit": 0}}), json!({}), json!(4), json!([]), json!(null)] {
            assert_eq!(parts(&raw), (None, None), "{raw}");
        }
    }
}
