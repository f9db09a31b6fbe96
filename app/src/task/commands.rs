//! The list of slash commands above the field, while one is written (K-043).

use leptos::{ev, prelude::*};
use model::{AgentCommand, SessionId, SessionView};

use super::composer::FIELD;
use crate::{
    browser,
    dynamic::part,
    state::{
        commands::{completed, matching, moved},
        drafts::Drafts,
    },
};

/// The id of the list.
pub const LIST: &str = "composer-commands";

/// What is offered for the draft, and which of it is picked.
#[derive(Clone, Copy)]
pub struct CommandMenu {
    offered: Memo<Vec<AgentCommand>>,
    picked: RwSignal<usize>,
    is_dismissed: RwSignal<bool>,
    drafts: RwSignal<Drafts>,
    session_id: SessionId,
}

impl CommandMenu {
    pub fn new(
        view: ArcRwSignal<Option<SessionView>>,
        drafts: RwSignal<Drafts>,
        session_id: SessionId,
    ) -> Self {
        let is_dismissed = RwSignal::new(false);
        let offered = Memo::new(move |_| {
            if is_dismissed.get() {
                return Vec::new();
            }
            let draft = drafts.with(|drafts| drafts.of(session_id).to_owned());
            view.with(|view| match view {
                Some(view) => matching(&view.offers.commands, &draft),
                None => Vec::new(),
            })
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

    /// The id of the picked command, while the list is open. Tracked.
    pub fn active(self) -> Option<String> {
        self.is_open().then(|| option_id(self.picked.get()))
    }

    fn accept(self, at: usize) {
        if let Some(command) = self.offered.with_untracked(|offered| offered.get(at).cloned()) {
            self.drafts.update(|drafts| drafts.write(self.session_id, completed(&command)));
            browser::focus(FIELD);
        }
    }
}

fn option_id(at: usize) -> String {
    format!("{LIST}-{at}")
}

/// The list; nothing while nothing is offered.
#[component]
pub fn Commands(menu: CommandMenu) -> impl IntoView {
    let option = move |(at, command): (usize, AgentCommand)| {
        let AgentCommand { name, description, hint } = command;
        view! {
            <li
                class="commands__row"
                role="option"
                id=option_id(at)
                aria-selected=move || (menu.picked.get() == at).to_string()
                // The field keeps the focus.
                on:pointerdown=|event| event.prevent_default()
                on:click=move |_| menu.accept(at)
            >
                <code>{format!("/{name}")}</code>
                {hint.map(|hint| view! { <span class="muted mono">{hint}</span> })}
                <span class="commands__text">{description}</span>
            </li>
        }
    };
    part(move || {
        menu.is_open().then(|| {
            let rows = menu.offered.get().into_iter().enumerate().map(option).collect_view();
            view! {
                <ul class="commands" role="listbox" id=LIST aria-label="Commands of the agent">
                    {rows}
                </ul>
            }
        })
    })
}
