//! News of tasks that a person does not look at: in the page while they are in another task, and by
//! the system while they are in another window, if they want that.

use leptos::prelude::*;
use leptos_router::{components::A, hooks::use_location};
use model::TaskId;
use web_sys::{NotificationOptions, NotificationPermission};

use crate::{
    browser,
    context::shared,
    icon::{Icon, icon},
    state::news::{SHOWN, Standing, news},
};

/// How long news stands, in milliseconds.
const STANDS: u32 = 12_000;

/// News, as it comes. Belongs inside the router.
#[component]
pub fn News() -> impl IntoView {
    let board = shared().board;
    let path = use_location().pathname;
    let shown = RwSignal::new(Vec::<(u64, Standing)>::new());
    let last_key = StoredValue::new(0_u64);
    let standings = Memo::new(move |_| board.standings());
    Effect::new(move |before: Option<Vec<Standing>>| {
        let now = standings.get();
        for heard in news(&before.unwrap_or_default(), &now) {
            let path = path.get_untracked();
            if document().hidden() {
                notify(&heard);
            } else if path != "/" && path != address(heard.id) {
                let key = last_key.get_value() + 1;
                last_key.set_value(key);
                show(shown, key, heard);
            }
        }
        now
    });
    view! {
        <div class="news" role="status" aria-label="News">
            <For
                each=move || shown.get()
                key=|(key, _)| *key
                children=move |(key, standing)| view! { <Item shown key standing /> }
            />
        </div>
    }
}

type Shown = RwSignal<Vec<(u64, Standing)>>;

fn show(shown: Shown, key: u64, heard: Standing) {
    shown.update(|shown| {
        // The newest about a task stands for what was said of it before.
        shown.retain(|(_, known)| known.id != heard.id);
        shown.push((key, heard));
        let surplus = shown.len().saturating_sub(SHOWN);
        shown.drain(..surplus);
    });
    leptos::task::spawn_local(async move {
        browser::sleep(STANDS).await;
        remove(shown, key);
    });
}

fn remove(shown: Shown, key: u64) {
    shown.try_update(|shown| shown.retain(|(known, _)| *known != key));
}

#[component]
fn Item(shown: Shown, key: u64, standing: Standing) -> impl IntoView {
    let words = standing.words();
    let Standing { id, title, state } = standing;
    view! {
        <section class="notice news__item">
            <span class="signal" data-state=state.name()>
                {icon(state.icon())}
            </span>
            <A href=address(id) attr:class="notice__text" on:click=move |_| remove(shown, key)>
                <strong>{title}</strong>
                " "
                {words}
            </A>
            <button
                class="button"
                type="button"
                data-variant="quiet"
                data-icon=""
                aria-label="Dismiss"
                on:click=move |_| remove(shown, key)
            >
                {icon(Icon::Close)}
            </button>
        </section>
    }
}

fn address(id: TaskId) -> String {
    format!("/tasks/{id}")
}

/// Tells the system, if the person has allowed it.
fn notify(heard: &Standing) {
    if permission() != Some(NotificationPermission::Granted) {
        return;
    }
    let options = NotificationOptions::new();
    options.set_body(heard.words());
    // One for each task: the newest takes the place of the one before it.
    options.set_tag(&heard.id.to_string());
    // A browser on a phone may know the permission and refuse this way of using it.
    let _ = web_sys::Notification::new_with_options(&heard.title, &options);
}

/// Whether the system may be told; `None` where there is no such thing, as on a page that came over
/// plain HTTP from another machine.
fn permission() -> Option<NotificationPermission> {
    browser::has("Notification").then(web_sys::Notification::permission)
}

/// The way to be told by the system, as long as that is undecided.
#[component]
pub fn NotifyMe() -> impl IntoView {
    let can_ask = RwSignal::new(false);
    Effect::new(move |_| can_ask.set(permission() == Some(NotificationPermission::Default)));
    let ask = move |_| {
        can_ask.set(false);
        // The answer is read when there is something to tell.
        let _ = web_sys::Notification::request_permission();
    };
    view! {
        <button class="menu__item" type="button" hidden=move || !can_ask.get() on:click=ask>
            {icon(Icon::Waiting)}
            <span>"Notify me on this device"</span>
        </button>
    }
}
