//! One frame about a tool call, read leniently: what does not fit is left out, never an error.

use std::borrow::Cow;

use model::{MessageKind, ToolStatus};
use serde_json::Value;

use crate::value::text_of;

/// Which message brought a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameOrigin {
    /// `session/update` with a `tool_call`.
    Call,
    /// `session/update` with a `tool_call_update`.
    Update,
    /// `session/request_permission`: its `toolCall`.
    Permission,
}

/// One `tool_call`, `tool_call_update` or `request_permission.toolCall` object.
///
/// A field that is absent, `null` or of a foreign type is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFrame {
    /// `toolCallId`.
    pub call_id: String,
    /// Which message brought it.
    pub origin: FrameOrigin,
    /// `title`, when not empty.
    pub title: Option<String>,
    /// `kind`, as given.
    pub tool_kind: Option<String>,
    /// `name`, or Claude's `_meta.claudeCode.toolName`.
    pub name: Option<String>,
    /// `status`; `None` for one that is not known.
    pub status: Option<ToolStatus>,
    /// `rawInput`.
    pub raw_input: Option<Value>,
    /// `rawOutput`.
    pub raw_output: Option<Value>,
    /// `content`.
    pub content: Option<Vec<Value>>,
    /// `locations[].path`.
    pub paths: Vec<String>,
    /// `_meta`.
    pub meta: Option<Value>,
}

impl ToolFrame {
    /// Reads a frame; `None` without a `toolCallId` string.
    pub fn parse(origin: FrameOrigin, value: &Value) -> Option<Self> {
        Self::take(origin, value.clone())
    }

    /// The same, of a value that nobody else needs: its texts, which may be large, are moved.
    pub fn take(origin: FrameOrigin, mut value: Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str).filter(|s| !s.is_empty());
        let tool_name = || value.pointer("/_meta/claudeCode/toolName").and_then(Value::as_str);
        let call_id = value.get("toolCallId")?.as_str()?.to_owned();
        let title = text("title").map(str::to_owned);
        let tool_kind = text("kind").map(str::to_owned);
        let name = text("name").or_else(tool_name).map(str::to_owned);
        let status = text("status").and_then(status);
        let paths = value.get("locations").map(paths).unwrap_or_default();
        let mut given = |key: &str| value.get_mut(key).map(Value::take).filter(|v| !v.is_null());
        Some(Self {
            call_id,
            origin,
            title,
            tool_kind,
            name,
            status,
            raw_input: given("rawInput"),
            raw_output: given("rawOutput"),
            content: match given("content") {
                Some(Value::Array(items)) => Some(items),
                _ => None,
            },
            paths,
            meta: given("_meta"),
        })
    }

    /// The kind of message that shows this tool call: by `kind`, without one by the tool's name.
    ///
    /// `None` when the frame has neither, as many updates do. A call keeps the first kind that one
    /// of its frames has.
    pub fn message_kind(&self) -> Option<MessageKind> {
        let word = self.tool_kind.as_ref().or(self.name.as_ref())?.to_ascii_lowercase();
        Some(match word.as_str() {
            "execute" | "bash" | "run" | "shell" => MessageKind::ToolExecute,
            "edit" | "delete" | "move" | "write" => MessageKind::ToolEdit,
            "read" => MessageKind::ToolRead,
            "search" | "grep" | "glob" | "find" => MessageKind::ToolSearch,
            _ => MessageKind::ToolCall,
        })
    }

    /// An update that says nothing: no status, output, title, input, content or location (S-021).
    pub fn is_empty_update(&self) -> bool {
        self.origin == FrameOrigin::Update
            && self.status.is_none()
            && self.title.is_none()
            && self.raw_input.as_ref().is_none_or(is_hollow)
            && self.raw_output.is_none()
            && self.content.as_ref().is_none_or(Vec::is_empty)
            && self.paths.is_empty()
            && !self.extends_output()
    }

    fn extends_output(&self) -> bool {
        ["terminal_output", "terminal_output_delta", "terminal_exit"]
            .iter()
            .any(|key| self.meta_field(key).is_some())
            || self.claude("toolResponse").is_some()
            || self.claude("nonExecutionKind").is_some()
    }

    /// A field of `_meta` that is not `null`.
    pub(crate) fn meta_field(&self, key: &str) -> Option<&Value> {
        self.meta.as_ref()?.get(key).filter(|value| !value.is_null())
    }

    /// A field of `_meta.claudeCode` that is not `null`.
    pub(crate) fn claude(&self, key: &str) -> Option<&Value> {
        self.meta_field("claudeCode")?.get(key).filter(|value| !value.is_null())
    }

    /// `_meta.terminal_output.data`.
    pub(crate) fn terminal_output(&self) -> Option<Cow<'_, str>> {
        self.terminal_text("terminal_output")
    }

    /// `_meta.terminal_output_delta.data`.
    pub(crate) fn terminal_output_delta(&self) -> Option<Cow<'_, str>> {
        self.terminal_text("terminal_output_delta")
    }

    fn terminal_text(&self, key: &str) -> Option<Cow<'_, str>> {
        let value = self.meta_field(key)?;
        text_of(value.get("data").unwrap_or(value))
    }

    /// The text items of `content`, joined; `None` when there is no text item. What a request for
    /// leave has there is for the person who answers it, and no output: nothing ran yet.
    pub(crate) fn content_text(&self) -> Option<Cow<'_, str>> {
        if self.origin == FrameOrigin::Permission { None } else { self.any_content_text() }
    }

    /// The same, of a request for leave, too.
    pub(crate) fn any_content_text(&self) -> Option<Cow<'_, str>> {
        let texts =
            self.content.as_ref()?.iter().filter_map(|item| match item.get("type")?.as_str()? {
                "content" => text_of(item.get("content")?),
                "text" => text_of(item),
                _ => None,
            });
        texts.reduce(|joined, text| joined + text)
    }
}

