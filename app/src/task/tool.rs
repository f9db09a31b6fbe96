//! The row of a tool call that is no shell command: what it is about, how it stands, and what it has
//! to show, fetched when it is opened.

use futures::future::AbortHandle;
use leptos::prelude::*;
use model::{ContentPart, ContentSummary, FileDiff, Hunk, LineMark, MessageView, ToolContent};

use crate::{
    browser::{self, FetchError},
    dynamic::part,
    icon::{Icon, icon},
    state::{
        clean::clean,
        diff::{Run, runs},
        message::{Tool, content_label, content_words, tool_remark, tool_subject},
        output::Trouble,
    },
};

/// The row of a tool call.
#[component]
pub fn ToolRow(message: RwSignal<MessageView>, tool: Tool) -> impl IntoView {
    let remark = Memo::new(move |_| message.with(|message| tool_remark(message.metadata.status)));
    let summary = Memo::new(move |_| message.with(|message| message.metadata.content.clone()));
    let has_content = Memo::new(move |_| summary.with(Option::is_some));
    let content = Content::new(message, summary);
    let region = format!("content-{}", message.with_untracked(|message| message.id));
    let controls = region.clone();
    let toggle = part(move || {
        let controls = controls.clone();
        has_content.get().then(|| view! { <Toggle message tool summary content controls /> })
    });
    view! {
        <div class="work">
            <div class="tool">
                {icon(tool.icon())} <span>{tool.word()}</span>
                <code>{part(move || message.with(tool_subject))}</code>
                {part(move || remark.get().map(|text| view! { <span class="muted">{text}</span> }))}
                {toggle}
            </div>
            {part(move || {
                content.is_open.get().then(|| view! { <Region content id=region.clone() /> })
            })}
        </div>
    }
}

/// How much there is, and the way to see it.
#[component]
fn Toggle(
    message: RwSignal<MessageView>,
    tool: Tool,
    summary: Memo<Option<ContentSummary>>,
    content: Content,
    controls: String,
) -> impl IntoView {
    let label = move || {
        let subject = message.with(tool_subject);
        summary.with(|summary| content_label(tool, &subject, summary.as_ref()))
    };
    let stat = part(move || {
        let summary = summary.get().unwrap_or_default();
        (summary.files > 0).then(|| {
            view! {
                <span class="stat">
                    <ins>{format!("+{}", summary.added)}</ins>
                    <del>{format!("\u{2212}{}", summary.removed)}</del>
                </span>
            }
        })
    });
    let words = part(move || summary.with(|summary| content_words(summary.as_ref())));
    view! {
        <button
            class="tool__toggle"
            type="button"
            aria-expanded=move || content.is_open.get().to_string()
            aria-controls=controls
            aria-label=label
            on:click=move |_| content.toggle()
        >
            {stat}
            {words}
            {icon(Icon::Chevron)}
        </button>
    }
}

/// What a call has to show, while it is open. All of it ends when its row does.
#[derive(Clone, Copy)]
struct Content {
    message: RwSignal<MessageView>,
    is_open: RwSignal<bool>,
    shown: RwSignal<Option<ToolContent>>,
    trouble: RwSignal<Option<Trouble>>,
    request: StoredValue<Option<AbortHandle>>,
}

impl Content {
    /// Follows the summary: what is open is fetched again when it says something else.
    fn new(message: RwSignal<MessageView>, summary: Memo<Option<ContentSummary>>) -> Self {
        let content = Self {
            message,
            is_open: RwSignal::new(false),
            shown: RwSignal::new(None),
            trouble: RwSignal::new(None),
            request: StoredValue::new(None),
        };
        Effect::new(move |_| {
            summary.track();
            if content.is_open.get() {
                content.fetch();
            } else {
                content.abort();
            }
        });
        on_cleanup(move || content.abort());
        content
    }

    fn toggle(self) {
        let opens = !self.is_open.get_untracked();
        self.shown.set(None);
        self.trouble.set(None);
        self.is_open.set(opens);
    }

    fn fetch(self) {
        self.abort();
        let (session_id, id) =
            self.message.with_untracked(|message| (message.session_id, message.id));
        let path = format!("/api/v1/task-sessions/{session_id}/messages/{id}/content");
        let request = browser::spawn_abortable(async move {
            match browser::get::<ToolContent>(&path).await {
                Ok(content) => {
                    self.trouble.try_set(None);
                    self.shown.try_set(Some(content));
                }
                Err(error) => drop(self.trouble.try_set(Some(trouble(&error)))),
            }
        });
        self.request.try_set_value(Some(request));
    }

    fn abort(self) {
        if let Some(Some(request)) = self.request.try_update_value(Option::take) {
            request.abort();
        }
    }
}

fn trouble(error: &FetchError) -> Trouble {
    if error.is_not_found() { Trouble::Gone } else { Trouble::Unavailable }
}

