//! The icons: symbols of one SVG sprite, which the page loads once.

use leptos::prelude::*;

use crate::Assets;

/// A symbol of the sprite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Not started.
    Queued,
    /// At work.
    Running,
    /// Ended well.
    Done,
    /// Needs the person now.
    Waiting,
    /// Needs the person when they like.
    Review,
    /// Ended by a failure.
    Failed,
    /// Was ended.
    Stopped,
    /// Ended, nobody knows how.
    Unknown,
    /// Kandev.
    Mark,
    /// Make a new one.
    Plus,
    /// Close.
    Close,
    /// Opens to the right; turned when open.
    Chevron,
    /// Further down.
    Down,
    /// Where one came from.
    Back,
    /// A menu.
    More,
    /// An agent that chats.
    Chat,
    /// A folder.
    Folder,
    /// A file that is read.
    File,
    /// A file that is changed.
    Edit,
    /// A search.
    Search,
    /// A plan.
    Plan,
    /// Any other tool.
    Tool,
    /// Send.
    Send,
    /// Stop.
    Stop,
    /// Again.
    Retry,
    /// A key.
    Key,
    /// No connection.
    Offline,
    /// Copy.
    Copy,
}

impl Icon {
    /// The id of its symbol.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Review => "review",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Unknown => "unknown",
            Self::Mark => "mark",
            Self::Plus => "plus",
            Self::Close => "close",
            Self::Chevron => "chevron",
            Self::Down => "down",
            Self::Back => "back",
            Self::More => "more",
            Self::Chat => "chat",
            Self::Folder => "folder",
            Self::File => "file",
            Self::Edit => "edit",
            Self::Search => "search",
            Self::Plan => "plan",
            Self::Tool => "tool",
            Self::Send => "send",
            Self::Stop => "stop",
            Self::Retry => "retry",
            Self::Key => "key",
            Self::Offline => "offline",
            Self::Copy => "copy",
        }
    }

    fn href(self) -> String {
        let sheet = use_context::<Assets>().unwrap_or_default().icons;
        format!("{sheet}#{}", self.symbol())
    }
}

/// An icon beside words that say the same.
pub fn icon(icon: Icon) -> AnyView {
    let href = icon.href();
    view! { <svg class="icon" aria-hidden="true"><use href=href /></svg> }.into_any()
}

/// An icon that stands alone; `class` beside `icon`.
pub fn named_icon(icon: Icon, class: &'static str, label: &'static str) -> AnyView {
    let (href, class) = (icon.href(), format!("icon {class}"));
    view! { <svg class=class role="img" aria-label=label><use href=href /></svg> }.into_any()
}

/// An icon without words beside it that matters to nobody who cannot see it.
pub fn plain_icon(icon: Icon, class: &'static str) -> AnyView {
    let (href, class) = (icon.href(), format!("icon {class}"));
    view! { <svg class=class aria-hidden="true"><use href=href /></svg> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_icon_is_in_the_sprite() {
        let sprite = include_str!("../../style/icons.svg");
        for icon in [
            Icon::Queued,
            Icon::Running,
            Icon::Done,
            Icon::Waiting,
            Icon::Review,
            Icon::Failed,
            Icon::Stopped,
            Icon::Unknown,
            Icon::Mark,
            Icon::Plus,
            Icon::Close,
            Icon::Chevron,
            Icon::Down,
            Icon::Back,
            Icon::More,
            Icon::Chat,
            Icon::Folder,
            Icon::File,
            Icon::Edit,
            Icon::Search,
            Icon::Plan,
            Icon::Tool,
            Icon::Send,
            Icon::Stop,
            Icon::Retry,
            Icon::Key,
            Icon::Offline,
            Icon::Copy,
        ] {
            assert!(sprite.contains(&format!("id=\"{}\"", icon.symbol())), "{icon:?}");
        }
    }
}
