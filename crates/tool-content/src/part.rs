//! Pieces of content out of foreign JSON, within a budget.

use model::{CONTENT_LIMIT_BYTES, ContentPart};
use serde_json::Value;

use crate::diff::file_diff;

/// The most of all pictures of one call, in bytes of base64.
const IMAGE_LIMIT_BYTES: usize = 2 << 20; // 2 MiB
/// The most pieces of one call.
const PARTS: usize = 100;
/// Pictures that any browser draws and that run nothing.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What may still be kept.
#[derive(Debug)]
pub(crate) struct Budget {
    text: usize,
    images: usize,
    is_exceeded: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { text: CONTENT_LIMIT_BYTES, images: IMAGE_LIMIT_BYTES, is_exceeded: false }
    }
}

impl Budget {
    /// Whether something was left out.
    pub(crate) const fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }

    /// As much of a text as there is room for.
    pub(crate) fn take<'a>(&mut self, text: &'a str) -> &'a str {
        let end = text.floor_char_boundary(self.text);
        self.text -= end;
        self.is_exceeded |= end < text.len();
        &text[..end]
    }

    /// Whether there is no room for any text.
    pub(crate) const fn is_spent(&self) -> bool {
        self.text == 0
    }

    /// Something is left out.
    pub(crate) const fn exceed(&mut self) {
        self.is_exceeded = true;
    }

    fn takes_image(&mut self, data: &str) -> bool {
        let rest = self.images.checked_sub(data.len());
        self.images = rest.unwrap_or(self.images);
        rest.is_some()
    }
}

/// What a tool was given; `None` for nothing.
pub(crate) fn input(input: &Value, budget: &mut Budget) -> Option<ContentPart> {
    let text = readable(input)?;
    Some(ContentPart::Input { text: budget.take(&text).to_owned() })
}

/// What came of a tool, in its own form.
pub(crate) fn raw_output(output: &Value, budget: &mut Budget) -> Option<ContentPart> {
    let inner = ["output", "content", "text"].iter().find_map(|key| output.get(key)?.as_str());
    let text = match inner {
        Some(text) => Some(text.to_owned()).filter(|text| !text.is_empty()),
        None => readable(output),
    };
    text_part(&text?, budget)
}

/// The pieces of a `content` list.
pub(crate) fn of_items(items: &[Value], budget: &mut Budget) -> Vec<ContentPart> {
    let mut parts = Vec::new();
    for item in items {
        if parts.len() == PARTS {
            budget.exceed();
            break;
        }
        parts.extend(of_item(item, budget));
    }
    parts
}

fn of_item(item: &Value, budget: &mut Budget) -> Option<ContentPart> {
    match text_field(item, "type")? {
        "content" => of_block(item.get("content")?, budget),
        "diff" => {
            let path = text_field(item, "path")?;
            let old = text_field(item, "oldText");
            let new = text_field(item, "newText").unwrap_or_default();
            Some(ContentPart::Diff(file_diff(path, old, new, budget)))
        }
        "terminal" => None,
        _ => of_block(item, budget),
    }
}

/// A block of text, a picture, a resource or a link.
fn of_block(block: &Value, budget: &mut Budget) -> Option<ContentPart> {
    match text_field(block, "type")? {
        "text" => text_part(text_field(block, "text")?, budget),
        "image" => Some(image(block, budget)),
        "audio" => text_part("A sound, which is not played.", budget),
        "resource_link" => {
            let uri = budget.take(text_field(block, "uri")?).to_owned();
            Some(ContentPart::Link { uri })
        }
        "resource" => {
            let resource = block.get("resource")?;
            match text_field(resource, "text") {
                Some(text) => text_part(text, budget),
                None => Some(ContentPart::Link {
                    uri: budget.take(text_field(resource, "uri")?).to_owned(),
                }),
            }
        }
        _ => None,
    }
}

fn image(block: &Value, budget: &mut Budget) -> ContentPart {
    let mime_type = text_field(block, "mimeType").unwrap_or_default();
    let data = text_field(block, "data").unwrap_or_default();
    let problem = if !IMAGE_TYPES.contains(&mime_type) {
        let named = mime_type.get(..40).unwrap_or(mime_type);
        format!("A picture of the type {named}, which is not shown.")
    } else if data.is_empty() || !data.bytes().all(is_base64) {
        "A picture that cannot be read.".to_owned()
    } else if !budget.takes_image(data) {
        "A picture that is too large to be kept.".to_owned()
    } else {
        return ContentPart::Image { mime_type: mime_type.to_owned(), data: data.to_owned() };
    };
    ContentPart::Text { text: problem }
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn text_part(text: &str, budget: &mut Budget) -> Option<ContentPart> {
    let text = budget.take(text);
    (!text.is_empty()).then(|| ContentPart::Text { text: text.to_owned() })
}

fn text_field<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// JSON as a person reads it; `None` for what says nothing.
fn readable(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Object(fields) if fields.is_empty() => None,
        Value::Array(items) if items.is_empty() => None,
        other => serde_json::to_string_pretty(other).ok(),
    }
}
