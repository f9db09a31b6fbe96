//! The chat: what was said and done, in order, and the place to say more.

use leptos::{html, prelude::*, task::spawn_local};
use model::{
    MessageView, SessionView, TaskCard, TurnOutcome,
    wire::{MessagePage, Request},
};

use super::{
    composer::Composer,
    message::{MessageRow, SessionFacts},
    queue::Queue,
};
use crate::{
    browser,
    context::{Act, shared},
    controls::{Notice, Problem, skeleton},
    dynamic::part,
    icon::{Icon, icon},
    state::{
        history::{History, Page},
        rows::Rows,
        session::{LiveSession, Offer, start_offer, turn_line},
    },
};

/// Further from the end than this counts as reading what was before, in CSS pixels.
const AWAY: i32 = 80;

/// The chat of one session. Its log stands at its end without a script: it scrolls in reverse.
#[component]
pub fn Chat(session: LiveSession, card: RwSignal<TaskCard>) -> impl IntoView {
    let log = NodeRef::<html::Div>::new();
    let is_away = RwSignal::new(false);
    let track = move |_| {
        let away = log.get().is_some_and(|log| log.scroll_top() < -AWAY);
        if is_away.get_untracked() != away {
            is_away.set(away);
        }
    };
    let to_latest = move |_| {
        if let Some(log) = log.get() {
            log.set_scroll_top(0);
        }
    };
    let foot = session.clone();
    view! {
        <section class="chat" aria-label="Chat">
            <div
                class="chat__log"
                role="log"
                aria-label="Conversation"
                tabindex="0"
                node_ref=log
                on:scroll=track
            >
                <Flow session />
            </div>
            <div class="chat__foot">
                <button
                    class="button chat__jump"
                    type="button"
                    hidden=move || !is_away.get()
                    on:click=to_latest
                >
                    {icon(Icon::Down)}
                    "Jump to latest"
                </button>
                <StartOffer session=foot.clone() />
                <Queue session=foot.clone() />
                <Composer session=foot card log />
            </div>
        </section>
    }
}

#[component]
fn Flow(session: LiveSession) -> impl IntoView {
    let (history, view, older) = (session.messages.clone(), session.view.clone(), session.clone());
    let facts = SessionFacts::of(&session);
    let pages = history.clone();
    let is_loading = {
        let view = view.clone();
        Memo::new(move |_| view.with(Option::is_none))
    };
    let end = Memo::new(move |_| view.with(|view| view.as_ref().and_then(end_line)));
    view! {
        <div class="chat__flow">
            {part(move || is_loading.get().then(skeleton))}
            <Older session=older />
            <For
                each=move || history.pages()
                key=|page| page.id
                children=move |page| {
                    view! { <PageOfRows page history=pages.clone() facts /> }
                }
            />
            {part(move || end.get().map(|text| view! { <p class="divider">{text}</p> }))}
        </div>
    }
}

/// The line under the last turn. A failure has its own message and needs no second one.
fn end_line(session: &SessionView) -> Option<String> {
    let outcome = session.turn.as_ref()?.outcome?;
    if outcome == TurnOutcome::Failed { None } else { turn_line(session) }
}

fn message_rows(rows: Rows<MessageView>, facts: SessionFacts) -> AnyView {
    view! {
        <For
            each=move || rows.list()
            key=|row| row.key
            children=move |row| view! { <MessageRow row session=facts /> }
        />
    }
    .into_any()
}

/// A page of rows. One that is far out of sight is folded to its height, so that the document stays
/// small however long the history is (S-051). The last page, which changes, never is.
#[component]
fn PageOfRows(page: Page, history: History, facts: SessionFacts) -> impl IntoView {
    let Page { id, rows } = page;
    let node = NodeRef::<html::Div>::new();
    let folded = RwSignal::new(None::<i32>);
    let is_last = Memo::new(move |_| history.is_last(id));
    browser::on_nearness(node, move |is_near| {
        let Some(element) = node.get_untracked() else { return };
        let height = (!is_near && !is_last.get_untracked()).then(|| element.offset_height());
        if folded.get_untracked().is_some() != height.is_some() {
            folded.set(height);
        }
    });
    let shown = Memo::new(move |_| folded.get().is_none() || is_last.get());
    view! {
        <div
            class="chat__page"
            node_ref=node
            style:height=move || folded.get().filter(|_| !shown.get()).map(|height| format!("{height}px"))
        >
            {part(move || shown.get().then(|| message_rows(rows.clone(), facts)))}
        </div>
    }
}

