//! The question before a task is deleted.

use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};
use model::{TaskId, wire::Request};

use crate::{
    context::{Act, Shared, shared},
    controls::{Modal, Problem},
};

/// Asks before a task is deleted, wherever that was asked for.
#[component]
pub fn DeleteDialog() -> impl IntoView {
    let doomed = shared().doomed;
    let is_open = RwSignal::new(false);
    Effect::new(move |_| {
        if doomed.with(Option::is_some) {
            is_open.set(true);
        }
    });
    Effect::new(move |_| {
        if !is_open.get() {
            doomed.set(None);
        }
    });
    let contents = ViewFn::from(move || view! { <Question is_open /> });
    view! { <Modal is_open title_id="delete-title" contents /> }
}

#[component]
fn Question(is_open: RwSignal<bool>) -> impl IntoView {
    let Shared { doomed, board, .. } = shared();
    let act = Act::new();
    let leave = leave_page();
    let delete = move |_| {
        let Some(task) = doomed.get_untracked() else { return };
        let (leave, board) = (leave.clone(), board.clone());
        act.send_then(Request::TaskDelete { task_id: task.id }, move || {
            leave(task.id);
            board.tasks.remove(task.id);
            is_open.try_set(false);
        });
    };
    let title = doomed.with_untracked(|task| task.as_ref().map(|task| task.title.clone()));
    view! {
        <header class="dialog__head">
            <h2 id="delete-title">"Delete this task?"</h2>
        </header>
        <div class="dialog__body">
            <p>
                <strong>{title}</strong>
            </p>
            <p>
                "Its agent is ended, and its chat and output are deleted. The folder stays as it is."
            </p>
            <Problem text=act.error />
        </div>
        <footer class="dialog__foot">
            <button
                class="button"
                type="button"
                data-variant="danger"
                disabled=move || act.is_pending.get()
                on:click=delete
            >
                "Delete it"
            </button>
            <button
                class="button"
                type="button"
                data-variant="primary"
                autofocus=true
                on:click=move |_| is_open.set(false)
            >
                "Keep it"
            </button>
        </footer>
    }
}

/// Goes to the board when the task's own page is open.
fn leave_page() -> impl Fn(TaskId) + Clone + 'static {
    let (path, navigate) = (use_location().pathname, use_navigate());
    move |id| {
        if path.get_untracked() == format!("/tasks/{id}") {
            navigate("/", leptos_router::NavigateOptions::default());
        }
    }
}
