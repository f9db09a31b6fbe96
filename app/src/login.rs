//! The login page: lets a browser in by a link that works once.

use leptos::{ev, html, prelude::*, task::spawn_local};
use serde::Serialize;

use crate::{
    browser,
    context::use_title,
    controls::{CopyButton, Notice},
    dynamic::part,
    icon::{Icon, plain_icon},
    state::login::{LoginState, token},
};

const COMMAND: &str = "kandev link";

#[derive(Serialize)]
struct Login<'a> {
    token: &'a str,
}

/// The login page. The token stands in the fragment, which no server ever sees.
#[component]
pub fn LoginPage() -> impl IntoView {
    use_title(|| "Open Kandev".to_owned());
    let state = RwSignal::new(LoginState::NoToken);
    let read_fragment = move || {
        let hash = window().location().hash().unwrap_or_default();
        if let Some(token) = token(&hash) {
            forget_fragment();
            enter(token.to_owned(), state);
        }
    };
    Effect::new(move |_| {
        read_fragment();
        // A link that is pasted over this page's address changes the fragment and loads nothing.
        let pasted = window_event_listener(ev::hashchange, move |_| read_fragment());
        on_cleanup(move || pasted.remove());
    });
    view! {
        <main class="door">
            <div class="door__card">
                {plain_icon(Icon::Mark, "door__mark")}
                <div class="prose">
                    <h1>"Open Kandev in this browser"</h1>
                    <p class="muted">
                        "Kandev runs agents with your rights on this machine, so every browser is let in once, by a link that works once."
                    </p>
                </div>
                {part(move || said(state.get()))}
                <LinkCommand />
                <PasteLink state />
            </div>
        </main>
    }
}

/// The page's address without its token, also for the history.
fn forget_fragment() {
    if let Ok(history) = window().history() {
        // It fails only for an address of another origin.
        let _ = history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some("/login"));
    }
}

fn enter(token: String, state: RwSignal<LoginState>) {
    state.set(LoginState::Checking);
    spawn_local(async move {
        let answer = browser::post("/api/v1/auth/login", &Login { token: &token }).await;
        let status = match answer {
            Ok(()) => Some(200),
            Err(error) => error.status(),
        };
        match LoginState::after(status) {
            Some(refused) => state.set(refused),
            None => browser::go_to("/"),
        }
    });
}

fn said(state: LoginState) -> Option<AnyView> {
    let (tone, mark, text) = match state {
        LoginState::NoToken => return None,
        LoginState::Checking => ("", Icon::Running, "Checking the link\u{2026}"),
        LoginState::Spent => (
            "wait",
            Icon::Key,
            "That link was used already, or it is too old. Run kandev link for a new one.",
        ),
        LoginState::RateLimited => {
            ("wait", Icon::Key, "Too many attempts. Wait a minute, then open the link again.")
        }
        LoginState::Unreachable => (
            "wait",
            Icon::Offline,
            "Kandev cannot be reached. Is it running? Then open the link again.",
        ),
    };
    Some(view! { <Notice tone mark text=text.to_owned() /> }.into_any())
}

#[component]
fn LinkCommand() -> impl IntoView {
    view! {
        <div class="field">
            <span class="field__label">"On the machine that runs Kandev"</span>
            <p class="command">
                <code>{COMMAND}</code>
                <CopyButton label="Copy the command" text=|()| COMMAND.to_owned() />
            </p>
            <span class="field__hint">"It also prints a code that a phone can scan."</span>
        </div>
    }
}

#[component]
fn PasteLink(state: RwSignal<LoginState>) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let is_no_link = RwSignal::new(false);
    let submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        let text = input.get().map(|input| input.value()).unwrap_or_default();
        let found = token(&text).map(str::to_owned);
        is_no_link.set(found.is_none());
        if let Some(token) = found {
            enter(token, state);
        }
    };
    view! {
        <form class="field" on:submit=submit>
            <label class="field__label" for="link">
                "Or paste the link here"
            </label>
            <span class="combo">
                <input
                    class="input"
                    id="link"
                    type="text"
                    inputmode="url"
                    autocomplete="off"
                    placeholder="http://127.0.0.1:38429/login#\u{2026}"
                    aria-invalid=move || is_no_link.get().then_some("true")
                    aria-describedby=move || is_no_link.get().then_some("link-problem")
                    node_ref=input
                />
                <button
                    class="button"
                    type="submit"
                    data-variant="primary"
                    disabled=move || state.get() == LoginState::Checking
                >
                    "Open"
                </button>
            </span>
            {part(move || {
                is_no_link
                    .get()
                    .then(|| {
                        view! {
                            <span class="field__hint" data-state="failed" id="link-problem" role="alert">
                                "This has no token: a link ends in #, followed by letters and digits."
                            </span>
                        }
                    })
            })}
        </form>
    }
}