fn status(word: &str) -> Option<ToolStatus> {
    Some(match word {
        "pending" => ToolStatus::Pending,
        "in_progress" => ToolStatus::InProgress,
        "completed" => ToolStatus::Complete,
        "failed" => ToolStatus::Error,
        "cancelled" => ToolStatus::Cancelled,
        _ => return None,
    })
}

fn paths(locations: &Value) -> Vec<String> {
    let items = locations.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.get("path")?.as_str()).map(str::to_owned).collect()
}

fn is_hollow(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn update(value: &Value) -> ToolFrame {
        ToolFrame::parse(FrameOrigin::Update, value).unwrap()
    }

    #[test]
    fn a_frame_without_an_id_is_none() {
        for value in [json!({}), json!({"toolCallId": 4}), json!(null), json!("x")] {
            assert_eq!(ToolFrame::parse(FrameOrigin::Call, &value), None);
        }
    }

    #[test]
    fn s_017_foreign_types_are_left_out() {
        let frame = update(&json!({
            "toolCallId": "a", "title": 4, "kind": [], "status": "exploded", "content": "x",
            "locations": [{"path": 1}, 2, {"path": "/p"}], "rawInput": null, "_meta": 7
        }));
        assert_eq!(
            (frame.title.as_ref(), frame.status, frame.content.as_ref()),
            (None, None, None)
        );
        assert_eq!((frame.raw_input.as_ref(), frame.paths), (None, vec!["/p".to_owned()]));
    }

    #[test]
    fn s_001_a_shell_call_is_known_by_kind_else_by_name_in_any_case() {
        let kind = |value: Value| update(&value).message_kind();
        for word in ["execute", "bash", "run", "shell", "Execute", "BASH"] {
            let expected = Some(MessageKind::ToolExecute);
            assert_eq!(kind(json!({"toolCallId": "a", "kind": word})), expected, "{word}");
            assert_eq!(kind(json!({"toolCallId": "a", "name": word})), expected, "{word}");
        }
        assert_eq!(kind(json!({"toolCallId": "a", "title": "bash"})), None);
    }

    #[test]
    fn s_019_kind_decides_before_name() {
        let frame = update(&json!({"toolCallId": "a", "kind": "read", "name": "bash"}));
        assert_eq!(frame.message_kind(), Some(MessageKind::ToolRead));
        let frame = update(&json!({"toolCallId": "a", "kind": "search", "name": "exec_command"}));
        assert_eq!(frame.message_kind(), Some(MessageKind::ToolSearch));
    }

    #[test]
    fn s_021_only_an_update_that_says_nothing_is_empty() {
        let with = |key: &str, value: Value| {
            let mut frame = json!({"toolCallId": "a"});
            frame[key] = value;
            update(&frame).is_empty_update()
        };
        assert!(with("kind", json!("execute")));
        assert!(with("_meta", json!({"claudeCode": {"toolName": "Bash"}})));
        assert!(with("content", json!([])));
        assert!(!with("status", json!("in_progress")));
        assert!(!with("title", json!("ls")));
        assert!(!with("rawInput", json!({"command": "ls"})));
        assert!(!with("content", json!([{"type": "terminal", "terminalId": "t"}])));
        assert!(!with("locations", json!([{"path": "/p"}])));
        assert!(!with("rawOutput", json!("x")));
        assert!(!with("_meta", json!({"terminal_output": {"data": "x"}})));
        assert!(!with("_meta", json!({"terminal_output_delta": {"data": "x"}})));
        assert!(!with("_meta", json!({"terminal_exit": {"exit_code": 0}})));
    }

    #[test]
    fn content_text_is_joined_and_ignores_terminals() {
        let frame = update(&json!({"toolCallId": "a", "content": [
            {"type": "terminal", "terminalId": "t"},
            {"type": "content", "content": {"type": "text", "text": "a"}},
            {"type": "content", "content": {"type": "text", "text": "b"}}
        ]}));
        assert_eq!(frame.content_text().as_deref(), Some("ab"));
        let frame = update(&json!({"toolCallId": "a", "content": [{"type": "terminal"}]}));
        assert_eq!(frame.content_text(), None);
    }
}
