//! Where the browser enters: makes the page that the server rendered alive, and nothing else.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script once this module is loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    app::hydrate();
}
