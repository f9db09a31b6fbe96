//! One message of the chat.

use leptos::{html, prelude::*};
use model::{MessageId, MessageView, PlanEntry, Timestamp};

use super::{permission::Permission, shell::ShellRow, tool::ToolRow};
use crate::{
    context::shared,
    controls::{Age, CopyButton},
    dynamic::part,
    icon::{Icon, icon, named_icon},
    state::{
        format,
        message::{Shape, plan_progress, shape},
        rows::Row,
    },
};

/// What rows show of their session.
#[derive(Clone, Copy)]
pub struct SessionFacts {
    pub agent: Memo<Option<String>>,
    /// The row that the agent is still writing.
    pub streaming: Memo<Option<u64>>,
    /// Commands that were cancelled and run on.
    pub survivors: Memo<Vec<MessageId>>,
}

/// A message, shown as what it is. A change of it changes what differs, nothing more.
#[component]
pub fn MessageRow(row: Row<MessageView>, session: SessionFacts) -> impl IntoView {
    let SessionFacts { agent, streaming, survivors } = session;
    let message = RwSignal::from(row.record);
    let key = row.key;
    let shape = Memo::new(move |_| message.with(shape));
    part(move || match shape.get() {
        Shape::Prompt => view! { <Prompt message /> }.into_any(),
        Shape::Answer => {
            let is_streaming = Memo::new(move |_| streaming.get() == Some(key));
            view! { <Answer message agent is_streaming /> }.into_any()
        }
        Shape::Thinking => view! { <Thinking message /> }.into_any(),
        Shape::Plan => view! { <Plan message /> }.into_any(),
        Shape::Shell => view! { <ShellRow message survivors /> }.into_any(),
        Shape::Tool(tool) => view! { <ToolRow message tool /> }.into_any(),
        Shape::Permission => view! { <Permission message agent /> }.into_any(),
        Shape::Note => view! { <p class="divider">{content(message)}</p> }.into_any(),
        Shape::Failure => view! { <Failure message /> }.into_any(),
    })
}

/// The message's text as it is now.
fn content(message: RwSignal<MessageView>) -> impl Fn() -> String + Copy + Send + 'static {
    move || message.with(|message| message.content.clone())
}

/// When the message was made: this never changes.
fn made_at(message: RwSignal<MessageView>) -> Timestamp {
    message.with_untracked(|message| message.created_at)
}

#[component]
fn Prompt(message: RwSignal<MessageView>) -> impl IntoView {
    view! {
        <article class="msg" data-from="you">
            <header class="msg__head">
                <strong>"You"</strong>
                <Age at=made_at(message) />
            </header>
            <div class="msg__body prose plain">{content(message)}</div>
        </article>
    }
}

#[component]
fn Answer(
    message: RwSignal<MessageView>,
    agent: Memo<Option<String>>,
    is_streaming: Memo<bool>,
) -> impl IntoView {
    view! {
        <article
            class="msg"
            data-from="agent"
            aria-busy=move || is_streaming.get().then_some("true")
        >
            <header class="msg__head">
                <strong>{part(move || agent.get().unwrap_or_else(|| "Agent".to_owned()))}</strong>
                <Age at=made_at(message) />
            </header>
            <Prose message is_streaming />
        </article>
    }
}

/// What the agent wrote, block by block, so that a text that grows leaves its earlier blocks alone:
/// what is marked in them stays marked.
#[component]
fn Prose(message: RwSignal<MessageView>, is_streaming: Memo<bool>) -> impl IntoView {
    let count = Memo::new(move |_| message.with(|message| message.metadata.html.len()));
    view! {
        <div class="prose">
            <For
                each=move || 0..count.get()
                key=|at| *at
                children=move |at| {
                    let is_streaming =
                        Memo::new(move |_| is_streaming.get() && at + 1 == count.get());
                    view! { <Block message at is_streaming /> }
                }
            />
        </div>
    }
}

/// One block. Code can be copied.
#[component]
fn Block(message: RwSignal<MessageView>, at: usize, is_streaming: Memo<bool>) -> impl IntoView {
    let html = Memo::new(move |_| {
        message.with(|message| message.metadata.html.get(at).cloned()).unwrap_or_default()
    });
    let is_code = Memo::new(move |_| html.with(|html| html.starts_with("<pre")));
    let block = NodeRef::<html::Div>::new();
    // Without its last line end, which would run a command as soon as it is pasted.
    let text = move |()| {
        let code = block.get_untracked().and_then(|block| block.text_content());
        code.map(|code| code.trim_end().to_owned()).unwrap_or_default()
    };
    let copy = part(move || is_code.get().then(|| view! { <CopyButton label="Copy code" text /> }));
    view! {
        <div class="prose__frame">
            {copy}
            <div
                class="prose__block"
                data-state=move || is_streaming.get().then_some("streaming")
                node_ref=block
                inner_html=move || html.get()
            ></div>
        </div>
    }
}

#[component]
fn Thinking(message: RwSignal<MessageView>) -> impl IntoView {
    let took = Memo::new(move |_| {
        message.with(|message| message.updated_at.seconds_since(message.created_at))
    });
    let words = part(move || match took.get() {
        0 => "Thought".to_owned(),
        seconds => format!("Thought for {}", format::duration(seconds)),
    });
    view! {
        <details class="fold">
            <summary>{icon(Icon::Chevron)} {words}</summary>
            <div class="fold__body">
                <Prose message is_streaming=Memo::new(|_| false) />
            </div>
        </details>
    }
}

#[component]
fn Plan(message: RwSignal<MessageView>) -> impl IntoView {
    let steps =
        move || message.with(|message| message.metadata.plan.iter().map(plan_step).collect_view());
    view! {
        <section class="work" data-apart="" aria-label="Plan">
            <div class="tool">
                {icon(Icon::Plan)}
                <span class="grow">"Plan"</span>
                <span class="muted">{part(move || message.with(plan_progress))}</span>
            </div>
            <ol class="steps">{steps}</ol>
        </section>
    }
}

fn plan_step(entry: &PlanEntry) -> AnyView {
    let (state, mark, label) = match entry.status.as_str() {
        "completed" => ("done", Icon::Done, "Done"),
        "in_progress" => ("running", Icon::Running, "In progress"),
        _ => ("queued", Icon::Queued, "Open"),
    };
    view! {
        <li data-state=state>
            {named_icon(mark, "", label)}
            <span>{entry.content.clone()}</span>
        </li>
    }
    .into_any()
}

#[component]
fn Failure(message: RwSignal<MessageView>) -> impl IntoView {
    let clock = shared().clock;
    let at = made_at(message);
    view! {
        <section class="ask" data-state="failed">
            <h2 class="ask__title">
                {icon(Icon::Failed)}
                "The turn failed"
                <span class="muted">{part(move || clock.age(at))}</span>
            </h2>
            <p class="plain">{content(message)}</p>
        </section>
    }
}
