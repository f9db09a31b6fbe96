//! The page's files in `dist/site`: WASM and its JavaScript, style, icons; hashed names, precompressed.
//!
//! The server embeds the folder. A file that did not change keeps its name and its time, so a second
//! build compresses nothing and recompiles nothing.

mod asset;
mod bindgen;
mod budget;
mod stamp;
mod style;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::wasm;
use crate::workspace::Workspace;
use asset::Asset;

pub(crate) use budget::check as check_budget;

const MANIFEST: &str = "manifest.json";

/// Which file plays which part: `js`, `wasm`, `css`, `icons`, `favicon` to a hashed file name.
pub(crate) type Manifest = BTreeMap<String, String>;

/// Builds what changed.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let wasm = wasm::build(workspace)?;
    let style = workspace.root.join("style");
    let stamp = workspace.root.join("dist/site.stamp");
    let inputs = stamp::of(&wasm, &style)?;
    let site = workspace.site();
    if stamp::is_current(&stamp, &inputs) && is_complete(&site) {
        return Ok(());
    }
    write(&site, &assets(&wasm, &style)?)?;
    fs::write(&stamp, inputs).with_context(|| format!("writing {}", stamp.display()))
}

/// The manifest of a built site.
pub(crate) fn manifest(site: &Path) -> Result<Manifest> {
    let path = site.join(MANIFEST);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))
}

fn assets(wasm: &Path, style: &Path) -> Result<Vec<Asset>> {
    let page = bindgen::bind(wasm)?;
    let read = |name: &str| {
        let path = style.join(name);
        fs::read(&path).with_context(|| format!("reading {}", path.display()))
    };
    Ok(vec![
        Asset::new("js", "kandev", "js", page.js),
        Asset::new("wasm", "kandev", "wasm", page.wasm),
        Asset::new("css", "kandev", "css", style::bundle(style)?.into_bytes()),
        Asset::new("icons", "icons", "svg", read("icons.svg")?),
        Asset::new("favicon", "favicon", "svg", read("favicon.svg")?),
    ])
}

/// Writes what is new, then the manifest, and removes what no part needs any more.
fn write(site: &Path, assets: &[Asset]) -> Result<()> {
    fs::create_dir_all(site).with_context(|| format!("making {}", site.display()))?;
    for asset in assets {
        asset.write(site)?;
    }
    let manifest: Manifest =
        assets.iter().map(|asset| (asset.part.to_owned(), asset.name())).collect();
    asset::replace(&site.join(MANIFEST), serde_json::to_string(&manifest)?.as_bytes())?;
    remove_stale(site, &manifest)
}

fn remove_stale(site: &Path, manifest: &Manifest) -> Result<()> {
    for entry in fs::read_dir(site)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_needed = name == MANIFEST || files(manifest).any(|file| file == name);
        if !is_needed {
            fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

fn is_complete(site: &Path) -> bool {
    manifest(site).is_ok_and(|manifest| files(&manifest).all(|file| site.join(file).is_file()))
}

/// Every file of a site but the manifest.
fn files(manifest: &Manifest) -> impl Iterator<Item = String> + '_ {
    manifest.values().flat_map(|name| ["", ".br", ".gz"].map(|suffix| format!("{name}{suffix}")))
}

#[cfg(test)]
mod tests;
