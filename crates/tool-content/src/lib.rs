//! What tool calls that are no shell commands show: diffs, texts, pictures, out of their frames.
//!
//! The fields are those of the Agent Client Protocol's `ToolCallContent`: `content`, `diff` and
//! `terminal`, whose `content` is a block of text, a picture, a resource or a link. [`CallContent`]
//! is the state of one call: pure, without I/O or panics.

mod diff;
mod part;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use model::{ContentPart, MessageKind, ToolContent};
use serde_json::Value;
use shell_output::ToolFrame;

use part::Budget;

/// What one call has to show so far.
#[derive(Debug, Default)]
pub struct CallContent {
    content: ToolContent,
    /// Of the fields that were read last: agents repeat them with every update.
    read: Option<u64>,
}

impl CallContent {
    /// The state of a call whose content is known.
    pub const fn restore(content: ToolContent) -> Self {
        Self { content, read: None }
    }

    /// What it has to show.
    pub const fn content(&self) -> &ToolContent {
        &self.content
    }

    /// Takes a frame of a call of this kind; whether there is something else to show.
    ///
    /// `content` takes the place of what came before it, but a diff stays until another one comes:
    /// that the file was written takes nothing back. What a tool was given is shown where nothing
    /// else says what it does; its raw result, where there is no other.
    pub fn apply(&mut self, kind: MessageKind, frame: &ToolFrame) -> bool {
        let input = frame.raw_input.as_ref().filter(|_| kind == MessageKind::ToolCall);
        let items = frame.content.as_deref().unwrap_or_default();
        if input.is_none() && items.is_empty() && frame.raw_output.is_none() {
            return false;
        }
        let read = hash((input, items, &frame.raw_output));
        if self.read.replace(read) == Some(read) {
            return false;
        }
        let mut budget = Budget::default();
        let mut parts = Vec::new();
        let known = std::mem::take(&mut self.content);
        let kept = |is_kept: fn(&ContentPart) -> bool| {
            known.parts.iter().filter(move |part| is_kept(part)).cloned().collect::<Vec<_>>()
        };
        match input.and_then(|input| part::input(input, &mut budget)) {
            Some(part) => parts.push(part),
            None => parts.extend(kept(is_input)),
        }
        let new = part::of_items(items, &mut budget);
        if !new.iter().any(is_diff) {
            parts.extend(kept(is_diff));
        }
        let has_result = !new.is_empty();
        parts.extend(new);
        if !has_result {
            let raw = frame.raw_output.as_ref().filter(|_| !parts.iter().any(is_diff));
            match raw.and_then(|raw| part::raw_output(raw, &mut budget)) {
                Some(part) => parts.push(part),
                None => parts.extend(kept(is_result)),
            }
        }
        let truncated = budget.is_exceeded() || (known.truncated && !has_result);
        self.content = ToolContent { parts, truncated };
        self.content != known
    }
}

const fn is_input(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Input { .. })
}

const fn is_diff(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Diff(_))
}

const fn is_result(part: &ContentPart) -> bool {
    !is_input(part) && !is_diff(part)
}

