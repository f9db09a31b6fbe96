//! What a tool call shows beyond its row: diffs, texts, pictures.
//!
//! Like a command's output it is fetched when somebody opens it; a list has only [`ContentSummary`].

use serde::{Deserialize, Serialize};

/// The most text of one call that is kept, in bytes.
pub const CONTENT_LIMIT_BYTES: usize = 256 * 1024;

/// What a tool call was given and what came of it, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolContent {
    /// The pieces.
    pub parts: Vec<ContentPart>,
    /// Something was left out to stay within [`CONTENT_LIMIT_BYTES`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// One piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentPart {
    /// What the tool was given.
    Input {
        /// JSON, indented.
        text: String,
    },
    /// Text that came of it.
    Text {
        /// As the agent gave it.
        text: String,
    },
    /// What became of a file.
    Diff(FileDiff),
    /// A picture.
    Image {
        /// One of those that a browser may show: PNG, JPEG, GIF or WebP.
        mime_type: String,
        /// Base64.
        data: String,
    },
    /// Something that lies elsewhere.
    Link {
        /// Its address, as the agent gives it.
        uri: String,
    },
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file, as the agent names it.
    pub path: String,
    /// The file was not there before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
    /// Lines that came.
    pub added: u32,
    /// Lines that went.
    pub removed: u32,
    /// Where it changed, in order.
    pub hunks: Vec<Hunk>,
}

/// Lines that changed, with some around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The number of its first line in the old text, from 1; 0 where the old text is empty.
    pub old_start: u32,
    /// The same in the new text.
    pub new_start: u32,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk, without its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// What became of it.
    pub mark: LineMark,
    /// The line.
    pub text: String,
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineMark {
    /// It stayed.
    Context,
    /// It came.
    Added,
    /// It went.
    Removed,
}

/// What a list says about a call's content: everything but the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentSummary {
    /// Files with a diff.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files: u32,
    /// Lines that came.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added: u32,
    /// Lines that went.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub removed: u32,
    /// Pictures.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub images: u32,
    /// Bytes of text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl ToolContent {
    /// What a list says about it; `None` where there is nothing to open.
    pub fn summary(&self) -> Option<ContentSummary> {
        if self.parts.is_empty() {
            return None;
        }
        let mut summary = ContentSummary::default();
        for part in &self.parts {
            match part {
                ContentPart::Input { text }
                | ContentPart::Text { text }
                | ContentPart::Link { uri: text } => {
                    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    summary.bytes = summary.bytes.saturating_add(bytes);
                }
                ContentPart::Diff(diff) => {
                    summary.files += 1;
                    summary.added = summary.added.saturating_add(diff.added);
                    summary.removed = summary.removed.saturating_add(diff.removed);
                }
                ContentPart::Image { .. } => summary.images += 1,
            }
        }
        Some(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_and_has_no_content() {
        let diff = FileDiff {
            path: "src/main.rs".into(),
            is_new: false,
            added: 2,
            removed: 1,
            hunks: Vec::new(),
        };
        let image = ContentPart::Image { mime_type: "image/png".into(), data: "AAAA".into() };
        let content = ToolContent {
            parts: vec![
                ContentPart::Diff(diff.clone()),
                ContentPart::Diff(diff),
                ContentPart::Text { text: "sentinel".into() },
                image,
            ],
            truncated: false,
        };
        let summary = content.summary().unwrap();
        let expected = ContentSummary { files: 2, added: 4, removed: 2, images: 1, bytes: 8 };
        assert_eq!(summary, expected);
        assert!(!serde_json::to_string(&summary).unwrap().contains("sentinel"));
        assert_eq!(ToolContent::default().summary(), None);
    }
}
