//! Keys that work anywhere on a page, and the dialog that lists them (K-071).

use leptos::{ev, prelude::*};
use leptos_router::hooks::use_navigate;

use crate::{
    browser,
    context::{Shared, shared},
    controls::{Modal, is_typing},
    task::FIELD,
};

/// What a key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shortcut {
    NewTask,
    Write,
    Board,
    Help,
}

/// Each key, what it does, and the words for that.
const SHORTCUTS: [(&str, Shortcut, &str); 4] = [
    ("c", Shortcut::NewTask, "Write a new task"),
    ("/", Shortcut::Write, "Write to the agent"),
    ("b", Shortcut::Board, "To the board"),
    ("?", Shortcut::Help, "These keys"),
];

/// Keys that work where they are, for the list.
const ELSEWHERE: [(&str, &str); 4] = [
    ("Enter", "Send what is written"),
    ("Shift Enter", "A new line in it"),
    ("Esc", "Close a menu or a dialog"),
    ("Tab", "To the next button, row or field"),
];

fn shortcut(key: &str) -> Option<Shortcut> {
    SHORTCUTS.iter().find(|(known, ..)| *known == key).map(|(_, shortcut, _)| *shortcut)
}

/// Listens to the keys. Belongs inside the router.
#[component]
pub fn Keys() -> impl IntoView {
    let Shared { is_writing, keys_open, .. } = shared();
    let navigate = use_navigate();
    Effect::new(move |_| {
        let navigate = navigate.clone();
        let listener = window_event_listener(ev::keydown, move |event| {
            let Some(shortcut) = shortcut(&event.key()).filter(|_| !is_typing(&event)) else {
                return;
            };
            event.prevent_default();
            match shortcut {
                Shortcut::NewTask => is_writing.set(true),
                Shortcut::Write => browser::focus(FIELD),
                Shortcut::Board => navigate("/", Default::default()),
                Shortcut::Help => keys_open.set(true),
            }
        });
        on_cleanup(move || listener.remove());
    });
    view! { <Modal is_open=keys_open title_id="keys-title" contents=ViewFn::from(move || list(keys_open)) /> }
}

fn list(is_open: RwSignal<bool>) -> AnyView {
    let here = SHORTCUTS.iter().map(|(key, _, words)| (*key, *words));
    let rows = here.chain(ELSEWHERE).map(|(key, words)| {
        let keys =
            key.split(' ').map(|key| view! { <kbd>{key.to_uppercase()}</kbd> }).collect_view();
        view! {
            <div class="keys__row">
                <dt>{keys}</dt>
                <dd>{words}</dd>
            </div>
        }
    });
    view! {
        <header class="dialog__head">
            <h2 id="keys-title">"Keys"</h2>
        </header>
        <dl class="dialog__body keys">{rows.collect_view()}</dl>
        <footer class="dialog__foot">
            <button class="button" type="button" on:click=move |_| is_open.set(false)>
                "Close"
            </button>
        </footer>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_071_each_key_does_one_thing() {
        assert_eq!(shortcut("/"), Some(Shortcut::Write));
        assert_eq!(shortcut("?"), Some(Shortcut::Help));
        assert_eq!(shortcut("x"), None);
        for (key, known, _) in SHORTCUTS {
            assert_eq!(shortcut(key), Some(known));
        }
    }
}
