//! What a message is shown as.

use model::{Author, ContentSummary, MessageKind, MessageView, ToolStatus};

use super::format;
use crate::icon::Icon;

/// How a message is shown. It may change while the agent makes up its mind about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// What the person asked.
    Prompt,
    /// What the agent answered.
    Answer,
    /// What the agent thought, folded.
    Thinking,
    /// The agent's plan.
    Plan,
    /// A shell command.
    Shell,
    /// Any other tool call.
    Tool(Tool),
    /// The agent asks leave.
    Permission,
    /// A note about the session.
    Note,
    /// Something failed.
    Failure,
}

/// The kinds of tool calls that have a word of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Reads a file.
    Read,
    /// Changes a file.
    Edit,
    /// Searches.
    Search,
    /// Runs something that has not said what yet.
    Run,
    /// Does anything else.
    Other,
}

impl Tool {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Edit => "Edit",
            Self::Search => "Search",
            Self::Run => "Run",
            Self::Other => "Tool",
        }
    }

    /// Its icon.
    pub const fn icon(self) -> Icon {
        match self {
            Self::Read => Icon::File,
            Self::Edit => Icon::Edit,
            Self::Search => Icon::Search,
            Self::Run | Self::Other => Icon::Tool,
        }
    }
}

/// How a message is shown.
pub fn shape(message: &MessageView) -> Shape {
    if message.shell_exec().is_some() {
        return Shape::Shell;
    }
    match message.kind {
        MessageKind::Message if message.author == Author::User => Shape::Prompt,
        MessageKind::Message => Shape::Answer,
        MessageKind::Thinking => Shape::Thinking,
        MessageKind::AgentPlan => Shape::Plan,
        MessageKind::ToolRead => Shape::Tool(Tool::Read),
        MessageKind::ToolEdit => Shape::Tool(Tool::Edit),
        MessageKind::ToolSearch => Shape::Tool(Tool::Search),
        MessageKind::ToolExecute => Shape::Tool(Tool::Run),
        MessageKind::ToolCall => Shape::Tool(Tool::Other),
        MessageKind::PermissionRequest if message.metadata.permission.is_some() => {
            Shape::Permission
        }
        MessageKind::PermissionRequest | MessageKind::Status => Shape::Note,
        MessageKind::Error => Shape::Failure,
    }
}

/// What a tool call is about: the files it names, else its title.
pub fn tool_subject(message: &MessageView) -> String {
    match message.metadata.paths.as_slice() {
        [] => message.content.clone(),
        paths => paths.join("\n"),
    }
}

/// The words for a tool call that did not simply work; none for one that did.
pub const fn tool_remark(status: Option<ToolStatus>) -> Option<&'static str> {
    match status {
        None | Some(ToolStatus::Complete) => None,
        Some(ToolStatus::Pending) => Some("Waiting"),
        Some(ToolStatus::InProgress) => Some("Running"),
        Some(ToolStatus::Error) => Some("Failed"),
        Some(ToolStatus::Cancelled) => Some("Cancelled"),
    }
}

/// How much there is to open, in words; a diff says it in numbers of its own.
pub fn content_words(summary: Option<&ContentSummary>) -> String {
    let Some(summary) = summary else { return String::new() };
    let pictures = match summary.images {
        0 => None,
        1 => Some("1 picture".to_owned()),
        images => Some(format!("{images} pictures")),
    };
    let has_text = summary.bytes > 0 && summary.files == 0;
    let text = has_text.then(|| format::size(summary.bytes.into()));
    let words: Vec<_> = pictures.into_iter().chain(text).collect();
    words.join(" \u{b7} ")
}

/// What opens, for a screen reader.
pub fn content_label(tool: Tool, subject: &str, summary: Option<&ContentSummary>) -> String {
    let words = content_words(summary);
    match summary {
        Some(ContentSummary { files: 1.., added, removed, .. }) => {
            format!("Changes of {subject}: {added} added, {removed} removed {words}")
        }
        _ => format!("{} {subject}: {words}", tool.word()),
    }
    .trim_end()
    .to_owned()
}

/// The steps of a plan that are done, and all of them: `2 of 5`.
pub fn plan_progress(message: &MessageView) -> String {
    let plan = &message.metadata.plan;
    let done = plan.iter().filter(|entry| entry.status == "completed").count();
    format!("{done} of {}", plan.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::{Message, OutputSummary, PlanEntry};

    #[test]
    fn a_prompt_and_an_answer_are_told_apart_by_their_author() {
        let answer = samples::message(1, "x");
        assert_eq!(shape(&answer), Shape::Answer);
        assert_eq!(shape(&Message { author: Author::User, ..answer }), Shape::Prompt);
    }

    #[test]
    fn s_040_a_command_is_a_shell_row_whatever_kind_the_call_has() {
        let mut message = samples::shell(ToolStatus::Complete, OutputSummary::default());
        assert_eq!(shape(&message), Shape::Shell);
        message.kind = MessageKind::ToolCall;
        assert_eq!(shape(&message), Shape::Shell);
        message.metadata.normalized = None;
        assert_eq!(shape(&message), Shape::Tool(Tool::Other));
    }

    #[test]
    fn a_tool_call_shows_its_files_else_its_title() {
        let mut message = samples::message(1, "Read two files");
        assert_eq!(tool_subject(&message), "Read two files");
        message.metadata.paths = vec!["a.rs".into(), "b.rs".into()];
        assert_eq!(tool_subject(&message), "a.rs\nb.rs");
    }

    #[test]
    fn a_call_says_how_much_there_is_to_open() {
        let diff = ContentSummary { files: 1, added: 3, removed: 1, bytes: 40, images: 0 };
        assert_eq!(content_words(Some(&diff)), "", "the lines are counted beside it");
        let label = content_label(Tool::Edit, "a.rs", Some(&diff));
        assert_eq!(label, "Changes of a.rs: 3 added, 1 removed");
        let read = ContentSummary { images: 2, bytes: 1434, ..ContentSummary::default() };
        assert_eq!(content_words(Some(&read)), "2 pictures \u{b7} 1.4 KiB");
        assert_eq!(
            content_label(Tool::Read, "a", Some(&read)),
            "Read a: 2 pictures \u{b7} 1.4 KiB"
        );
        assert_eq!(content_words(None), "");
    }

    #[test]
    fn k_041_a_plan_says_how_far_it_is() {
        let mut message = samples::message(1, "");
        let entry = |status: &str| PlanEntry { content: "x".into(), status: status.into() };
        message.metadata.plan = vec![entry("completed"), entry("in_progress"), entry("pending")];
        assert_eq!(plan_progress(&message), "1 of 3");
    }
}
