//! What every part of the page shares.

use futures::channel::mpsc;
use leptos::{prelude::*, task::spawn_local};
use model::{
    BootState, TaskId,
    wire::{BoardSnapshot, Request},
};
use serde_json::Value;

use crate::{
    board::Draft,
    clock::Clock,
    document::{counted_title, full_title},
    live::{Command, Live},
    state::{agents::LiveAgents, board::LiveBoard, drafts::Drafts},
};

/// The page's shared state, in the context of every component.
#[derive(Clone)]
pub struct Shared {
    /// The board, on every page.
    pub board: LiveBoard,
    /// The agents and their profiles.
    pub agents: LiveAgents,
    /// Folders that a new task can be given, newest first.
    pub folders: RwSignal<Vec<String>>,
    /// The connection.
    pub live: Live,
    /// The clock.
    pub clock: Clock,
    /// The task that is being written.
    pub draft: Draft,
    /// What is written to the agents and not sent yet.
    pub drafts: RwSignal<Drafts>,
    /// Whether the task dialog is open.
    pub is_writing: RwSignal<bool>,
    /// Whether the list of keys is open.
    pub keys_open: RwSignal<bool>,
    /// The task that is about to be deleted.
    pub doomed: RwSignal<Option<Doomed>>,
    /// What went wrong that has no place of its own.
    pub alert: RwSignal<Option<String>>,
    first: ArcStoredValue<Option<BootState>>,
}

/// A task that is about to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doomed {
    pub id: TaskId,
    pub title: String,
}

impl Shared {
    /// The state of a page that began like this, and what its connection is to take.
    pub fn new(boot: BootState) -> (Self, mpsc::Receiver<Command>) {
        let initial = &boot.initial_state;
        let (live, commands) = Live::new();
        let shared = Self {
            board: LiveBoard::new(initial.board.clone(), &boot.epoch, boot.rev),
            agents: LiveAgents::new(initial.agents.clone(), initial.profiles.clone()),
            folders: RwSignal::new(initial.folders.clone()),
            live,
            clock: Clock::new(boot.now),
            draft: Draft::default(),
            drafts: RwSignal::new(Drafts::default()),
            is_writing: RwSignal::new(false),
            keys_open: RwSignal::new(false),
            doomed: RwSignal::new(None),
            alert: RwSignal::new(None),
            first: ArcStoredValue::new(Some(boot)),
        };
        let first = shared.first.clone();
        // Runs once the first page stands; from then on pages ask for their own data.
        Effect::new(move |_| first.set_value(None));
        (shared, commands)
    }

    /// What the server rendered the page from, while it is the first one.
    pub fn first(&self) -> Option<BootState> {
        self.first.get_value()
    }

    /// Takes what a later page brought for all of them.
    pub fn absorb(&self, boot: &BootState) {
        let initial = &boot.initial_state;
        if let Some(board) = initial.board.clone()
            && !self.board.is_newer(&boot.epoch, boot.rev)
        {
            let (epoch, rev) = (boot.epoch.clone(), boot.rev);
            self.board.take(BoardSnapshot { epoch, rev, board: Some(board) });
        }
        if initial.board.is_some() {
            self.agents.profiles.set(initial.profiles.clone());
            self.folders.set(initial.folders.clone());
        }
    }
}

/// The shared state.
pub fn shared() -> Shared {
    expect_context()
}

/// What a button asks for: one request at a time, its failure shown beside the button.
#[derive(Clone, Copy)]
pub struct Act {
    /// It was asked for, and the answer is not here yet.
    pub is_pending: RwSignal<bool>,
    /// Why it failed.
    pub error: RwSignal<Option<String>>,
}

impl Act {
    pub fn new() -> Self {
        Self { is_pending: RwSignal::new(false), error: RwSignal::new(None) }
    }

    /// Sends the request, unless one is under way.
    pub fn send(self, request: Request) {
        self.send_then(request, || {});
    }

    /// Sends the request, unless one is under way; `then` runs when it was done.
    pub fn send_then(self, request: Request, then: impl FnOnce() + 'static) {
        if self.is_pending.get_untracked() {
            return;
        }
        self.is_pending.set(true);
        self.error.set(None);
        let live = shared().live;
        spawn_local(async move {
            let answer = live.ask::<Value>(request).await;
            // The button may be gone by now.
            self.is_pending.try_set(false);
            match answer {
                Ok(_) => then(),
                Err(error) => {
                    self.error.try_set(Some(error.to_string()));
                }
            }
        });
    }
}

/// Names the tab after the page, as it is now, and after how many tasks wait for the person.
pub fn use_title(title: impl Fn() -> String + 'static) {
    let board = shared().board;
    let waiting = Memo::new(move |_| board.watch().waiting.len());
    Effect::new(move |_| {
        document().set_title(&counted_title(waiting.get(), &full_title(&title())));
    });
}
