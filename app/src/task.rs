//! The page of a task: what it is, and the chat with its agent.

mod chat;
mod choices;
mod composer;
mod delete;
mod message;
mod output;
mod permission;
mod queue;
mod shell;
mod suggestions;
mod tool;

use leptos::{prelude::*, task::spawn_local};
use leptos_router::{components::A, hooks::use_params_map};
use model::{BootState, InitialState, SessionId, TaskCard, TaskId, wire::MessagePage};

pub use composer::FIELD;
pub use delete::DeleteDialog;

use crate::{
    board::{TaskMenu, load_failure},
    browser::{self, FetchError},
    context::{Shared, shared, use_title},
    controls::{Empty, card_signal, skeleton},
    dynamic::part,
    icon::{Icon, icon},
    root::{Layout, NotFound, to_the_board},
    state::{card::card_state, rows::Row, session::LiveSession},
    task::{chat::Chat, choices::Choices},
    topbar::WatchMenu,
};

/// The page of the task that the address names.
#[component]
pub fn TaskPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id")?.parse::<TaskId>().ok()));
    part(move || match id.get() {
        Some(id) => view! { <LoadedTask id /> }.into_any(),
        None => view! { <NotFound /> }.into_any(),
    })
}

/// Whether the page's data is here.
#[derive(Clone, PartialEq)]
enum Load {
    Loading,
    Ready,
    Missing,
    Failed(FetchError),
}

#[component]
fn LoadedTask(id: TaskId) -> impl IntoView {
    let shared = shared();
    let first = shared.first();
    let session = StoredValue::new(first.as_ref().and_then(known_session));
    let load = RwSignal::new(first.as_ref().map_or(Load::Loading, loaded));
    let fetch = {
        let shared = shared.clone();
        move || fetch(id, shared.clone(), session, load)
    };
    if first.is_none() {
        Effect::new({
            let fetch = fetch.clone();
            move |_| fetch()
        });
    }
    part(move || match load.get() {
        Load::Ready => view! { <Task id session /> }.into_any(),
        Load::Missing => view! { <NotFound /> }.into_any(),
        Load::Loading => {
            let contents = view! { <main class="page">{skeleton()}</main> }.into_any();
            page_frame("Task", contents)
        }
        Load::Failed(error) => page_frame("Task", load_failure(&error, fetch.clone())),
    })
}

fn fetch(
    id: TaskId,
    shared: Shared,
    session: StoredValue<Option<LiveSession>>,
    load: RwSignal<Load>,
) {
    load.set(Load::Loading);
    spawn_local(async move {
        let path = format!("/api/v1/boot?path=/tasks/{id}");
        let next = match browser::get::<BootState>(&path).await {
            Ok(boot) => {
                shared.absorb(&boot);
                session.try_update_value(|session| *session = known_session(&boot));
                loaded(&boot)
            }
            Err(error) if error.is_not_found() => Load::Missing,
            Err(error) => Load::Failed(error),
        };
        load.try_set(next);
    });
}

fn loaded(boot: &BootState) -> Load {
    if boot.initial_state.task.is_some() { Load::Ready } else { Load::Missing }
}

fn known_session(boot: &BootState) -> Option<LiveSession> {
    let InitialState { session, messages, has_older, draft, .. } = &boot.initial_state;
    let page = MessagePage { messages: messages.clone(), has_older: *has_older };
    Some(LiveSession::known(session.clone()?, page, draft.clone(), &boot.epoch, boot.rev))
}

/// A task page that is not here yet.
fn page_frame(title: &'static str, contents: AnyView) -> AnyView {
    let bar = view! {
        <header class="topbar">
            {back()}
            <h1>{title}</h1>
        </header>
    };
    view! { <Layout bar=bar.into_any()>{contents}</Layout> }.into_any()
}

fn back() -> AnyView {
    view! {
        <A
            href="/"
            attr:class="button"
            attr:data-variant="quiet"
            attr:data-icon=""
            attr:aria-label="Back to the board"
        >
            {icon(Icon::Back)}
        </A>
    }
    .into_any()
}

/// The task, for as long as it is on the board.
#[component]
fn Task(id: TaskId, session: StoredValue<Option<LiveSession>>) -> impl IntoView {
    let tasks = shared().board.tasks;
    let row = Memo::new(move |_| tasks.find(id));
    part(move || match row.get() {
        Some(row) => view! { <TaskBody row session /> }.into_any(),
        None => {
            use_title(|| "Deleted".to_owned());
            page_frame("Deleted", deleted())
        }
    })
}

fn deleted() -> AnyView {
    view! {
        <main class="page">
            <Empty
                mark=Icon::Stopped
                title="This task was deleted"
                text="Its chat and its output are gone. Its folder was left as it was."
                act=to_the_board
            />
        </main>
    }
    .into_any()
}

#[component]
fn TaskBody(row: Row<TaskCard>, session: StoredValue<Option<LiveSession>>) -> impl IntoView {
    let card = RwSignal::from(row.record);
    use_title(move || card.with(|card| card.title.clone()));
    let session_id = Memo::new(move |_| card.with(|card| card.session.as_ref().map(|s| s.id)));
    let live = Memo::new(move |_| session_id.get().map(|id| session_of(id, session)));
    view! {
        <Layout bar=view! { <TaskBar card /> }.into_any()>
            <main class="task">
                <SessionBar card live />
                {part(move || live.get().map(|session| view! { <Chat session card /> }))}
            </main>
        </Layout>
    }
}

/// The session as the page's data has it, or one that the connection has still to bring.
fn session_of(id: SessionId, known: StoredValue<Option<LiveSession>>) -> LiveSession {
    let known = known.get_value().filter(|session| session.id == id);
    let session = known.unwrap_or_else(|| LiveSession::unknown(id));
    shared().live.follow(session.clone());
    session
}

#[component]
fn TaskBar(card: RwSignal<TaskCard>) -> impl IntoView {
    let state = Memo::new(move |_| card.with(card_state));
    view! {
        <header class="topbar task-bar">
            {back()}
            <div class="topbar__title">
                {part(move || card_signal(state.get()))}
                <h1>{part(move || card.with(|card| card.title.clone()))}</h1>
            </div>
            <div class="topbar__end">
                <WatchMenu />
                <TaskMenu card class="task-menu" />
            </div>
        </header>
    }
}

/// Who works, where, and how it stands.
#[component]
fn SessionBar(card: RwSignal<TaskCard>, live: Memo<Option<LiveSession>>) -> impl IntoView {
    let board = shared().board;
    let state = Memo::new(move |_| card.with(card_state));
    let step = Memo::new(move |_| board.step_name(card.with(|card| card.step_id)));
    let version = Memo::new(move |_| live.get()?.view.get()?.agent_version);
    let word = part(move || {
        let state = state.get();
        view! {
            <span class="signal" data-state=state.name()>
                {icon(state.icon())}
                {state.label()}
            </span>
        }
    });
    view! {
        <div class="session-bar">
            {word}
            <span class="chip">{part(move || step.get())}</span>
            <span class="tag">
                {icon(Icon::Chat)}
                {part(move || card.with(|card| card.agent_name.clone()))}
                {part(move || version.get().map(|version| view! { <span class="mono">{version}</span> }))}
            </span>
            <span class="tag session-bar__folder">
                {icon(Icon::Folder)} <code>{part(move || card.with(|card| card.folder.clone()))}</code>
            </span>
            <Choices live />
        </div>
    }
}
