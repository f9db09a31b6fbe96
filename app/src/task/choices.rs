//! What can be chosen of an agent: its mode, its model and the like; and how full its context is
//! (K-042).

use leptos::{html, prelude::*};
use model::{AgentOption, Offers, OptionKind, SessionId, Usage, wire::Request};

use crate::{context::Act, controls::Problem, dynamic::part, state::session::LiveSession};

/// The agent's options, each as a field that shows what is chosen.
#[component]
pub fn Choices(live: Memo<Option<LiveSession>>) -> impl IntoView {
    let offers = Memo::new(move |_| {
        let view = live.get().and_then(|session| session.view.get());
        view.map(|view| view.offers).unwrap_or_default()
    });
    let session_id = Memo::new(move |_| live.get().map(|session| session.id));
    let usage = Memo::new(move |_| offers.with(|offers| offers.usage.and_then(share)));
    view! {
        <For
            each=move || offers.with(|offers| offers.options.clone())
            key=|option| (option.kind as u8, option.id.clone(), option.choices.len())
            children=move |option| view! { <ChoiceField option offers session_id /> }
        />
        {part(move || {
            usage.get().map(|text| view! { <span class="tag" title="Of the model's context">{text}</span> })
        })}
    }
}

/// How much of the context is used, in words.
fn share(usage: Usage) -> Option<String> {
    let percent = usage.used.saturating_mul(100).checked_div(usage.size)?;
    Some(format!("Context {percent} %"))
}

#[component]
fn ChoiceField(
    option: AgentOption,
    offers: Memo<Offers>,
    session_id: Memo<Option<SessionId>>,
) -> impl IntoView {
    let AgentOption { kind, id, name, value, choices } = option;
    let chosen = {
        let id = id.clone();
        Memo::new(move |_| {
            let known = offers.with(|offers| offers.option(kind, &id).map(|it| it.value.clone()));
            known.unwrap_or_else(|| value.clone())
        })
    };
    let field = NodeRef::<html::Select>::new();
    let act = Act::new();
    // What the agent did not take is not shown as chosen.
    Effect::new(move |_| {
        let is_settled = !act.is_pending.get();
        let value = chosen.get();
        if let Some(field) = field.get().filter(|_| is_settled) {
            field.set_value(&value);
        }
    });
    let choose = move |event| choose(act, session_id, kind, &id, event_target_value(&event));
    let options = choices.into_iter().map(|choice| {
        let value = choice.value.clone();
        view! {
            <option value=choice.value selected=move || chosen.with(|chosen| *chosen == value)>
                {choice.name}
            </option>
        }
    });
    view! {
        <span class="pick">
            <select
                class="pick__field"
                aria-label=name
                node_ref=field
                disabled=move || act.is_pending.get()
                on:change=choose
            >
                {options.collect_view()}
            </select>
            <Problem text=act.error />
        </span>
    }
}

fn choose(
    act: Act,
    session_id: Memo<Option<SessionId>>,
    kind: OptionKind,
    id: &str,
    value: String,
) {
    if let Some(session_id) = session_id.get_untracked() {
        act.send(Request::OptionSet { session_id, kind, id: id.to_owned(), value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_context_is_a_whole_number() {
        assert_eq!(share(Usage { used: 33, size: 128 }).as_deref(), Some("Context 25 %"));
        assert_eq!(share(Usage { used: 1, size: 0 }), None);
    }
}
