//! Follow-ups that wait for the turn before them: seen, sent early, taken back (K-045).

use leptos::{prelude::*, task::spawn_local};
use model::{MessageId, QueuedPrompt, SessionId, wire::Request};

use super::composer::FIELD;
use crate::{
    browser,
    context::{Act, Shared, shared},
    controls::Problem,
    dynamic::part,
    icon::{Icon, icon},
    state::session::LiveSession,
};

/// The follow-ups of a session, above its composer; nothing when none waits.
#[component]
pub fn Queue(session: LiveSession) -> impl IntoView {
    let (view, session_id) = (session.view, session.id);
    let rows = {
        let view = view.clone();
        move || view.with(|view| view.as_ref().map(|view| view.queue.clone()).unwrap_or_default())
    };
    let is_busy =
        Memo::new(move |_| view.with(|view| view.as_ref().is_none_or(|view| view.state.is_busy())));
    let has_any = {
        let rows = rows.clone();
        Memo::new(move |_| !rows().is_empty())
    };
    let error = RwSignal::new(None);
    part(move || {
        let rows = rows.clone();
        has_any.get().then(|| {
            view! {
                <section class="queue" aria-label="Messages that wait">
                    <p class="queue__note">
                        {part(move || {
                            if is_busy.get() { "Sent when the agent is done" } else { "Not sent" }
                        })}
                    </p>
                    <ol class="queue__list">
                        <For
                            each=rows
                            key=|queued| queued.id
                            children=move |queued| {
                                view! { <Queued session_id queued is_busy error /> }
                            }
                        />
                    </ol>
                    <Problem text=error />
                </section>
            }
        })
    })
}

#[component]
fn Queued(
    session_id: SessionId,
    queued: QueuedPrompt,
    is_busy: Memo<bool>,
    error: RwSignal<Option<String>>,
) -> impl IntoView {
    let QueuedPrompt { id, content, .. } = queued;
    let send = Act::new();
    let send_now = part(move || {
        (!is_busy.get()).then(|| {
            let request = Request::QueueSend { session_id, message_id: id };
            view! {
                <button
                    class="button"
                    type="button"
                    disabled=move || send.is_pending.get()
                    on:click=move |_| send.send_then(request.clone(), || browser::focus(FIELD))
                >
                    "Send now"
                </button>
            }
        })
    });
    let take_back = take_back(session_id, id, error);
    view! {
        <li class="queue__row">
            <span class="queue__text">{content}</span>
            {send_now}
            <button
                class="button"
                type="button"
                data-variant="quiet"
                data-icon=""
                aria-label="Remove, and put the text back into the field"
                title="Remove"
                on:click=move |_| take_back()
            >
                {icon(Icon::Close)}
            </button>
            <Problem text=send.error />
        </li>
    }
}

/// Removes a message that waits. Its text goes back to where it was written, behind what is there.
fn take_back(
    session_id: SessionId,
    message_id: MessageId,
    error: RwSignal<Option<String>>,
) -> impl Fn() + Copy {
    let Shared { live, drafts, .. } = shared();
    let live = StoredValue::new(live);
    move || {
        let Some(live) = live.try_get_value() else { return };
        error.set(None);
        spawn_local(async move {
            let request = Request::QueueRemove { session_id, message_id };
            match live.ask::<QueuedPrompt>(request).await {
                Ok(queued) => {
                    drafts.update(|drafts| drafts.take_back(session_id, &queued.content));
                    browser::focus(FIELD);
                }
                Err(failed) => drop(error.try_set(Some(failed.to_string()))),
            }
        });
    }
}