impl SessionFacts {
    fn of(session: &LiveSession) -> Self {
        let (named, cancelled) = (session.view.clone(), session.view.clone());
        let agent = Memo::new(move |_| {
            named.with(|view| view.as_ref().map(|view| view.agent_name.clone()))
        });
        let survivors = Memo::new(move |_| {
            cancelled
                .with(|view| view.as_ref().map(|view| view.survivors.clone()).unwrap_or_default())
        });
        Self { agent, streaming: streaming_row(session), survivors }
    }
}

/// The row that the agent is still writing.
fn streaming_row(session: &LiveSession) -> Memo<Option<u64>> {
    let session = session.clone();
    Memo::new(move |_| {
        let is_busy =
            session.view.with(|view| view.as_ref().is_some_and(|view| view.state.is_busy()));
        session.messages.last_key().filter(|_| is_busy)
    })
}

/// Brings the messages before those that are here. The log scrolls in reverse, so that what is
/// read stays where it is.
#[component]
fn Older(session: LiveSession) -> impl IntoView {
    let has_older = session.has_older.clone();
    let is_pending = RwSignal::new(false);
    let error = RwSignal::new(None);
    let live = shared().live;
    let load = move || {
        if is_pending.get_untracked() {
            return;
        }
        is_pending.set(true);
        error.set(None);
        let (live, session) = (live.clone(), session.clone());
        spawn_local(async move {
            let (session_id, before) = (session.id, session.messages.first_key());
            let request = Request::MessageList { session_id, before, limit: None };
            let answer = live.ask::<MessagePage>(request).await;
            is_pending.try_set(false);
            match answer {
                Ok(page) => session.take_older(page),
                Err(failed) => drop(error.try_set(Some(failed.to_string()))),
            }
        });
    };
    part(move || {
        let load = load.clone();
        has_older.get().then(|| {
            view! {
                <div class="chat__older">
                    <button
                        class="button"
                        type="button"
                        data-variant="quiet"
                        disabled=move || is_pending.get()
                        on:click=move |_| load()
                    >
                        "Load older"
                    </button>
                    <Problem text=error />
                </div>
            }
        })
    })
}

/// What can be done about a session that does not work.
#[component]
fn StartOffer(session: LiveSession) -> impl IntoView {
    let (view, session_id) = (session.view, session.id);
    let offer = Memo::new(move |_| view.with(|view| view.as_ref().and_then(start_offer)));
    let act = Act::new();
    part(move || {
        offer.get().map(|Offer { icon: mark, fact, act: words }| {
            let button = ViewFn::from(move || {
                view! {
                    <button
                        class="button"
                        type="button"
                        disabled=move || act.is_pending.get()
                        on:click=move |_| act.send(Request::SessionStart { session_id })
                    >
                        {icon(Icon::Retry)}
                        {words}
                    </button>
                }
            });
            view! {
                <Notice mark text=fact.to_owned() act=button />
                <Problem text=act.error />
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::SessionState;

    #[test]
    fn a_failure_is_left_to_its_own_message() {
        let ended = |outcome| {
            let mut view = samples::session(SessionState::WaitingForInput);
            let turn = samples::turn();
            let ended_at = Some(turn.started_at);
            view.turn = Some(model::Turn { ended_at, outcome: Some(outcome), ..turn });
            end_line(&view)
        };
        assert_eq!(ended(TurnOutcome::Failed), None);
        assert!(ended(TurnOutcome::Completed).is_some());
    }
}