fn hash(fields: (Option<&Value>, &[Value], &Option<Value>)) -> u64 {
    let mut hasher = DefaultHasher::new();
    fields.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CONTENT_LIMIT_BYTES, ContentSummary};
    use proptest::prelude::*;
    use serde_json::json;
    use shell_output::FrameOrigin;

    fn frame(fields: &Value) -> ToolFrame {
        let mut value = json!({"toolCallId": "c"});
        for (key, field) in fields.as_object().unwrap() {
            value[key] = field.clone();
        }
        ToolFrame::parse(FrameOrigin::Update, &value).unwrap()
    }

    fn applied(kind: MessageKind, frames: &[Value]) -> ToolContent {
        let mut call = CallContent::default();
        for fields in frames {
            call.apply(kind, &frame(fields));
        }
        call.content().clone()
    }

    fn text(text: &str) -> Value {
        json!({"type": "content", "content": {"type": "text", "text": text}})
    }

    fn diff(old: &str, new: &str) -> Value {
        json!({"type": "diff", "path": "/p/a.rs", "oldText": old, "newText": new})
    }

    #[test]
    fn a_diff_stays_when_a_text_about_it_follows() {
        let content = applied(
            MessageKind::ToolEdit,
            &[
                json!({"content": [diff("one\ntwo\n", "one\n2\n")], "rawInput": {"path": "a.rs"}}),
                json!({"content": [text("The file was updated.")], "rawOutput": "ok"}),
                json!({"rawOutput": "ok", "status": "completed"}),
            ],
        );
        let [ContentPart::Diff(diff), ContentPart::Text { text }] = &content.parts[..] else {
            panic!("{content:?}")
        };
        assert_eq!((diff.path.as_str(), diff.added, diff.removed), ("/p/a.rs", 1, 1));
        assert_eq!(text, "The file was updated.");
    }

    #[test]
    fn another_diff_takes_the_place_of_the_first_and_the_same_one_changes_nothing() {
        let mut call = CallContent::default();
        let first = frame(&json!({"content": [diff("", "a\n")]}));
        assert!(call.apply(MessageKind::ToolEdit, &first));
        assert!(!call.apply(MessageKind::ToolEdit, &first));
        let second = frame(&json!({"content": [diff("", "a\nb\n")]}));
        assert!(call.apply(MessageKind::ToolEdit, &second));
        let summary = call.content().summary();
        assert_eq!(summary, Some(ContentSummary { files: 1, added: 2, ..Default::default() }));
    }

    #[test]
    fn a_text_takes_the_place_of_the_text_before_it() {
        let frames = [json!({"content": [text("1")]}), json!({"content": [text("1 2")]})];
        let content = applied(MessageKind::ToolRead, &frames);
        assert_eq!(content.parts, [ContentPart::Text { text: "1 2".into() }]);
    }

    #[test]
    fn a_tool_of_no_known_kind_shows_what_it_was_given() {
        let input = json!({"server": "weather", "arguments": {"city": "Bern"}});
        let content = applied(
            MessageKind::ToolCall,
            &[json!({"rawInput": input}), json!({"rawOutput": {"degrees": 4}})],
        );
        let [ContentPart::Input { text }, ContentPart::Text { text: result }] = &content.parts[..]
        else {
            panic!("{content:?}")
        };
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), input);
        assert_eq!(serde_json::from_str::<Value>(result).unwrap(), json!({"degrees": 4}));
        let read = applied(MessageKind::ToolRead, &[json!({"rawInput": input})]);
        assert_eq!(read, ToolContent::default(), "a read says what it reads in its row");
    }

    #[test]
    fn pictures_resources_and_links_are_told_apart() {
        let block = |content: Value| json!({"type": "content", "content": content});
        let content = applied(
            MessageKind::ToolRead,
            &[json!({"content": [
                block(json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="})),
                block(json!({"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}})),
                block(json!({"type": "resource_link", "uri": "https://example.org/a"})),
                block(json!({"type": "image", "mimeType": "image/svg+xml", "data": "PHN2Zz4="})),
                block(json!({"type": "image", "mimeType": "image/png", "data": "\" onerror=x"})),
                {"type": "terminal", "terminalId": "t"},
            ]})],
        );
        let kinds = content.parts.iter().map(|part| match part {
            ContentPart::Image { mime_type, .. } => mime_type.clone(),
            ContentPart::Text { text } => text.clone(),
            ContentPart::Link { uri } => uri.clone(),
            other => panic!("{other:?}"),
        });
        let words = "A picture of the type image/svg+xml, which is not shown.";
        assert_eq!(
            kinds.collect::<Vec<_>>(),
            [
                "image/png",
                "inside",
                "https://example.org/a",
                words,
                "A picture that cannot be read."
            ]
        );
    }

    #[test]
    fn what_is_kept_of_a_large_content_is_bounded_and_says_so() {
        let long = "long line\n".repeat(CONTENT_LIMIT_BYTES / 5);
        for content in [
            applied(MessageKind::ToolRead, &[json!({"content": [text(&long), text("more")]})]),
            applied(MessageKind::ToolEdit, &[json!({"content": [diff("", &long)]})]),
            applied(MessageKind::ToolCall, &[json!({"rawInput": {"all": long}})]),
            applied(MessageKind::ToolCall, &[json!({"rawOutput": long})]),
        ] {
            assert!(content.truncated);
            let size = serde_json::to_string(&content).unwrap().len();
            assert!(size < CONTENT_LIMIT_BYTES * 7, "{size}");
        }
        let whole = applied(MessageKind::ToolEdit, &[json!({"content": [diff("", &long)]})]);
        let added = whole.summary().unwrap().added;
        assert_eq!(added as usize, CONTENT_LIMIT_BYTES / 5, "lines that are not kept are counted");
    }

    proptest! {
        #[test]
        fn foreign_json_is_never_a_panic(json in "\\PC{0,60}", kind in 0..3usize) {
            let values = [json!(json), json!({"type": json}), json!({"type": "diff", "path": json})];
            let fields = json!({"content": [values[kind]], "rawOutput": values[kind]});
            applied(MessageKind::ToolCall, &[fields]);
        }
    }
}
