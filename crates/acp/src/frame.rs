//! A line of an agent's stdout -> JSON-RPC.

use std::borrow::Cow;

use serde_json::Value;

use crate::{fragment::Fragment, lines::Line};

/// What a line says.
#[derive(Debug, PartialEq)]
pub(crate) enum Incoming {
    /// The agent asks.
    Request { id: Value, method: String, params: Value },
    /// The agent tells.
    Notification { method: String, params: Value },
    /// The agent answers: with a result, or with an error object.
    Response { id: Value, result: Result<Value, Value> },
    /// The line was too long to be read.
    Oversized { frame: Fragment, bytes: u64 },
}

/// The frames in a line: one as a rule, several in a batch, none in what is not JSON-RPC.
pub(crate) fn read(line: &Line) -> Vec<Incoming> {
    match line {
        Line::Whole(bytes) => parse(bytes).map(frames).unwrap_or_default(),
        Line::Cut { head, tail, bytes } => {
            vec![Incoming::Oversized { frame: Fragment::read(head, tail), bytes: *bytes }]
        }
    }
}

/// JSON, be it with bytes that are no UTF-8 or with halves of surrogate pairs.
fn parse(bytes: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&pair_surrogates(text))).ok()
}

/// The frames in a value: one, or those of a batch.
pub(crate) fn frames(value: Value) -> Vec<Incoming> {
    match value {
        Value::Array(batch) => batch.into_iter().filter_map(frame).collect(),
        value => frame(value).into_iter().collect(),
    }
}

fn frame(mut value: Value) -> Option<Incoming> {
    let object = value.as_object_mut()?;
    let id = object.remove("id");
    let params = object.remove("params").unwrap_or_default();
    match (object.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) if is_id(&id) => {
            Some(Incoming::Request { id, method, params })
        }
        (Some(Value::String(method)), None) => Some(Incoming::Notification { method, params }),
        (None, Some(id)) => {
            let result = match object.remove("error") {
                Some(error) if !error.is_null() => Err(error),
                _ => Ok(object.remove("result")?),
            };
            Some(Incoming::Response { id, result })
        }
        _ => None,
    }
}

const fn is_id(id: &Value) -> bool {
    matches!(id, Value::Number(_) | Value::String(_) | Value::Null)
}

/// Replaces escapes of half a surrogate pair, which JavaScript writes when it cuts a text inside a
/// character, and which are no Unicode.
fn pair_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") {
        return Cow::Borrowed(text);
    }
    let mut paired = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        paired.push_str(before);
        let (kept, length) = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (&escape[..12], 12),
            (Some(0xd800..=0xdfff), _) => ("\\ufffd", 6),
            _ => {
                let escaped = escape.chars().nth(1).map_or(0, char::len_utf8);
                (&escape[..1 + escaped], 1 + escaped)
            }
        };
        paired.push_str(kept);
        rest = &escape[length..];
    }
    paired.push_str(rest);
    Cow::Owned(paired)
}

/// The code unit of the `\uXXXX` that `text` begins with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(line: &[u8]) -> Option<Incoming> {
        read(&Line::Whole(line.to_vec())).pop()
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let request = |id| Incoming::Request { id, method: "m".into(), params: json!({}) };
        for (id, text) in [(json!(3), "3"), (json!("a"), "\"a\""), (json!(null), "null")] {
            let line = format!(r#"{{"id":{text},"method":"m","params":{{}}}}"#);
            assert_eq!(one(line.as_bytes()), Some(request(id)));
        }
        let told = Incoming::Notification { method: "m".into(), params: Value::Null };
        assert_eq!(one(br#"{"method":"m"}"#), Some(told));
        let answer = Incoming::Response { id: json!(1), result: Ok(Value::Null) };
        assert_eq!(one(br#" {"id":1,"result":null} "#), Some(answer));
        let failed = Incoming::Response { id: json!(1), result: Err(json!({"code": 5})) };
        assert_eq!(one(br#"{"id":1,"result":null,"error":{"code":5}}"#), Some(failed));
    }

    #[test]
    fn a_batch_is_its_frames() {
        let frames = read(&Line::Whole(br#"[{"method":"a"},5,{"id":1,"result":2}]"#.to_vec()));
        assert_eq!(frames.len(), 2);
    }

    #[test]
    fn s_017_what_is_no_frame_is_nothing() {
        for line in [
            &b""[..],
            b"npm WARN deprecated",
            b"{\"id\":1,",
            b"[[[1]]]",
            b"{}",
            b"{\"id\":{},\"method\":\"m\"}",
            b"{\"id\":1}",
            b"null",
            b"{\"method\":5}",
            b"\xff\xff\xff",
        ] {
            assert_eq!(one(line), None, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn s_017_bytes_that_are_no_utf_8_do_not_lose_the_frame() {
        let told = one(b"{\"method\":\"m\",\"params\":\"a\xffb\"}");
        let params = json!("a\u{fffd}b");
        assert_eq!(told, Some(Incoming::Notification { method: "m".into(), params }));
    }

    #[test]
    fn s_017_half_a_surrogate_pair_does_not_lose_the_frame() {
        let params = |text: &str| {
            let line = format!(r#"{{"method":"m","params":"{text}"}}"#);
            match one(line.as_bytes()) {
                Some(Incoming::Notification { params: Value::String(text), .. }) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(params(r"a\ud83dz \ud83d\ude00 \ude00"), "a\u{fffd}z \u{1f600} \u{fffd}");
        assert_eq!(params(r"\\ud83d\ud83d"), "\\ud83d\u{fffd}");
        assert_eq!(params(r"\n\ud83d\ud83d\ude00"), "\n\u{fffd}\u{1f600}");
    }
}
