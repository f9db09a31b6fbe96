//! What can be told of a frame whose middle is gone: whom it answers, or what it asks.

use serde_json::Value;

/// The recognisable part of a cut frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Its JSON-RPC id.
    pub(crate) id: Option<Value>,
    /// It has a method, so it is a request or a notification.
    pub(crate) has_method: bool,
}

impl Fragment {
    /// From the first and the last bytes of a frame.
    pub(crate) fn read(head: &[u8], tail: &[u8]) -> Self {
        let head = outer_members(&String::from_utf8_lossy(head));
        let tail = String::from_utf8_lossy(tail);
        Self { id: head.id.or_else(|| last_id(&tail)), has_method: head.has_method }
    }
}

/// The members of the outermost object, as far as the text goes.
fn outer_members(text: &str) -> Fragment {
    let mut fragment = Fragment::default();
    let mut depth = 0_u32;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '"' => {
                let Some((token, after)) = string(rest) else { break };
                if depth == 1
                    && let Some(value) = after.trim_start().strip_prefix(':')
                {
                    match token {
                        "\"id\"" => fragment.id = fragment.id.or_else(|| scalar(value)),
                        "\"method\"" => fragment.has_method = true,
                        _ => {}
                    }
                }
                rest = after;
                continue;
            }
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    fragment
}

/// The string literal that `text` begins with, quotes included, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find_map(|(at, c)| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes.then_some(at)
    })?;
    Some(text.split_at(end + 1))
}

/// The number or the string that `text` begins with.
fn scalar(text: &str) -> Option<Value> {
    let text = text.trim_start();
    let literal = match string(text) {
        Some((literal, _)) if text.starts_with('"') => literal,
        _ => &text[..text.find(|c: char| !c.is_ascii_digit() && c != '-')?],
    };
    serde_json::from_str(literal).ok()
}

/// The id of a frame that has it behind what is large: `..., "id": 3}`.
fn last_id(tail: &str) -> Option<Value> {
    let (_, value) = tail.rsplit_once("\"id\"")?;
    let value = value.trim_start().strip_prefix(':')?;
    let members = value.trim_end().strip_suffix('}')?;
    let is_outermost = !members.contains(['{', '}', '[', ']']);
    is_outermost.then(|| scalar(value)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(head: &str, tail: &str) -> (Option<Value>, bool) {
        let fragment = Fragment::read(head.as_bytes(), tail.as_bytes());
        (fragment.id, fragment.has_method)
    }

    #[test]
    fn an_id_in_front_is_found_at_the_outermost_level_only() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":7,"result":{"a"#, ""), (Some(json!(7)), false));
        assert_eq!(read(r#"{"id": "x\"1", "result":{"#, ""), (Some(json!("x\"1")), false));
        assert_eq!(read(r#"{"result":{"id":9,"text":"\"id\":8"#, "aaa"), (None, false));
        assert_eq!(read(r#"{"method":"a","params":{"id":9"#, "aaa"), (None, true));
    }

    #[test]
    fn an_id_behind_is_found_when_nothing_but_the_frame_is_left() {
        assert_eq!(read(r#"{"result":"aa"#, r#"aa","id":3,"jsonrpc":"2.0"}"#).0, Some(json!(3)));
        assert_eq!(read(r#"{"result":"aa"#, r#"aa","id" : 3 }"#).0, Some(json!(3)));
        assert_eq!(read(r#"{"result":"aa"#, r#""items":[{"id":3}]}"#).0, None);
        assert_eq!(read(r#"{"result":"aa"#, r#"aa"}"#).0, None);
    }

    #[test]
    fn s_017_any_bytes_are_read() {
        for bytes in [&b"\"\\"[..], b"{\"id\":", b"{\"id\":\"", b"\xff\xfe{\"id\":-", b"]]]}"] {
            assert_eq!(Fragment::read(bytes, bytes).id, None);
        }
    }
}
