//! A recording: what passed between a client and its agent, one JSON object a line.
//!
//! `{"t": seconds since the start, "dir": "in" | "out" | "err" | "nonjson" | "meta", ...}` with
//! `frame` (what the agent said, what the client said) or `text` (a line of the agent's standard
//! error, a line that is no JSON, a remark of whoever recorded). Members beyond these are allowed.

use std::{borrow::Cow, time::Duration};

use serde::Deserialize;
use serde_json::Value;

/// One line of a recording.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    /// Since the start.
    pub(crate) at: Duration,
    pub(crate) what: What,
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A frame of the agent.
    In(Value),
    /// A frame of the client.
    Out(Value),
    /// What has no bearing on messages.
    Other,
}

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    t: f64,
    dir: Direction,
    frame: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    In,
    Out,
    Err,
    NonJson,
    Meta,
}

impl Line {
    /// Reads a line; an empty one is nothing.
    ///
    /// # Errors
    ///
    /// A sentence on why it is no line of a recording.
    pub(crate) fn parse(line: &[u8]) -> Result<Option<Self>, String> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return Ok(None);
        }
        // Bytes that are no text are an agent's, and no reason to refuse the rest.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        let Record { t, dir, frame } =
            serde_json::from_str(&text).map_err(|err| format!("it is no record ({err})"))?;
        let at = Duration::try_from_secs_f64(t).map_err(|_| format!("{t} is no time"))?;
        let what = match (dir, frame) {
            (Direction::In, Some(frame)) => What::In(frame),
            (Direction::Out, Some(frame)) => What::Out(frame),
            (Direction::In | Direction::Out, None) => return Err("it has no frame".into()),
            (Direction::Err | Direction::NonJson | Direction::Meta, _) => What::Other,
        };
        Ok(Some(Self { at, what }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_line_has_a_time_a_direction_and_a_frame() {
        let line = r#"{"t": 1.5, "dir": "in", "bytes": 7, "frame": {"id": 1}}"#;
        let expected = Line { at: Duration::from_millis(1500), what: What::In(json!({"id": 1})) };
        assert_eq!(Line::parse(line.as_bytes()), Ok(Some(expected)));
        for line in [
            r#"{"dir": "err", "text": "x"}"#,
            r#"{"t": 0, "dir": "nonjson", "text": "x"}"#,
            r#"{"t": 0, "dir": "meta", "version": "1"}"#,
        ] {
            let line = Line::parse(line.as_bytes()).unwrap().unwrap();
            assert_eq!(line, Line { at: Duration::ZERO, what: What::Other });
        }
        assert_eq!(Line::parse(b"  \r"), Ok(None));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for line in [
            "{",
            "[]",
            "7",
            r#"{"t": 0}"#,
            r#"{"t": 0, "dir": "sideways", "frame": {}}"#,
            r#"{"t": 0, "dir": "in", "text": "x"}"#,
            r#"{"t": -1, "dir": "in", "frame": {}}"#,
            r#"{"t": "0", "dir": "in", "frame": {}}"#,
            r#"{"t": 1e300, "dir": "in", "frame": {}}"#,
        ] {
            assert!(Line::parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
