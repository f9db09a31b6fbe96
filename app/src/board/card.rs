//! A task's card: its state, its agent, what it does now, and the answer it waits for.

use leptos::prelude::*;
use leptos_router::components::A;
use model::{TaskCard, wire::Request};

use super::menu::TaskMenu;
use crate::{
    context::Act,
    controls::{Age, Problem, card_signal},
    dynamic::part,
    icon::{Icon, icon},
    state::{
        card::{CardState, card_state},
        rows::Row,
    },
};

/// A task's card.
#[component]
pub fn Card(row: Row<TaskCard>) -> impl IntoView {
    let card = RwSignal::from(row.record);
    let state = Memo::new(move |_| card.with(card_state));
    let folder = Memo::new(move |_| card.with(|card| card.folder.clone()));
    let href = format!("/tasks/{}", row.key);
    view! {
        <article class="card" data-state=move || state.get().name()>
            <h3 class="card__title">
                {part(move || card_signal(state.get()))}
                <A href=href attr:class="card__link">
                    {part(move || card.with(|card| card.title.clone()))}
                </A>
            </h3>
            <TaskMenu card class="card__menu" />
            <Activity card state />
            <p class="card__meta">
                <span class="tag">
                    {icon(Icon::Chat)} {part(move || card.with(|card| card.agent_name.clone()))}
                </span>
                <span class="tag card__folder" title=move || folder.get()>
                    {icon(Icon::Folder)}
                    <span class="ellipsis">{part(move || folder.with(|path| last_part(path).to_owned()))}</span>
                </span>
                <span class="card__age">
                    <Age at=Signal::derive(move || card.with(|card| card.updated_at)) />
                </span>
            </p>
            <Ask card />
            <Failure card state />
        </article>
    }
}

/// The last part of a path: what tells folders apart at a glance.
fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|part| !part.is_empty()).unwrap_or(path)
}

/// What a running agent does right now.
#[component]
fn Activity(card: RwSignal<TaskCard>, state: Memo<CardState>) -> impl IntoView {
    let activity = Memo::new(move |_| {
        let is_running = state.get() == CardState::Running;
        card.with(|card| card.session.as_ref()?.activity.clone()).filter(|_| is_running)
    });
    part(move || activity.get().map(|text| view! { <p class="card__now"><span>{text}</span></p> }))
}

/// What the agent asks leave for, with its answers.
#[component]
fn Ask(card: RwSignal<TaskCard>) -> impl IntoView {
    let ask = Memo::new(move |_| {
        card.with(|card| {
            let session = card.session.as_ref()?;
            let (message_id, request) = session.ask.clone()?;
            Some((session.id, message_id, request))
        })
    });
    part(move || {
        ask.get().map(|(session_id, message_id, request)| {
            let act = Act::new();
            let answer = move |option_id: String| {
                act.send(Request::PermissionRespond { session_id, message_id, option_id });
            };
            let buttons = request.options.into_iter().map(|option| {
                let id = option.id;
                view! {
                    <button
                        class="button"
                        type="button"
                        disabled=move || act.is_pending.get()
                        on:click=move |_| answer(id.clone())
                    >
                        {option.name}
                    </button>
                }
            });
            view! {
                <div class="card__ask" data-state="waiting">
                    <p>
                        <span class="signal" data-state="waiting">
                            "Asks permission"
                        </span>
                        {if request.is_command { " to run" } else { ":" }}
                        <br />
                        <code>{request.subject}</code>
                    </p>
                    <p class="button-row">{buttons.collect_view()}</p>
                    <Problem text=act.error />
                </div>
            }
        })
    })
}

/// Why it failed, and the way to try again.
#[component]
fn Failure(card: RwSignal<TaskCard>, state: Memo<CardState>) -> impl IntoView {
    let failure = Memo::new(move |_| {
        let is_failed = state.get() == CardState::Failed;
        let session = card.with(|card| card.session.clone()).filter(|_| is_failed)?;
        Some((session.id, session.error.unwrap_or_else(|| "The turn failed.".to_owned())))
    });
    part(move || {
        failure.get().map(|(session_id, text)| {
            let act = Act::new();
            view! {
                <div class="card__ask" data-state="failed">
                    <p class="card__error">{text}</p>
                    <p class="button-row">
                        <button
                            class="button"
                            type="button"
                            disabled=move || act.is_pending.get()
                            on:click=move |_| act.send(Request::SessionStart { session_id })
                        >
                            "Start again"
                        </button>
                    </p>
                    <Problem text=act.error />
                </div>
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_its_last_part() {
        assert_eq!(last_part("/home/me/pelorus"), "pelorus");
        assert_eq!(last_part("/home/me/pelorus/"), "pelorus");
        assert_eq!(last_part("/"), "/");
    }
}
