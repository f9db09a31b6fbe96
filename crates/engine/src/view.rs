//! Messages as browsers get them: without bodies, and Markdown as HTML.

use model::{Author, MessageKind, MessageView, StoredMessage};

/// What a browser gets of a message.
pub(crate) fn view(message: &StoredMessage) -> MessageView {
    let mut view = message.to_view();
    let is_markdown = message.author == Author::Agent
        && matches!(message.kind, MessageKind::Message | MessageKind::Thinking);
    if is_markdown {
        view.metadata.html = markdown::blocks(&message.content);
    }
    view
}