#[component]
fn Region(content: Content, id: String) -> impl IntoView {
    let label = content.message.with_untracked(tool_subject);
    let note = part(move || {
        let has_older = content.shown.with(Option::is_some);
        match content.trouble.get() {
            Some(trouble) => Some(trouble_note(content, trouble, has_older)),
            None if has_older => None,
            None => {
                Some(view! { <p class="tool__note" role="status">"Loading\u{2026}"</p> }.into_any())
            }
        }
    });
    let parts = part(move || content.shown.with(|shown| shown.as_ref().map(shown_parts)));
    view! {
        <div class="tool__content" id=id role="region" aria-label=label tabindex="0">
            {note}
            {parts}
        </div>
    }
}

fn trouble_note(content: Content, trouble: Trouble, has_older: bool) -> AnyView {
    let retry = (trouble == Trouble::Unavailable).then(|| {
        view! {
            <button
                class="button"
                type="button"
                data-variant="quiet"
                on:click=move |_| content.fetch()
            >
                {icon(Icon::Retry)}
                "Retry"
            </button>
        }
    });
    view! {
        <p class="tool__note" role="status">
            {icon(Icon::Offline)}
            {trouble.content_words(has_older)}
            {retry}
        </p>
    }
    .into_any()
}

fn shown_parts(content: &ToolContent) -> AnyView {
    let has_input = matches!(content.parts.first(), Some(ContentPart::Input { .. }));
    let is_alone = content.parts.len() == 1;
    let shown = |part: &ContentPart| match part {
        // The row has named the file.
        ContentPart::Diff(diff) if is_alone && !diff.is_new => shown_diff(diff),
        part => shown_part(part, has_input),
    };
    let parts = content.parts.iter().map(shown).collect_view();
    let cut = content.truncated.then(|| {
        view! { <p class="tool__note">"Not everything was kept: the rest was dropped."</p> }
    });
    view! {
        {parts}
        {cut}
    }
    .into_any()
}

fn shown_part(part: &ContentPart, has_input: bool) -> AnyView {
    match part {
        ContentPart::Input { text } => headed("Input", text),
        ContentPart::Text { text } if has_input => headed("Result", text),
        ContentPart::Text { text } => {
            view! { <pre class="tool__text">{clean(text)}</pre> }.into_any()
        }
        ContentPart::Diff(diff) => view! {
            <h3 class="tool__heading">
                <span class="mono">{diff.path.clone()}</span>
                {diff.is_new.then_some(" (new)")}
            </h3>
            {shown_diff(diff)}
        }
        .into_any(),
        ContentPart::Image { mime_type, data } => {
            let address = format!("data:{mime_type};base64,{data}");
            view! { <img class="tool__picture" src=address alt="Picture from the agent" /> }
                .into_any()
        }
        ContentPart::Link { uri } => shown_link(uri),
    }
}

fn headed(heading: &'static str, text: &str) -> AnyView {
    view! {
        <h3 class="tool__heading">{heading}</h3>
        <pre class="tool__text">{clean(text)}</pre>
    }
    .into_any()
}

/// Only what opens a page of the web is a link; anything else is its address.
fn shown_link(uri: &str) -> AnyView {
    let is_web = uri.starts_with("https://") || uri.starts_with("http://");
    let text = uri.to_owned();
    if is_web {
        let address = text.clone();
        view! {
            <p class="tool__link">
                <a href=address target="_blank" rel="noopener noreferrer">
                    {text}
                </a>
            </p>
        }
        .into_any()
    } else {
        view! {
            <p class="tool__link">
                <code>{text}</code>
            </p>
        }
        .into_any()
    }
}

fn shown_diff(diff: &FileDiff) -> AnyView {
    let label = format!("Changes in {}", diff.path);
    let hunks = diff.hunks.iter().map(shown_hunk).collect_view();
    view! {
        <div class="diff" role="group" aria-label=label>
            {hunks}
        </div>
    }
    .into_any()
}

/// Lines of one kind that follow each other are one element: a large diff stays a small document.
fn shown_hunk(hunk: &Hunk) -> AnyView {
    let runs = runs(hunk).into_iter().map(|run| {
        let Run { mark, numbers, text } = run;
        let (kind, lines) = match mark {
            LineMark::Context => ("same", view! { <code>{text}</code> }.into_any()),
            LineMark::Added => ("add", view! { <ins>{text}</ins> }.into_any()),
            LineMark::Removed => ("del", view! { <del>{text}</del> }.into_any()),
        };
        view! {
            <div class="diff__run" data-kind=kind>
                <span class="diff__no" aria-hidden="true">
                    {numbers}
                </span>
                {lines}
            </div>
        }
    });
    view! { <div class="diff__hunk">{runs.collect_view()}</div> }.into_any()
}
