//! What can be done with a task: move it to another step, delete it.

use leptos::prelude::*;
use model::{Step, TaskCard, wire::Request};

use crate::{
    context::{Doomed, Shared, shared},
    dynamic::part,
    icon::{Icon, icon, named_icon},
};

/// The menu of a task; `class` says where it stands.
#[component]
pub fn TaskMenu(card: RwSignal<TaskCard>, class: &'static str) -> impl IntoView {
    let Shared { board, doomed, .. } = shared();
    let current = Memo::new(move |_| card.with(|card| card.step_id));
    let items = part(move || {
        let steps = board.steps().into_iter();
        steps
            .filter(|step| step.id != current.get())
            .map(|step| move_item(card, step))
            .collect_view()
    });
    let delete = move |_| {
        let task = card.with_untracked(|card| Doomed { id: card.id, title: card.title.clone() });
        doomed.set(Some(task));
    };
    view! {
        <details class=format!("menu {class}")>
            <summary class="button" data-variant="quiet" data-icon="">
                {named_icon(Icon::More, "", "Move or delete")}
            </summary>
            <div class="menu__list">
                <p class="menu__head">"Move to"</p>
                {items}
                <p class="menu__head">"Task"</p>
                <button class="menu__item" type="button" data-tone="fail" on:click=delete>
                    {icon(Icon::Close)}
                    <span>"Delete\u{2026}"</span>
                </button>
            </div>
        </details>
    }
}

fn move_item(card: RwSignal<TaskCard>, step: Step) -> AnyView {
    let Shared { live, alert, .. } = shared();
    let to = move |_| {
        let task_id = card.with_untracked(|card| card.id);
        let (live, request) = (live.clone(), Request::TaskMove { task_id, step_id: step.id });
        leptos::task::spawn_local(async move {
            if let Err(error) = live.ask::<TaskCard>(request).await {
                alert.set(Some(format!("The task was not moved. {error}")));
            }
        });
    };
    view! {
        <button class="menu__item" type="button" on:click=to>
            {icon(Icon::Chevron)}
            <span>{step.name}</span>
        </button>
    }
    .into_any()
}
