//! Small parts that every page uses.

use futures::future::AbortHandle;
use leptos::{ev, html, prelude::*};
use model::Timestamp;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use crate::{
    browser,
    context::shared,
    dynamic::part,
    icon::{Icon, icon, named_icon},
    state::card::CardState,
};

/// The shape of a card's state, with its words for those who do not see it.
pub fn card_signal(state: CardState) -> AnyView {
    view! {
        <span class="signal" data-state=state.name()>
            {named_icon(state.icon(), "", state.label())}
        </span>
    }
    .into_any()
}

/// How long ago something was.
#[component]
pub fn Age(#[prop(into)] at: Signal<Timestamp>) -> impl IntoView {
    let clock = shared().clock;
    view! { <time datetime=move || at.get().to_string()>{part(move || clock.age(at.get()))}</time> }
}

/// One fact about the page or a turn, and what can be done about it.
#[component]
pub fn Notice(
    #[prop(optional)] tone: &'static str,
    #[prop(optional)] is_bar: bool,
    mark: Icon,
    #[prop(into)] text: Signal<String>,
    #[prop(optional, into)] act: Option<ViewFn>,
) -> impl IntoView {
    let role = if tone == "fail" { "alert" } else { "status" };
    view! {
        <section
            class="notice"
            role=role
            data-tone=(!tone.is_empty()).then_some(tone)
            data-bar=is_bar.then_some("")
        >
            {icon(mark)}
            <p class="notice__text">{part(move || text.get())}</p>
            {act.map(|act| view! { <span class="button-row">{act.run()}</span> })}
        </section>
    }
}

/// Why something failed, under the thing it is about. Nothing when nothing did.
#[component]
pub fn Problem(
    #[prop(into)] text: Signal<Option<String>>,
    #[prop(optional, into)] id: Option<String>,
) -> impl IntoView {
    part(move || {
        text.get().map(|text| {
            view! {
                <p class="field__hint problem" data-state="failed" role="alert" id=id.clone()>
                    {icon(Icon::Failed)}
                    <span>{text}</span>
                </p>
            }
        })
    })
}

/// A place with nothing in it: what is missing, and the one act that helps.
#[component]
pub fn Empty(
    mark: Icon,
    title: &'static str,
    text: &'static str,
    #[prop(optional, into)] act: Option<ViewFn>,
) -> impl IntoView {
    view! {
        <div class="empty">
            {icon(mark)}
            <p class="empty__title">{title}</p>
            <p>{text}</p>
            {act.map(|act| act.run())}
        </div>
    }
}

/// How long a button says that it has copied, in milliseconds.
const COPIED: u32 = 2000;

/// Copies a text, and says that it did.
#[component]
pub fn CopyButton(
    /// What it does, in words: it shows an icon.
    label: &'static str,
    /// The text as it is when the button is pressed.
    #[prop(into)]
    text: Callback<(), String>,
) -> impl IntoView {
    let outcome = RwSignal::new(None::<bool>);
    let timer = StoredValue::new(None::<AbortHandle>);
    let stop = move || {
        if let Some(Some(timer)) = timer.try_update_value(Option::take) {
            timer.abort();
        }
    };
    on_cleanup(stop);
    let copy = move |_| {
        stop();
        let text = text.run(());
        let task = browser::spawn_abortable(async move {
            let is_done = browser::copy(&text).await;
            outcome.set(Some(is_done));
            browser::sleep(COPIED).await;
            outcome.set(None);
        });
        timer.set_value(Some(task));
    };
    let words = move || match outcome.get() {
        None => label,
        Some(true) => "Copied",
        Some(false) => "Not copied",
    };
    let mark = move || match outcome.get() {
        None => Icon::Copy,
        Some(true) => Icon::Done,
        Some(false) => Icon::Failed,
    };
    view! {
        <button
            class="button copy"
            type="button"
            data-variant="quiet"
            data-icon=""
            title=words
            aria-label=words
            on:click=copy
        >
            {part(move || icon(mark()))}
        </button>
    }
}

/// Stands where a card or a text will come.
pub fn skeleton() -> AnyView {
    view! {
        <div class="card" role="status" aria-label="Loading">
            <div class="skeleton"></div>
            <div class="skeleton"></div>
        </div>
    }
    .into_any()
}

/// A dialog over the page. It opens and closes with `is_open`, and has contents while it is open.
#[component]
pub fn Modal(
    is_open: RwSignal<bool>,
    title_id: &'static str,
    #[prop(into)] contents: ViewFn,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = dialog.get() else { return };
        match (is_open.get(), dialog.open()) {
            // Once the contents are there, so that the focus finds its place in them. It fails only
            // for a dialog that has left the page.
            (true, false) => request_animation_frame(move || drop(dialog.show_modal())),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    // A press that begins inside, to select text for example, and ends outside is no click on the
    // backdrop, though it is reported as one.
    let pressed_backdrop = StoredValue::new(false);
    let note_press = move |event: ev::PointerEvent| pressed_backdrop.set_value(is_backdrop(&event));
    let close_on_backdrop = move |event: ev::MouseEvent| {
        if is_backdrop(&event) && pressed_backdrop.get_value() {
            is_open.set(false);
        }
    };
    view! {
        <dialog
            class="dialog"
            aria-labelledby=title_id
            node_ref=dialog
            on:close=move |_| is_open.set(false)
            on:pointerdown=note_press
            on:click=close_on_backdrop
        >
            {part(move || is_open.get().then(|| contents.run()))}
        </dialog>
    }
}

/// Whether an event hit the dialog itself, which is where its contents are not.
fn is_backdrop(event: &ev::MouseEvent) -> bool {
    browser::target(event).is_some_and(|target| target.node_name() == "DIALOG")
}

/// Closes open menus as people expect: by a click elsewhere or on an item, and by Escape.
pub fn close_menus() {
    Effect::new(|_| {
        let click = window_event_listener(ev::click, |event| {
            let target = browser::target(&event);
            for menu in open_menus() {
                let is_outside = !menu.contains(target.as_ref().map(AsRef::as_ref));
                let is_item = target
                    .as_ref()
                    .is_some_and(|target| matches!(target.closest(".menu__item"), Ok(Some(_))));
                if is_item {
                    leave(&menu);
                } else if is_outside {
                    close(&menu);
                }
            }
        });
        let escape = window_event_listener(ev::keydown, |event| {
            if event.key() == "Escape" {
                open_menus().iter().for_each(leave);
            }
        });
        on_cleanup(move || {
            click.remove();
            escape.remove();
        });
    });
}

fn open_menus() -> Vec<Element> {
    let Ok(menus) = document().query_selector_all("details.menu[open]") else { return Vec::new() };
    (0..menus.length()).filter_map(|at| menus.item(at)?.dyn_into().ok()).collect()
}

fn close(menu: &Element) {
    // It fails only for an attribute that has no name.
    let _ = menu.remove_attribute("open");
}

/// Closes a menu and gives the focus back to what opened it, if it was inside.
fn leave(menu: &Element) {
    let focused = document().active_element();
    let had_focus = menu.contains(focused.as_ref().map(AsRef::as_ref));
    close(menu);
    let summary = menu.query_selector("summary").ok().flatten();
    if had_focus && let Some(summary) = summary.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // A refused focus leaves it where it was.
        let _ = summary.focus();
    }
}

/// Whether a key press belongs to a field or a dialog rather than to the page.
pub fn is_typing(event: &ev::KeyboardEvent) -> bool {
    let is_field = browser::target(event).is_some_and(|target| {
        matches!(target.closest("input, textarea, select, dialog"), Ok(Some(_)))
    });
    is_field || event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented()
}
