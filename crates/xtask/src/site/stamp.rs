//! What the site was built from, so that nothing is built twice.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::asset::hex;

/// Goes up when the way the site is made changes.
const RECIPE: &str = "1";

/// Names the inputs by their content: one line for each file.
pub(super) fn of(wasm: &Path, style: &Path) -> Result<String> {
    let mut inputs = vec![wasm.to_path_buf()];
    for entry in fs::read_dir(style).with_context(|| format!("reading {}", style.display()))? {
        inputs.push(entry?.path());
    }
    inputs.sort();
    let mut stamp = format!("recipe {RECIPE}\n");
    for path in inputs {
        let content = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        stamp.push_str(&format!("{} {name}\n", hex(&content)));
    }
    Ok(stamp)
}

/// Whether the site on disk was built from these inputs.
pub(super) fn is_current(path: &Path, inputs: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|stamp| stamp == inputs)
}
