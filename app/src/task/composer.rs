//! The place to write to the agent.

use leptos::{ev, html, prelude::*, task::spawn_local};
use model::{
    SessionState, TaskCard,
    wire::{MessageAdded, Request},
};

use crate::{
    browser,
    context::{Act, shared},
    controls::Problem,
    dynamic::part,
    icon::{Icon, icon},
    live::Live,
    state::{
        composer::{composer_state, enter_sends},
        session::LiveSession,
    },
};

/// One message on its way. The field itself holds the text: what was typed before the page was
/// alive stays, and it is cleared only when the server has the message.
#[derive(Clone)]
struct Sending {
    field: NodeRef<html::Textarea>,
    is_under_way: RwSignal<bool>,
    error: RwSignal<Option<String>>,
    /// The text that was sent last without an answer, and its id: the same text again is the same
    /// message.
    unanswered: StoredValue<Option<(String, String)>>,
    live: Live,
    session: LiveSession,
}

impl Sending {
    fn send(&self, task_id: model::TaskId) {
        let Some(field) = self.field.get_untracked() else { return };
        let text = field.value();
        if text.trim().is_empty() || self.is_under_way.get_untracked() {
            return;
        }
        self.is_under_way.set(true);
        self.error.set(None);
        let request = Request::MessageAdd {
            task_id,
            session_id: self.session.id,
            content: text.clone(),
            client_message_id: Some(self.message_id(&text)),
        };
        let sending = self.clone();
        spawn_local(async move {
            let answer = sending.live.ask::<MessageAdded>(request).await;
            sending.is_under_way.try_set(false);
            match answer {
                Ok(_) => {
                    sending.unanswered.try_set_value(None);
                    if field.value() == text {
                        field.set_value("");
                    }
                }
                Err(error) => drop(sending.error.try_set(Some(error.to_string()))),
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

/// The composer of a session.
#[component]
pub fn Composer(session: LiveSession, card: RwSignal<TaskCard>) -> impl IntoView {
    let view = session.view.clone();
    let session_id = session.id;
    let sending = Sending {
        field: NodeRef::new(),
        is_under_way: RwSignal::new(false),
        error: RwSignal::new(None),
        unanswered: StoredValue::new(None),
        live: shared().live,
        session,
    };
    let Sending { field, is_under_way, error, .. } = sending.clone();
    let state = Memo::new(move |_| {
        let session = view.with(|view| view.as_ref().map(|view| view.state));
        composer_state(session.unwrap_or(SessionState::Starting), is_under_way.get())
    });
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
        if event.key() == "Enter" && enter_sends(event.shift_key(), event.is_composing()) {
            event.prevent_default();
            send();
        }
    };
    let stop = Act::new();
    view! {
        <form class="composer" on:submit=on_submit>
            <textarea
                class="composer__input"
                rows="2"
                aria-label="Message to the agent"
                aria-describedby="composer-reason"
                enterkeyhint="send"
                placeholder=move || card.with(|card| format!("Message {}", card.agent_name))
                prop:readOnly=move || is_under_way.get()
                node_ref=field
                on:keydown=on_keydown
            ></textarea>
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
        </form>
        <Problem text=error />
        <Problem text=stop.error />
    }
}

fn stop_button(stop: Act, session_id: model::SessionId) -> AnyView {
    view! {
        <button
            class="button"
            type="button"
            data-variant="danger"
            disabled=move || stop.is_pending.get()
            on:click=move |_| stop.send(Request::AgentCancel { session_id })
        >
            {icon(Icon::Stop)}
            "Stop"
        </button>
    }
    .into_any()
}
