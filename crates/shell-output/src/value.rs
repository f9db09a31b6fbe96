//! Text, exit codes and signals out of foreign JSON.

use std::borrow::Cow;

use model::Signal;
use serde_json::Value;

/// Text in any form that agents use: a string, a text block, or a list of both.
pub(crate) fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Object(block) => block.get("text")?.as_str().map(Cow::Borrowed),
        Value::Array(items) => items.iter().filter_map(flat_text).reduce(|all, text| all + text),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

// Lists are flat in every recording; one level keeps foreign JSON from deciding the stack's depth.
fn flat_text(value: &Value) -> Option<Cow<'_, str>> {
    if value.is_array() { None } else { text_of(value) }
}

/// An exit code: an integer, an integral float or a numeric string. All else is unknown.
pub(crate) fn exit_code(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| integral(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn integral(float: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0; // 2^63: the first that no i64 holds
    let fits = float.fract() == 0.0 && (-LIMIT..LIMIT).contains(&float);
    fits.then_some(float as i64)
}

/// A signal: a number or a name.
pub(crate) fn signal(value: &Value) -> Option<Signal> {
    match value {
        Value::Number(number) => number.as_i64().map(Signal::Number),
        Value::String(name) if !name.is_empty() => Some(Signal::Name(name.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s_013_integers_integral_floats_and_numeric_strings_are_codes() {
        for (value, code) in [
            (json!(0), 0),
            (json!(-1), -1),
            (json!(4.0), 4),
            (json!("7"), 7),
            (json!(" 137\n"), 137),
            (json!(i64::MAX), i64::MAX),
        ] {
            assert_eq!(exit_code(&value), Some(code), "{value}");
        }
    }

    #[test]
    fn s_013_anything_else_is_unknown() {
        let beyond: Value = serde_json::from_str("184467440737095516160").unwrap();
        for value in [
            json!(null),
            json!(""),
            json!("not-an-exit"),
            json!("4.5"),
            json!(4.5),
            json!(true),
            json!(false),
            json!([0]),
            json!({"code": 0}),
            json!(u64::MAX),
            json!(9_223_372_036_854_775_808_u64),
            json!("9223372036854775808"),
            beyond,
        ] {
            assert_eq!(exit_code(&value), None, "{value}");
        }
    }

    #[test]
    fn text_is_found_in_strings_blocks_and_lists() {
        assert_eq!(text_of(&json!("a")).as_deref(), Some("a"));
        assert_eq!(text_of(&json!({"type": "text", "text": "a"})).as_deref(), Some("a"));
        assert_eq!(text_of(&json!(["a", {"text": "b"}, 4, {"image": 1}])).as_deref(), Some("ab"));
        for value in [json!(null), json!(4), json!([]), json!({}), json!([[["a"]]])] {
            assert_eq!(text_of(&value), None, "{value}");
        }
    }
}
