//! A permission request in the chat: what is asked, the answers, and what became of it.

use leptos::prelude::*;
use model::{MessageView, PermissionAnswer, PermissionOption, PermissionRequest, wire::Request};

use super::composer::FIELD;
use crate::{
    browser,
    context::Act,
    controls::{Notice, Problem},
    dynamic::part,
    icon::{Icon, icon},
};

/// A permission request.
#[component]
pub fn Permission(message: RwSignal<MessageView>, agent: Memo<Option<String>>) -> impl IntoView {
    let request = Memo::new(move |_| message.with(|message| message.metadata.permission.clone()));
    part(move || {
        request.get().map(|request| match request.answer.clone() {
            None => view! { <Open message request agent /> }.into_any(),
            Some(answer) => answered(&request, &answer),
        })
    })
}

#[component]
fn Open(
    message: RwSignal<MessageView>,
    request: PermissionRequest,
    agent: Memo<Option<String>>,
) -> impl IntoView {
    let act = Act::new();
    let (session_id, message_id) =
        message.with_untracked(|message| (message.session_id, message.id));
    let respond = move |option_id: String| {
        let request = Request::PermissionRespond { session_id, message_id, option_id };
        act.send_then(request, || browser::focus(FIELD));
    };
    let title_id = format!("ask-{message_id}");
    let asks = if request.is_command { "asks to run a command" } else { "asks for your leave" };
    let title = part(move || {
        let agent = agent.get();
        format!("{} {asks}", agent.as_deref().unwrap_or("The agent"))
    });
    let first_allow = request.options.iter().position(PermissionOption::allows);
    let buttons = request.options.into_iter().enumerate().map(move |(at, option)| {
        let variant = match (first_allow == Some(at), option.allows()) {
            (true, _) => Some("primary"),
            (false, true) => None,
            (false, false) => Some("danger"),
        };
        view! {
            <button
                class="button"
                type="button"
                data-variant=variant
                disabled=move || act.is_pending.get()
                on:click=move |_| respond(option.id.clone())
            >
                {option.name}
            </button>
        }
    });
    view! {
        <section class="ask" data-state="waiting" role="group" aria-labelledby=title_id.clone()>
            <h2 class="ask__title" id=title_id.clone()>
                {icon(Icon::Waiting)}
                {title}
            </h2>
            <pre class="ask__what">{request.subject}</pre>
            <p class="button-row">{buttons.collect_view()}</p>
            <Problem text=act.error />
        </section>
    }
}

fn answered(request: &PermissionRequest, answer: &PermissionAnswer) -> AnyView {
    let (mark, text) = match answer {
        PermissionAnswer::Selected { option_id } => {
            let option = request.options.iter().find(|option| option.id == *option_id);
            let name = option.map_or(option_id.as_str(), |option| option.name.as_str());
            let allowed = option.is_some_and(PermissionOption::allows);
            let mark = if allowed { Icon::Done } else { Icon::Stopped };
            (mark, format!("You answered \u{201c}{name}\u{201d}:"))
        }
        PermissionAnswer::Cancelled => {
            (Icon::Stopped, "The turn was stopped before you answered:".to_owned())
        }
        PermissionAnswer::Void => {
            (Icon::Stopped, "This request is void. Its agent ended before you answered:".to_owned())
        }
    };
    let subject = request.subject.clone();
    let what = ViewFn::from(move || view! { <code class="notice__what">{subject.clone()}</code> });
    view! { <Notice mark text act=what /> }.into_any()
}
