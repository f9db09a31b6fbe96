//! The bar on top of every page: where one is, what needs a look, what can be begun.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::{
    context::shared,
    dynamic::part,
    icon::{Icon, icon},
    news::NotifyMe,
    state::{
        board::{Watch, Watched},
        card::CardState,
    },
};

/// The bar of pages that belong to the whole workspace.
#[component]
pub fn WorkspaceBar() -> impl IntoView {
    let shared = shared();
    let (board, is_writing) = (shared.board, shared.is_writing);
    view! {
        <header class="topbar">
            <A href="/" attr:class="topbar__home" attr:aria-label="Kandev, to the board">
                {icon(Icon::Mark)}
            </A>
            <strong class="topbar__workspace ellipsis">{part(move || board.workspace_name())}</strong>
            <nav class="topbar__nav" aria-label="Main">
                <A href="/" exact=true attr:class="button" attr:data-variant="quiet">
                    "Board"
                </A>
                <A href="/agents" attr:class="button" attr:data-variant="quiet">
                    "Agents"
                </A>
            </nav>
            <div class="topbar__end">
                <WatchMenu />
                <A
                    href="/agents"
                    attr:class="button narrow-only"
                    attr:data-variant="quiet"
                    attr:data-icon=""
                    attr:aria-label="Agents"
                >
                    {icon(Icon::Tool)}
                </A>
                <button
                    class="button keys-button"
                    type="button"
                    data-variant="quiet"
                    data-icon=""
                    aria-label="Keys"
                    title="Keys"
                    aria-keyshortcuts="?"
                    on:click=move |_| shared.keys_open.set(true)
                >
                    "?"
                </button>
                <button
                    class="button"
                    type="button"
                    data-variant="primary"
                    aria-keyshortcuts="C"
                    on:click=move |_| is_writing.set(true)
                >
                    {icon(Icon::Plus)}
                    <span class="wide-text">"New task"</span>
                </button>
            </div>
        </header>
    }
}

/// How many tasks wait, failed and run, and which. Absent when nothing is to be watched.
#[component]
pub fn WatchMenu() -> impl IntoView {
    let board = shared().board;
    let watch = Memo::new(move |_| board.watch());
    let count = move |state, words, list: fn(&Watch) -> &Vec<Watched>| {
        move || {
            let count = watch.with(|watch| list(watch).len());
            (count > 0).then(|| count_signal(state, count, words))
        }
    };
    view! {
        <details class="menu watch" hidden=move || watch.with(Watch::is_empty)>
            <summary class="button" data-variant="quiet">
                {count(CardState::Waiting, " your turn", |watch| &watch.waiting)}
                {count(CardState::Failed, " failed", |watch| &watch.failed)}
                {count(CardState::Running, " running", |watch| &watch.running)}
            </summary>
            <div class="menu__list">
                {part(move || watch.with(watch_list))}
                <NotifyMe />
            </div>
        </details>
    }
}

fn count_signal(state: CardState, count: usize, words: &'static str) -> AnyView {
    view! {
        <span class="signal" data-state=state.name()>
            {icon(state.icon())}
            {count}
            <span class="wide-text">{words}</span>
        </span>
    }
    .into_any()
}

fn watch_list(watch: &Watch) -> AnyView {
    let groups = [
        ("Your turn", CardState::Waiting, &watch.waiting),
        ("Failed", CardState::Failed, &watch.failed),
        ("Running", CardState::Running, &watch.running),
    ];
    groups
        .into_iter()
        .filter(|(_, _, tasks)| !tasks.is_empty())
        .map(|(head, state, tasks)| {
            view! {
                <p class="menu__head">{head}</p>
                {tasks.iter().map(|task| watch_item(state, task)).collect_view()}
            }
        })
        .collect_view()
        .into_any()
}

fn watch_item(state: CardState, task: &Watched) -> AnyView {
    let Watched { id, title, agent_name } = task.clone();
    view! {
        <A href=format!("/tasks/{id}") attr:class="menu__item">
            <span class="signal" data-state=state.name()>
                {icon(state.icon())}
            </span>
            <span>{title}</span>
            <span class="muted">{agent_name}</span>
        </A>
    }
    .into_any()
}
