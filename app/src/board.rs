//! The board: the workflow's steps as columns, the tasks as cards.

mod card;
mod dialog;
mod draft;
mod menu;

use leptos::{html, prelude::*, task::spawn_local};
use model::{BootState, Step, StepId, TaskId};

pub use dialog::TaskDialog;
pub use draft::Draft;
pub use menu::TaskMenu;

use crate::{
    board::card::Card,
    browser::{self, FetchError},
    context::{Shared, shared, use_title},
    controls::{Empty, skeleton},
    dynamic::part,
    icon::{Icon, icon},
    root::Layout,
    state::{
        board::first_shown,
        card::{CardState, card_state},
    },
    topbar::WorkspaceBar,
};

/// The board. It is kept up to date on every page, so it shows at once when one comes back to it.
#[component]
pub fn BoardPage() -> impl IntoView {
    use_title(|| "Board".to_owned());
    let shared = shared();
    let board = shared.board.clone();
    let failure = RwSignal::new(None);
    let is_first = shared.first().is_some();
    Effect::new({
        let shared = shared.clone();
        move |_| {
            if !is_first {
                refresh(shared.clone(), failure);
            }
        }
    });
    let is_loaded = Memo::new(move |_| board.is_loaded());
    let contents = part(move || match (is_loaded.get(), failure.get()) {
        (true, _) => view! { <Columns /> }.into_any(),
        (false, None) => view! { <div class="board">{column_skeletons()}</div> }.into_any(),
        (false, Some(error)) => {
            let shared = shared.clone();
            load_failure(&error, move || refresh(shared.clone(), failure))
        }
    });
    view! {
        <Layout bar=view! { <WorkspaceBar /> }.into_any()>
            <main class="board-page">{contents}</main>
        </Layout>
    }
}

/// Asks for the page's data again, for what the connection does not bring: agents and folders.
fn refresh(shared: Shared, failure: RwSignal<Option<FetchError>>) {
    failure.set(None);
    spawn_local(async move {
        match browser::get::<BootState>("/api/v1/boot?path=/").await {
            Ok(boot) => shared.absorb(&boot),
            Err(error) => {
                failure.try_set(Some(error));
            }
        }
    });
}

/// A page whose data did not come, and the way to try again.
pub fn load_failure(
    error: &FetchError,
    retry: impl Fn() + Clone + Send + Sync + 'static,
) -> AnyView {
    let text = error.to_string();
    view! {
        <div class="empty page" role="alert">
            {icon(Icon::Offline)}
            <p class="empty__title">"This page did not load"</p>
            <p>{text}</p>
            <button class="button" type="button" on:click=move |_| retry()>
                {icon(Icon::Retry)}
                "Retry"
            </button>
        </div>
    }
    .into_any()
}

fn column_skeletons() -> AnyView {
    let column = || view! { <div class="column__cards">{skeleton()} {skeleton()}</div> };
    (0..4).map(|_| column()).collect_view().into_any()
}

#[component]
fn Columns() -> impl IntoView {
    let board = shared().board;
    let placement = Memo::new({
        let board = board.clone();
        move |_| board.placement()
    });
    let scroller = NodeRef::<html::Div>::new();
    let shown = RwSignal::new(0_usize);
    let track = move |_| {
        if let Some(scroller) = scroller.get() {
            let width = scroller.client_width().max(1);
            let at = (scroller.scroll_left() + width / 2) / width;
            let at = usize::try_from(at).unwrap_or_default();
            if shown.get_untracked() != at {
                shown.set(at);
            }
        }
    };
    let steps = Memo::new({
        let board = board.clone();
        move |_| board.steps()
    });
    let go_to = Callback::new(move |at: usize| {
        if let Some(scroller) = scroller.get() {
            let at = i32::try_from(at).unwrap_or_default();
            scroller.set_scroll_left(at * scroller.client_width());
        }
    });
    let first_shown = {
        let rows = board.tasks.clone();
        move || {
            let waits = |id: TaskId| {
                let row = rows.find(id);
                row.is_some_and(|row| row.record.with(card_state) == CardState::Waiting)
            };
            first_shown(&steps.get(), &placement.get(), waits)
        }
    };
    Effect::new(move |_| {
        // On a phone, where a column is as wide as the page, the first thing shown is what waits.
        let Some(scroller) = scroller.get() else { return };
        let n_steps = i32::try_from(steps.with_untracked(Vec::len)).unwrap_or_default();
        if n_steps > 0
            && scroller.scroll_width() >= scroller.client_width() * n_steps
            && let Some(at) = untrack(&first_shown)
        {
            go_to.run(at);
        }
    });
    view! {
        <h1 class="sr-only">{part(move || board.workflow_name())}</h1>
        <StepTabs steps placement shown go_to />
        <div class="board" node_ref=scroller on:scroll=track>
            <For
                each=move || steps.get().into_iter().enumerate()
                key=|(_, step)| (step.id, step.name.clone())
                let((at, step))
            >
                <Column step is_first=at == 0 placement />
            </For>
        </div>
    }
}

