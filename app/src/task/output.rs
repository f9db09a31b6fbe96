//! The output of a command, fetched while its disclosure is open (S-043 to S-050).

use futures::future::AbortHandle;
use leptos::prelude::*;
use model::{
    MessageId, SessionId, ShellSnapshot,
    disclosure::{Answer, Disclosure, Effect as Step, Event},
};

use crate::{
    browser::{self, FetchError},
    controls::CopyButton,
    dynamic::part,
    icon::{Icon, icon},
    state::output::{ShownOutput, Trouble, blocks},
};

/// Does what the [`Disclosure`] says, for one command. All of it ends when its row does.
#[derive(Clone, Copy)]
pub struct OutputDriver {
    address: (SessionId, MessageId),
    machine: StoredValue<Disclosure>,
    request: StoredValue<Option<AbortHandle>>,
    timer: StoredValue<Option<AbortHandle>>,
    is_open: RwSignal<bool>,
    shown: RwSignal<Option<ShownOutput>>,
    trouble: RwSignal<Option<Trouble>>,
}

impl OutputDriver {
    /// The closed disclosure of this message.
    pub fn new(session_id: SessionId, message_id: MessageId) -> Self {
        Self {
            address: (session_id, message_id),
            machine: StoredValue::new(Disclosure::default()),
            request: StoredValue::new(None),
            timer: StoredValue::new(None),
            is_open: RwSignal::new(false),
            shown: RwSignal::new(None),
            trouble: RwSignal::new(None),
        }
    }

    /// Whether it is open. Tracked.
    pub fn is_open(self) -> bool {
        self.is_open.get()
    }

    /// Whether what the command wrote is here. Tracked.
    pub fn has_answer(self) -> bool {
        self.shown.with(Option::is_some)
    }

    /// The person opens or closes it. What was shown is forgotten: the next look is a fresh one.
    pub fn toggle(self, terminal: bool) {
        if self.is_open.get_untracked() {
            self.close();
            self.is_open.set(false);
            self.shown.set(None);
            self.trouble.set(None);
        } else {
            self.is_open.set(true);
            self.on(Event::Opened { terminal });
        }
    }

    /// The list says that the command has ended.
    pub fn turned_terminal(self) {
        self.on(Event::TurnedTerminal);
    }

    /// The person asks to try again now.
    fn retry(self) {
        self.on(Event::Retry);
    }

    /// Ends everything that is under way.
    pub fn close(self) {
        self.on(Event::Closed);
        abort(self.timer);
    }

    fn on(self, event: Event) {
        let steps = self.machine.try_update_value(|machine| machine.on(event));
        for step in steps.unwrap_or_default() {
            match step {
                Step::Fetch { generation } => self.fetch(generation),
                Step::Abort => abort(self.request),
                Step::Schedule { delay_ms, generation } => self.schedule(delay_ms, generation),
            }
        }
    }

    fn fetch(self, generation: u32) {
        let (session_id, message_id) = self.address;
        let path = format!("/api/v1/task-sessions/{session_id}/messages/{message_id}/shell-output");
        let handle = browser::spawn_abortable(async move {
            let answer = browser::get::<ShellSnapshot>(&path).await;
            self.settle(generation, answer);
        });
        self.request.try_set_value(Some(handle));
    }

    fn settle(self, generation: u32, answer: Result<ShellSnapshot, FetchError>) {
        let accepts = self.machine.try_with_value(|machine| machine.accepts(generation));
        if accepts != Some(true) {
            return;
        }
        let answer = match answer {
            Ok(snapshot) => {
                let shown = ShownOutput::from(snapshot);
                let terminal = shown.is_final;
                self.trouble.set(None);
                if self.shown.with_untracked(|known| known.as_ref() != Some(&shown)) {
                    self.shown.set(Some(shown));
                }
                Answer::Snapshot { terminal }
            }
            Err(error) if error.is_not_found() => {
                self.trouble.set(Some(Trouble::Gone));
                Answer::Gone
            }
            Err(_) => {
                self.trouble.set(Some(Trouble::Unavailable));
                Answer::Failed
            }
        };
        self.on(Event::Settled { generation, answer });
    }

