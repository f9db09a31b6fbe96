//! What only a browser can do. Called from event handlers and effects, so never on the server.

use futures::future::{AbortHandle, abortable};
use gloo_net::http::{Request, Response};
use leptos::{html, prelude::*, task::spawn_local};
use model::{ApiError, Timestamp};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue, prelude::Closure};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Element, HtmlDocument, HtmlTextAreaElement, IntersectionObserver,
    IntersectionObserverEntry, IntersectionObserverInit,
};

use crate::state::frames::parse;

/// Why a request brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The server refused it.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// For a person.
        message: String,
    },
    /// The server did not answer, or not in a way that can be read.
    #[error("Kandev cannot be reached. Is it running?")]
    Unreachable,
}

impl FetchError {
    /// There is no such thing: asking again is of no use.
    pub const fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// The HTTP status, if there was an answer.
    pub const fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            Self::Unreachable => None,
        }
    }
}

/// Reads JSON. Dropping the future aborts the request. Without a session, the login page opens.
pub async fn get<T: DeserializeOwned>(path: &str) -> Result<T, FetchError> {
    let controller = AbortOnDrop::new();
    let request = Request::get(path).abort_signal(controller.signal().as_ref());
    let response = request.send().await.map_err(|_| FetchError::Unreachable)?;
    if response.status() == 401 {
        go_to("/login");
    }
    let text = accepted(response).await?.text().await.map_err(|_| FetchError::Unreachable)?;
    parse(&text).ok_or(FetchError::Unreachable)
}

/// Sends JSON.
pub async fn post(path: &str, body: &impl Serialize) -> Result<(), FetchError> {
    let request = Request::post(path).json(body).map_err(|_| FetchError::Unreachable)?;
    let response = request.send().await.map_err(|_| FetchError::Unreachable)?;
    accepted(response).await.map(drop)
}

async fn accepted(response: Response) -> Result<Response, FetchError> {
    if response.ok() {
        return Ok(response);
    }
    let text = response.text().await.unwrap_or_default();
    let message = match parse::<ApiError>(&text) {
        Some(error) => error.message,
        None => format!("The server answered with status {}.", response.status()),
    };
    Err(FetchError::Refused { status: response.status(), message })
}

struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    fn new() -> Self {
        Self(AbortController::new().ok())
    }

    fn signal(&self) -> Option<web_sys::AbortSignal> {
        self.0.as_ref().map(AbortController::signal)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}

/// Runs a future until it is done or its handle aborts it.
pub fn spawn_abortable(future: impl Future<Output = ()> + 'static) -> AbortHandle {
    let (future, handle) = abortable(future);
    spawn_local(async move {
        // An error means that it was aborted, which is what its owner wanted.
        let _ = future.await;
    });
    handle
}

/// Waits.
pub async fn sleep(milliseconds: u32) {
    gloo_timers::future::TimeoutFuture::new(milliseconds).await;
}

/// The browser's clock.
pub fn now() -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of an epoch fit")]
    let millis = js_sys::Date::now() as i64;
    Timestamp::from_millis(millis)
}

/// An id that nothing else has, good enough to tell two sendings of one prompt from two prompts.
pub fn random_id() -> String {
    format!("{:x}-{:x}", now().as_millis(), js_sys::Math::random().to_bits())
}

/// Leaves the page for another one, without a way back.
pub fn go_to(path: &str) {
    // It fails only for an address that cannot be read.
    let _ = window().location().replace(path);
}

/// The address of a WebSocket of this server.
pub fn socket_address(path: &str) -> String {
    let location = window().location();
    let is_secure = location.protocol().is_ok_and(|protocol| protocol == "https:");
    let scheme = if is_secure { "wss" } else { "ws" };
    format!("{scheme}://{}{path}", location.host().unwrap_or_default())
}

/// Puts text into the clipboard; whether that was done. A page that came over plain HTTP from
/// another machine has no clipboard, and copies as pages did before there was one.
pub async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    let has_clipboard = js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard"))
        .is_ok_and(|clipboard| clipboard.is_object());
    if has_clipboard {
        return JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok();
    }
    copy_selected(text).unwrap_or(false)
}

fn copy_selected(text: &str) -> Option<bool> {
    let document = document().dyn_into::<HtmlDocument>().ok()?;
    let had_focus = document.active_element();
    let field = document.create_element("textarea").ok()?.dyn_into::<HtmlTextAreaElement>().ok()?;
    field.set_value(text);
    field.set_class_name("copied");
    // A dialog that is open takes the focus back from everything outside.
    let place = document.query_selector("dialog[open]").ok().flatten();
    place.or_else(|| document.body().map(Into::into))?.append_child(&field).ok()?;
    field.select();
    let is_done = document.exec_command("copy").unwrap_or(false);
    field.remove();
    if let Some(element) = had_focus.and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok()) {
        // A refused focus leaves it where it was.
        let _ = element.focus();
    }
    Some(is_done)
}

/// Whether the browser has something of this name.
pub fn has(name: &str) -> bool {
    js_sys::Reflect::has(&window(), &JsValue::from_str(name)).unwrap_or(false)
}

/// The element that an event came from.
pub fn target(event: &web_sys::Event) -> Option<Element> {
    event.target().and_then(|target| target.dyn_into().ok())
}

/// Puts the focus on an element, if it is there.
pub fn focus(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) =
        element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok())
    {
        // A refused focus leaves it where it was.
        let _ = element.focus();
    }
}

/// How far around its log a page of rows is still near.
const NEAR: &str = "200% 0px";

/// Tells whether an element is in sight of the log around it, or near that, whenever it changes.
pub fn on_nearness(node: NodeRef<html::Div>, tell: impl Fn(bool) + Clone + 'static) {
    let watch =
        StoredValue::new_local(None::<(IntersectionObserver, Closure<dyn Fn(js_sys::Array)>)>);
    Effect::new(move |_| {
        let Some(element) = node.get() else { return };
        let tell = tell.clone();
        let on_change = Closure::new(move |entries: js_sys::Array| {
            let newest = entries.iter().next_back();
            if let Some(entry) =
                newest.and_then(|entry| entry.dyn_into::<IntersectionObserverEntry>().ok())
            {
                tell(entry.is_intersecting());
            }
        });
        let options = IntersectionObserverInit::new();
        options.set_root(element.closest(".chat__log").ok().flatten().as_ref());
        options.set_root_margin(NEAR);
        let callback = AsRef::<JsValue>::as_ref(&on_change).unchecked_ref();
        // It fails only for a margin that is none.
        if let Ok(observer) = IntersectionObserver::new_with_options(callback, &options) {
            observer.observe(&element);
            watch.set_value(Some((observer, on_change)));
        }
    });
    on_cleanup(move || {
        watch.try_update_value(|watch| {
            if let Some((observer, _)) = watch.take() {
                observer.disconnect();
            }
        });
    });
}
