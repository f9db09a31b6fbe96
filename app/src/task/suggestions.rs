//! The list above the field of what can be put into the message, while something of it is written.

use leptos::{ev, prelude::*};
use model::{SessionId, SessionView};

use super::composer::FIELD;
use crate::{
    browser,
    dynamic::part,
    state::{
        commands::matching,
        drafts::Drafts,
        suggestion::{Suggestion, moved},
    },
};

/// The id of the list.
pub const LIST: &str = "composer-suggestions";

/// Where suggestions come from: what it offers for a draft. What it reads is tracked.
pub type Source = Box<dyn Fn(&str) -> Vec<Suggestion> + Send + Sync>;

/// The commands of the agent (K-043).
pub fn commands(view: ArcRwSignal<Option<SessionView>>) -> Source {
    Box::new(move |draft| {
        view.with(|view| {
            view.as_ref().map(|view| matching(&view.offers.commands, draft)).unwrap_or_default()
        })
    })
}

/// What is offered for the draft, and which of it is picked.
#[derive(Clone, Copy)]
pub struct SuggestionMenu {
    offered: Memo<Vec<Suggestion>>,
    picked: RwSignal<usize>,
    is_dismissed: RwSignal<bool>,
    drafts: RwSignal<Drafts>,
    session_id: SessionId,
}

impl SuggestionMenu {
    pub fn new(sources: Vec<Source>, drafts: RwSignal<Drafts>, session_id: SessionId) -> Self {
        let is_dismissed = RwSignal::new(false);
        let offered = Memo::new(move |_| {
            if is_dismissed.get() {
                return Vec::new();
            }
            let draft = drafts.with(|drafts| drafts.of(session_id).to_owned());
            sources.iter().flat_map(|source| source(&draft)).collect()
        });
        Self { offered, picked: RwSignal::new(0), is_dismissed, drafts, session_id }
    }

    /// Something was written.
    pub fn written(self) {
        self.is_dismissed.set(false);
        self.picked.set(0);
    }

    /// Takes a key that is meant for the list; whether it was.
    pub fn takes(self, event: &ev::KeyboardEvent) -> bool {
        let count = self.offered.with_untracked(Vec::len);
        if count == 0 || event.is_composing() {
            return false;
        }
        match event.key().as_str() {
            "ArrowDown" => self.picked.update(|at| *at = moved(*at, count, true)),
            "ArrowUp" => self.picked.update(|at| *at = moved(*at, count, false)),
            "Enter" | "Tab" if !event.shift_key() => self.accept(self.picked.get_untracked()),
            "Escape" => self.is_dismissed.set(true),
            _ => return false,
        }
        event.prevent_default();
        true
    }

    /// Whether anything is offered. Tracked.
    pub fn is_open(self) -> bool {
        self.offered.with(|offered| !offered.is_empty())
    }

    /// The id of the picked one, while the list is open. Tracked.
    pub fn active(self) -> Option<String> {
        self.is_open().then(|| option_id(self.picked.get()))
    }

    fn accept(self, at: usize) {
        let picked = self.offered.with_untracked(|offered| offered.get(at).cloned());
        if let Some(picked) = picked {
            self.drafts.update(|drafts| {
                let draft = picked.accepted(drafts.of(self.session_id));
                drafts.write(self.session_id, draft);
            });
            browser::focus(FIELD);
        }
    }
}

fn option_id(at: usize) -> String {
    format!("{LIST}-{at}")
}

/// The list; nothing while nothing is offered.
#[component]
pub fn Suggestions(menu: SuggestionMenu) -> impl IntoView {
    let option = move |(at, suggestion): (usize, Suggestion)| {
        let Suggestion { name, hint, text, .. } = suggestion;
        view! {
            <li
                class="suggestions__row"
                role="option"
                id=option_id(at)
                aria-selected=move || (menu.picked.get() == at).to_string()
                // The field keeps the focus.
                on:pointerdown=|event| event.prevent_default()
                on:click=move |_| menu.accept(at)
            >
                <code>{name}</code>
                {hint.map(|hint| view! { <span class="muted mono">{hint}</span> })}
                <span class="suggestions__text">{text}</span>
            </li>
        }
    };
    part(move || {
        menu.is_open().then(|| {
            let rows = menu.offered.get().into_iter().enumerate().map(option).collect_view();
            view! {
                <ul class="suggestions" role="listbox" id=LIST aria-label="Suggestions">
                    {rows}
                </ul>
            }
        })
    })
}