    fn schedule(self, delay_ms: u32, generation: u32) {
        let handle = browser::spawn_abortable(async move {
            browser::sleep(delay_ms).await;
            self.on(Event::Tick { generation });
        });
        self.timer.try_set_value(Some(handle));
    }
}

fn abort(handle: StoredValue<Option<AbortHandle>>) {
    if let Some(Some(handle)) = handle.try_update_value(Option::take) {
        handle.abort();
    }
}

/// The open output.
#[component]
pub fn OutputRegion(driver: OutputDriver, id: String, label: String) -> impl IntoView {
    let OutputDriver { shown, trouble, .. } = driver;
    let field = move |read: fn(&ShownOutput) -> String| {
        Memo::new(move |_| shown.with(|shown| shown.as_ref().map(read).unwrap_or_default()))
    };
    let stdout = field(|shown| shown.stdout.clone());
    let stderr = field(|shown| shown.stderr.clone());
    let is_truncated =
        Memo::new(move |_| shown.with(|shown| shown.as_ref().is_some_and(|it| it.is_truncated)));
    let truncation = part(move || {
        is_truncated.get().then(|| {
            view! {
                <p class="shell__note">"Not everything was kept: the oldest part was dropped."</p>
            }
        })
    });
    let has_text =
        Memo::new(move |_| shown.with(|shown| shown.as_ref().is_some_and(|it| !it.is_empty())));
    let text = move |()| {
        shown.with_untracked(|shown| shown.as_ref().map(ShownOutput::text).unwrap_or_default())
    };
    let copy =
        part(move || has_text.get().then(|| view! { <CopyButton label="Copy output" text /> }));
    view! {
        <div class="shell__output" id=id role="region" aria-label=label>
            {part(move || trouble.get().map(|trouble| trouble_note(driver, trouble)))}
            {truncation}
            {part(move || blank(shown, trouble))}
            {copy}
            {stream_body(stdout, None)}
            {stream_body(stderr, Some("stderr"))}
        </div>
    }
}

/// The body of a stream, under its heading if it has one. Its text changes in place, block by
/// block: a body that grows is not laid out again, and what is out of sight not at all.
fn stream_body(text: Memo<String>, heading: Option<&'static str>) -> impl IntoView {
    let blocks =
        Memo::new(move |_| text.with(|text| blocks(text).map(str::to_owned).collect::<Vec<_>>()));
    let count = Memo::new(move |_| blocks.with(Vec::len));
    let has_text = Memo::new(move |_| count.get() > 0);
    let block = move |at: usize| {
        let text =
            Memo::new(move |_| blocks.with(|blocks| blocks.get(at).cloned()).unwrap_or_default());
        view! { <span class="shell__block">{move || text.get()}</span> }
    };
    part(move || {
        has_text.get().then(|| {
            view! {
                {heading.map(|heading| view! { <h3 class="shell__stream">{heading}</h3> })}
                <pre class="shell__body" tabindex="0">
                    <code>
                        <For each=move || 0..count.get() key=|at| *at children=block />
                    </code>
                </pre>
            }
        })
    })
}

/// What stands where no text does.
fn blank(
    shown: RwSignal<Option<ShownOutput>>,
    trouble: RwSignal<Option<Trouble>>,
) -> Option<AnyView> {
    let words = shown.with(|shown| match shown {
        None if trouble.get().is_some() => None,
        None => Some("Loading\u{2026}"),
        Some(shown) if !shown.is_empty() => None,
        Some(shown) if shown.is_final => Some("There is nothing to show."),
        Some(_) => Some("Nothing so far."),
    })?;
    Some(view! { <p class="shell__note" role="status">{words}</p> }.into_any())
}

fn trouble_note(driver: OutputDriver, trouble: Trouble) -> AnyView {
    let has_older = driver.shown.with(Option::is_some);
    let retry = (trouble == Trouble::Unavailable).then(|| {
        view! {
            <button
                class="button"
                type="button"
                data-variant="quiet"
                on:click=move |_| driver.retry()
            >
                {icon(Icon::Retry)}
                "Retry"
            </button>
        }
    });
    view! {
        <p class="shell__note" role="status">
            {icon(Icon::Offline)}
            {trouble.words(has_older)}
            {retry}
        </p>
    }
    .into_any()
}