/// On a phone one column shows at a time; these say which, and where something waits.
#[component]
fn StepTabs(
    steps: Memo<Vec<Step>>,
    placement: Memo<Vec<(StepId, TaskId)>>,
    shown: RwSignal<usize>,
    go_to: Callback<usize>,
) -> impl IntoView {
    let tab = move |(at, step): (usize, Step)| {
        view! {
            <button
                class="tabs__tab"
                type="button"
                aria-current=move || (shown.get() == at).then_some("true")
                on:click=move |_| go_to.run(at)
            >
                {step.name}
                {part(move || tab_count(step.id, placement))}
            </button>
        }
    };
    view! {
        <nav class="tabs step-tabs" aria-label="Steps">
            <For
                each=move || steps.get().into_iter().enumerate()
                key=|(_, step)| (step.id, step.name.clone())
                children=tab
            />
        </nav>
    }
}

fn tab_count(step: StepId, placement: Memo<Vec<(StepId, TaskId)>>) -> AnyView {
    let tasks = tasks_of(step, placement);
    let rows = shared().board.tasks;
    let waiting = tasks
        .iter()
        .filter_map(|id| rows.find(*id))
        .filter(|row| row.record.with(card_state) == CardState::Waiting)
        .count();
    if waiting == 0 {
        return view! { <span class="muted">{tasks.len()}</span> }.into_any();
    }
    view! {
        <span class="count" data-tone="wait">
            {waiting}
            <span class="sr-only">" wait for you"</span>
        </span>
    }
    .into_any()
}

#[component]
fn Column(step: Step, is_first: bool, placement: Memo<Vec<(StepId, TaskId)>>) -> impl IntoView {
    let tasks = Memo::new(move |_| tasks_of(step.id, placement));
    let is_board_empty = Memo::new(move |_| placement.with(Vec::is_empty));
    let rows = shared().board.tasks;
    let name_id = format!("step-{}", step.id);
    let card = move |id| rows.find(id).map(|row| view! { <li><Card row /></li> });
    let is_empty = Memo::new(move |_| tasks.with(Vec::is_empty) && !is_board_empty.get());
    let nothing = format!("Nothing in {}", step.name);
    let empty =
        move || is_empty.get().then(|| view! { <li class="column__empty">{nothing.clone()}</li> });
    view! {
        <section class="column" aria-labelledby=name_id.clone()>
            <header class="column__head">
                <h2 id=name_id.clone()>{step.name}</h2>
                <span class="muted">{part(move || tasks.with(Vec::len))}</span>
            </header>
            <ol class="column__cards">
                {is_first.then_some(move || is_board_empty.get().then(first_start))}
                <For each=move || tasks.get() key=|id| *id children=card />
                {empty}
            </ol>
        </section>
    }
}

/// The tasks of a step, in order. Tracked.
fn tasks_of(step: StepId, placement: Memo<Vec<(StepId, TaskId)>>) -> Vec<TaskId> {
    placement
        .with(|tasks| tasks.iter().filter(|(of, _)| *of == step).map(|(_, task)| *task).collect())
}

/// Stands in the first column of a board that has no task.
fn first_start() -> AnyView {
    let is_writing = shared().is_writing;
    let act = ViewFn::from(move || {
        view! {
            <button
                class="button"
                type="button"
                data-variant="primary"
                on:click=move |_| is_writing.set(true)
            >
                {icon(Icon::Plus)}
                "New task"
            </button>
        }
    });
    view! {
        <li class="column__first">
            <Empty
                mark=Icon::Mark
                title="No tasks yet"
                text="Describe a piece of work. An agent does it in a folder of yours."
                act
            />
        </li>
    }
    .into_any()
}
