//! The HTML document around the page, and what the browser reads back from it.

use leptos::{nonce::use_nonce, prelude::*};
use model::{BootState, Page};

use crate::root::App;

/// The id of the element that holds the boot state.
const BOOT_STATE_ID: &str = "boot-state";

/// Keeps the clicks on buttons that come before the page is alive, and makes them then (S-052). What
/// works without a script, forms and links, is left alone.
const HOLD_CLICKS: &str = "{const held=[],hold=e=>{const b=e.target.closest?.('button[type=button]');\
    if(b){e.stopPropagation();held.push(b)}};addEventListener('click',hold,true);\
    window.clickHeld=()=>{removeEventListener('click',hold,true);\
    for(const b of held)if(b.isConnected)b.click()}}";

/// Where the page's files are served, as absolute paths.
///
/// An empty `js` leaves the page without a script: it can be read, but not used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assets {
    /// The JavaScript that loads the WASM.
    pub js: String,
    /// The WASM.
    pub wasm: String,
    /// The styles.
    pub css: String,
    /// The SVG sprite.
    pub icons: String,
    /// The icon of the tab.
    pub favicon: String,
}

/// The whole document. Expects `assets` and `boot` in the context too, for what is inside.
#[expect(clippy::needless_pass_by_value, reason = "what is rendered owns what it shows")]
pub fn shell(assets: Assets, boot: BootState) -> impl IntoView {
    let json = script_json(&boot);
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta
                    name="viewport"
                    content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
                />
                <meta name="color-scheme" content="light dark" />
                <title inner_html=escaped(&title(&boot))></title>
                <link rel="icon" href=assets.favicon.clone() type="image/svg+xml" />
                <link rel="stylesheet" href=assets.css.clone() />
                <script
                    type="application/json"
                    id=BOOT_STATE_ID
                    data-icons=assets.icons.clone()
                    inner_html=json
                ></script>
                {(!assets.js.is_empty()).then(|| scripts(&assets))}
            </head>
            <body>
                <App />
            </body>
        </html>
    }
}

fn scripts(assets: &Assets) -> impl IntoView + use<> {
    let Assets { js, wasm, .. } = assets;
    let start = format!(
        "import init,{{hydrate}} from {js:?};init({{module_or_path:{wasm:?}}}).then(()=>{{hydrate();clickHeld()}})"
    );
    view! {
        <script nonce=use_nonce() inner_html=HOLD_CLICKS></script>
        <link rel="modulepreload" href=js.clone() nonce=use_nonce() />
        <link
            rel="preload"
            href=wasm.clone()
            r#as="fetch"
            r#type="application/wasm"
            crossorigin="anonymous"
        />
        <script type="module" nonce=use_nonce() inner_html=start></script>
    }
}

/// The title of the page before anything has changed.
fn title(boot: &BootState) -> String {
    let page = match boot.initial_state.page {
        Page::Login => "Open Kandev",
        Page::Board => "Board",
        Page::Task => boot.initial_state.task.as_ref().map_or("Task", |task| &task.title),
        Page::Agents => "Agents",
        Page::NotFound => "Not found",
    };
    full_title(page)
}

/// Text for the inside of a title element, which knows entities and no comments: the marks that
/// hydration puts behind text would be read out.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The title of the tab for a page of this name.
pub fn full_title(page: &str) -> String {
    format!("{page} \u{b7} Kandev")
}

/// The same while so many tasks wait for the person.
pub fn counted_title(waiting: usize, title: &str) -> String {
    if waiting == 0 { title.to_owned() } else { format!("({waiting}) {title}") }
}

/// JSON that cannot end the script element it stands in, nor begin a comment or an entity.
fn script_json(boot: &BootState) -> String {
    let json = serde_json::to_string(boot).expect("strings are the only keys in it");
    let mut safe = String::with_capacity(json.len() + json.len() / 16);
    for char in json.chars() {
        match char {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(char),
        }
    }
    safe
}

/// Makes the page alive that the server rendered.
///
/// # Panics
///
/// The document is not one of [`shell`]'s.
#[cfg(feature = "hydrate")]
pub fn hydrate() {
    let element = document().get_element_by_id(BOOT_STATE_ID).expect("the shell writes it");
    let json = element.text_content().unwrap_or_default();
    let boot: BootState = crate::state::frames::parse(&json).expect("the server wrote this type");
    let icons = element.get_attribute("data-icons").unwrap_or_default();
    leptos::mount::hydrate_body(move || {
        provide_context(Assets { icons, ..Assets::default() });
        provide_context(boot);
        // Runs when the page stands: whoever clicks now is answered.
        Effect::new(|_| mark_alive());
        view! { <App /> }
    });
    if let Some(root) = document().document_element() {
        // Says that clicks are heard. Without it the page is as it was.
        let _ = root.set_attribute("data-hydrated", "");
    }
}

/// Says in the document that the page answers to clicks.
#[cfg(feature = "hydrate")]
fn mark_alive() {
    if let Some(root) = document().document_element() {
        // It fails only for a name that is none.
        let _ = root.set_attribute("data-hydrated", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;

    #[test]
    fn the_tab_says_how_many_tasks_wait() {
        assert_eq!(counted_title(0, "Board"), "Board");
        assert_eq!(counted_title(2, "Board"), "(2) Board");
    }

    #[test]
    fn the_boot_state_cannot_leave_its_element() {
        let mut boot = samples::boot();
        boot.version = "</script><!-- & \u{2028}\u{2029}".into();
        let json = script_json(&boot);
        assert!(!json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{json}");
        assert_eq!(serde_json::from_str::<BootState>(&json).unwrap(), boot);
    }
}
