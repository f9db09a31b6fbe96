//! Brings what is typed to the server once the typing pauses, one text at a time.

use futures::future::AbortHandle;
use leptos::{ev, prelude::*, task::spawn_local};
use model::wire::Request;
use serde_json::Value;

use super::{AskError, Live, Status};
use crate::{browser, state::drafts::Drafts};

/// A pause in the typing, in milliseconds.
const PAUSE: u32 = 400;

/// Keeps the server's drafts the same as those of this page, for as long as the page lives. Without
/// a connection they go there when it is back.
pub fn keep_drafts(drafts: RwSignal<Drafts>, live: &Live) {
    let keeper = Keeper {
        drafts,
        live: live.clone(),
        is_under_way: StoredValue::new(false),
        timer: StoredValue::new(None),
    };
    let status = live.status();
    let hidden = keeper.clone();
    Effect::new(move |_| {
        let has_unkept = drafts.with(|drafts| drafts.unkept().is_some());
        keeper.wait(has_unkept && status.get() == Status::Online);
    });
    Effect::new(move |_| {
        let keeper = hidden.clone();
        // The last moment at which a page on a phone is sure to run.
        let leaving = window_event_listener(ev::visibilitychange, move |_| {
            if document().hidden() {
                keeper.send();
            }
        });
        on_cleanup(move || leaving.remove());
    });
}

#[derive(Clone)]
struct Keeper {
    drafts: RwSignal<Drafts>,
    live: Live,
    is_under_way: StoredValue<bool>,
    timer: StoredValue<Option<AbortHandle>>,
}

impl Keeper {
    /// Begins the pause anew, if there is anything to send after it.
    fn wait(&self, has_work: bool) {
        if let Some(Some(timer)) = self.timer.try_update_value(Option::take) {
            timer.abort();
        }
        if has_work {
            let keeper = self.clone();
            let timer = browser::spawn_abortable(async move {
                browser::sleep(PAUSE).await;
                keeper.send();
            });
            self.timer.set_value(Some(timer));
        }
    }

    fn send(&self) {
        let keeper = self.clone();
        spawn_local(async move {
            if keeper.is_under_way.try_get_value() == Some(false) {
                keeper.is_under_way.set_value(true);
                keeper.send_all().await;
                keeper.is_under_way.try_set_value(false);
            }
        });
    }

    async fn send_all(&self) {
        while let Some(Some((session_id, text))) = self.drafts.try_with_untracked(Drafts::unkept) {
            let request = Request::DraftSet { session_id, text: text.clone() };
            match self.live.ask::<Value>(request).await {
                // One that is refused is refused again.
                Ok(_) | Err(AskError::Refused(_)) => {
                    self.drafts.try_update(|drafts| drafts.kept(session_id, text));
                }
                Err(_) => return,
            }
        }
    }
}
