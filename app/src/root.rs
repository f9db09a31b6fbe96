//! The page as a whole: what all pages share, and which of them is shown.

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{
    components::{A, FlatRoutes, Route, Router},
    path,
};
use model::{BootState, Page};

use crate::{
    agents::AgentsPage,
    board::{BoardPage, TaskDialog},
    context::{Shared, shared, use_title},
    controls::{Empty, Notice, close_menus},
    dynamic::part,
    icon::Icon,
    keys::Keys,
    live::{self, Status},
    login::LoginPage,
    news::News,
    task::{DeleteDialog, TaskPage},
    topbar::WorkspaceBar,
};

/// The page. Expects a [`BootState`] and [`Assets`](crate::Assets) in the context, and on the
/// server the engine.
#[component]
pub fn App() -> impl IntoView {
    let boot: BootState = expect_context();
    let is_login = boot.initial_state.page == Page::Login;
    let (shared, commands) = Shared::new(boot);
    provide_context(shared.clone());
    if !is_login {
        stay_connected(&shared, commands);
        close_menus();
    }
    view! {
        <Router>
            <FlatRoutes fallback=|| view! { <NotFound /> }>
                <Route path=path!("/") view=BoardPage />
                <Route path=path!("/tasks/:id") view=TaskPage />
                <Route path=path!("/agents") view=AgentsPage />
                <Route path=path!("/login") view=LoginPage />
            </FlatRoutes>
            {(!is_login)
                .then(|| {
                    view! {
                        <TaskDialog />
                        <DeleteDialog />
                        <Keys />
                        <News />
                    }
                })}
        </Router>
    }
}

fn stay_connected(shared: &Shared, commands: futures::channel::mpsc::Receiver<live::Command>) {
    let (board, agents) = (shared.board.clone(), shared.agents.clone());
    let status = shared.live.status();
    let live = shared.live.clone();
    live::keep_drafts(shared.drafts, &shared.live);
    let commands = StoredValue::new(Some(commands));
    Effect::new(move |_| {
        let commands = commands.try_update_value(Option::take).flatten();
        if let Some(commands) = commands {
            spawn_local(live::run(board.clone(), agents.clone(), status.clone(), commands));
        }
        let live = live.clone();
        let back_online = window_event_listener(ev::online, move |_| live.try_now());
        on_cleanup(move || back_online.remove());
    });
}

/// A page's frame: its bar, what the whole page has to say, its contents.
#[component]
pub fn Layout(bar: AnyView, children: Children) -> impl IntoView {
    view! {
        <div class="app">
            {bar}
            <Bars />
            {children()}
        </div>
    }
}

/// What the whole page has to say: no connection, a failure without a place of its own.
#[component]
fn Bars() -> impl IntoView {
    let Shared { live, alert, .. } = shared();
    let status = live.status();
    let offline = part(move || {
        let live = live.clone();
        (status.get() == Status::Offline).then(|| {
            let try_now = ViewFn::from(move || {
                let live = live.clone();
                view! {
                    <button class="button" type="button" on:click=move |_| live.try_now()>
                        "Try now"
                    </button>
                }
            });
            let text = "Offline. What you see may be old; what you type is kept.".to_owned();
            view! { <Notice tone="wait" is_bar=true mark=Icon::Offline text=text act=try_now /> }
        })
    });
    let failure = part(move || {
        alert.get().map(|text| {
            let dismiss = ViewFn::from(move || {
                view! {
                    <button class="button" type="button" on:click=move |_| alert.set(None)>
                        "Dismiss"
                    </button>
                }
            });
            view! { <Notice tone="fail" is_bar=true mark=Icon::Failed text=text act=dismiss /> }
        })
    });
    view! { <div class="app__bars">{offline} {failure}</div> }
}

/// What stands where a page would, when there is none.
#[component]
pub fn NotFound() -> impl IntoView {
    use_title(|| "Not found".to_owned());
    view! {
        <Layout bar=view! { <WorkspaceBar /> }.into_any()>
            <main class="page">
                <Empty
                    mark=Icon::Unknown
                    title="There is nothing here"
                    text="It may have been removed, or the address is not complete."
                    act=to_the_board
                />
            </main>
        </Layout>
    }
}

/// The way back.
pub fn to_the_board() -> AnyView {
    view! {
        <A href="/" attr:class="button">
            "To the board"
        </A>
    }
    .into_any()
}
