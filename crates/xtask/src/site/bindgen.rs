//! The JavaScript that loads the page's WASM.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

/// What the browser loads.
pub(super) struct Page {
    pub(super) js: Vec<u8>,
    pub(super) wasm: Vec<u8>,
}

/// Runs wasm-bindgen at exactly the version of the lock file.
pub(super) fn bind(wasm: &Path) -> Result<Page> {
    let mut output = Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        // The page passes the hashed name to `init`; a default would name a file that is not there.
        .omit_default_module_path(true)
        .generate_output()
        .with_context(|| format!("binding {}", wasm.display()))?;
    let has_snippets = output.snippets().values().any(|files| !files.is_empty());
    ensure!(
        !has_snippets && output.local_modules().is_empty(),
        "a dependency of `frontend` brings JavaScript files of its own, which the site does not carry"
    );
    let js = output.js().as_bytes().to_vec();
    Ok(Page { js, wasm: output.wasm_mut().emit_wasm() })
}
