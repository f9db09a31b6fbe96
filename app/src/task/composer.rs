//! The place to write to the agent.

use leptos::{ev, html, prelude::*, task::spawn_local};
use model::{
    SessionId, SessionState, SessionView, TaskCard, TaskId,
    wire::{MessageAdded, Request},
};

use super::suggestions::{LIST, SuggestionMenu, Suggestions, commands};
use crate::{
    browser,
    context::{Act, Shared, shared},
    controls::Problem,
    dynamic::part,
    icon::{Icon, icon},
    live::{Live, Status},
    state::{
        composer::{ComposerState, composer_state, enter_sends},
        drafts::Drafts,
        session::LiveSession,
    },
};

/// The id of the field, where the focus goes when the button that had it is gone.
pub const FIELD: &str = "composer-field";

/// One message on its way. Its text stays in the field until the server has the message.
#[derive(Clone)]
struct Sending {
    field: NodeRef<html::Textarea>,
    is_under_way: RwSignal<bool>,
    error: RwSignal<Option<String>>,
    /// The text that was sent last without an answer, and its id: the same text again is the same
    /// message.
    unanswered: StoredValue<Option<(String, String)>>,
    live: Live,
    drafts: RwSignal<Drafts>,
    log: NodeRef<html::Div>,
    session_id: SessionId,
}

impl Sending {
    fn send(&self, task_id: TaskId) {
        let Some(field) = self.field.get_untracked() else { return };
        let text = field.value();
        if text.trim().is_empty() || self.is_under_way.get_untracked() {
            return;
        }
        self.is_under_way.set(true);
        self.error.set(None);
        // A button that cannot be pressed loses the focus.
        browser::focus(FIELD);
        let request = Request::MessageAdd {
            task_id,
            session_id: self.session_id,
            content: text.clone(),
            client_message_id: Some(self.message_id(&text)),
        };
        self.drafts.update(|drafts| drafts.sending(self.session_id, text.clone()));
        let sending = self.clone();
        spawn_local(async move {
            let answer = sending.live.ask::<MessageAdded>(request).await;
            sending.is_under_way.try_set(false);
            match answer {
                Ok(_) => {
                    sending.unanswered.try_set_value(None);
                    sending.drafts.update(|drafts| drafts.sent(sending.session_id, &text));
                    if let Some(log) = sending.log.try_get_untracked().flatten() {
                        log.set_scroll_top(0);
                    }
                }
                Err(error) => {
                    sending.drafts.update(|drafts| drafts.not_sent(sending.session_id));
                    sending.error.try_set(Some(error.to_string()));
                }
            }
        });
    }

    fn message_id(&self, text: &str) -> String {
        let known = self.unanswered.get_value().filter(|(sent, _)| sent == text);
        let id = known.map_or_else(browser::random_id, |(_, id)| id);
        self.unanswered.set_value(Some((text.to_owned(), id.clone())));
        id
    }
}

/// Keeps the field and the session's draft the same. What was typed before the page was alive
/// stands behind the draft that the server has.
fn keep_draft(
    field: NodeRef<html::Textarea>,
    drafts: RwSignal<Drafts>,
    kept: ArcRwSignal<Option<String>>,
    session_id: SessionId,
) {
    Effect::new(move |_| {
        if let Some(text) = kept.get() {
            drafts.update(|drafts| drafts.heard(session_id, text));
        }
    });
    Effect::new(move |was_there: Option<bool>| {
        let Some(field) = field.get() else { return false };
        let (draft, typed) =
            (drafts.with(|drafts| drafts.of(session_id).to_owned()), field.value());
        if was_there != Some(true) && !typed.is_empty() && draft != typed {
            drafts.update(|drafts| drafts.take_back(session_id, &typed));
        } else if draft != typed {
            field.set_value(&draft);
        }
        true
    });
}

/// What the composer offers now.
fn offer(
    view: ArcRwSignal<Option<SessionView>>,
    card: RwSignal<TaskCard>,
    is_under_way: RwSignal<bool>,
) -> Memo<ComposerState> {
    Memo::new(move |_| {
        let session = view.with(|view| view.as_ref().map(|view| (view.state, view.queue.len())));
        let (state, queued) = session.unwrap_or((SessionState::Starting, 0));
        let has_asked =
            card.with(|card| card.session.as_ref().is_some_and(|session| session.ask.is_some()));
        composer_state(state, has_asked, is_under_way.get(), queued)
    })
}

/// The composer of a session. A message that was sent brings the log to its end.
#[component]
pub fn Composer(
    session: LiveSession,
    card: RwSignal<TaskCard>,
    log: NodeRef<html::Div>,
) -> impl IntoView {
    let LiveSession { view, id: session_id, draft, .. } = session;
    let Shared { live, drafts, .. } = shared();
    let status = live.status();
    let sending = Sending {
        field: NodeRef::new(),
        is_under_way: RwSignal::new(false),
        error: RwSignal::new(None),
        unanswered: StoredValue::new(None),
        live,
        drafts,
        log,
        session_id,
    };
    let Sending { field, is_under_way, error, .. } = sending.clone();
    keep_draft(field, drafts, draft, session_id);
    Effect::new(move |_| {
        if status.get() == Status::Online {
            error.set(None);
        }
    });
    let menu = SuggestionMenu::new(vec![commands(view.clone())], drafts, session_id);
    let on_input = move |event: ev::Event| {
        error.set(None);
        menu.written();
        drafts.update(|drafts| drafts.write(session_id, event_target_value(&event)));
    };
    let state = offer(view, card, is_under_way);
    let send = move || {
        if state.get_untracked().can_send {
            sending.send(card.with_untracked(|card| card.id));
        }
    };
    let on_submit = {
        let send = send.clone();
        move |event: ev::SubmitEvent| {
            event.prevent_default();
            send();
        }
    };
    let on_keydown = move |event: ev::KeyboardEvent| {
        if menu.takes(&event) {
            return;
        }
        if event.key() == "Enter" && enter_sends(event.shift_key(), event.is_composing()) {
            event.prevent_default();
            send();
        }
    };
    let stop = Act::new();
    view! {
        <Suggestions menu />
        <form class="composer" on:submit=on_submit>
            <textarea
                class="composer__input"
                id=FIELD
                rows="2"
                aria-label="Message to the agent"
                aria-describedby="composer-reason"
                aria-autocomplete="list"
                aria-controls=move || menu.is_open().then_some(LIST)
                aria-activedescendant=move || menu.active()
                enterkeyhint="send"
                placeholder=move || card.with(|card| format!("Message {}", card.agent_name))
                node_ref=field
                on:input=on_input
                on:keydown=on_keydown
            ></textarea>
            <ComposerBar state stop session_id />
        </form>
        <Problem text=error />
        <Problem text=stop.error />
    }
}

/// What can be done with what is written, and why not.
#[component]
fn ComposerBar(state: Memo<ComposerState>, stop: Act, session_id: SessionId) -> impl IntoView {
    view! {
        <div class="composer__bar">
            <p class="composer__reason" id="composer-reason">
                {part(move || state.get().reason)}
            </p>
            {part(move || state.get().can_stop.then(|| stop_button(stop, session_id)))}
            <button
                class="button composer__send"
                type="submit"
                data-variant="primary"
                data-icon=""
                aria-label="Send"
                disabled=move || !state.get().can_send
            >
                {icon(Icon::Send)}
            </button>
        </div>
    }
}

fn stop_button(stop: Act, session_id: SessionId) -> AnyView {
    let cancel = move |_| {
        stop.send_then(Request::AgentCancel { session_id }, || browser::focus(FIELD));
    };
    view! {
        <button
            class="button"
            type="button"
            data-variant="danger"
            disabled=move || stop.is_pending.get()
            on:click=cancel
        >
            {icon(Icon::Stop)}
            "Stop"
        </button>
    }
    .into_any()
}
