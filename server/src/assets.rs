//! The built page's files: embedded, compressed beforehand, named by their content.

use std::{borrow::Cow, collections::BTreeMap};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{
    HeaderMap,
    header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY},
};
use serde::Deserialize;

use crate::{AppState, Problem};

#[derive(rust_embed::RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../dist/site"]
#[allow_missing = true]
struct Embedded;

/// The files by name, and what the page loads.
#[derive(Debug, Clone, Default)]
pub struct Site {
    assets: BTreeMap<String, Asset>,
    manifest: Manifest,
}

#[derive(Debug, Clone, Default)]
struct Asset {
    identity: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
}

/// Which file is which; empty where there is none.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Manifest {
    js: String,
    wasm: String,
    css: String,
    icons: String,
    favicon: String,
}

impl Site {
    /// What was built into the program; empty if nothing was.
    pub fn embedded() -> Self {
        Self::from_files(Embedded::iter().filter_map(|name| {
            let bytes = match Embedded::get(&name)?.data {
                Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                Cow::Owned(bytes) => bytes.into(),
            };
            Some((name.into_owned(), bytes))
        }))
    }

    /// A site of these files: `NAME`, with `NAME.br` and `NAME.gz` beside it, and `manifest.json`.
    pub fn from_files(files: impl IntoIterator<Item = (String, Bytes)>) -> Self {
        let mut files: BTreeMap<String, Bytes> = files.into_iter().collect();
        let manifest = files.remove("manifest.json").and_then(|json| {
            serde_json::from_slice(&json)
                .inspect_err(|err| tracing::error!(%err, "the built page has no readable manifest"))
                .ok()
        });
        let assets = files
            .iter()
            .filter(|(name, _)| !name.ends_with(".br") && !name.ends_with(".gz"))
            .map(|(name, identity)| {
                let asset = Asset {
                    identity: identity.clone(),
                    brotli: files.get(&format!("{name}.br")).cloned(),
                    gzip: files.get(&format!("{name}.gz")).cloned(),
                };
                (name.clone(), asset)
            })
            .collect();
        Self { assets, manifest: manifest.unwrap_or_default() }
    }

    /// What the page loads, as paths; empty where the page was not built.
    pub(crate) fn paths(&self) -> app::Assets {
        let path = |name: &str| {
            if name.is_empty() { String::new() } else { format!("/assets/{name}") }
        };
        let Manifest { js, wasm, css, icons, favicon } = &self.manifest;
        app::Assets {
            js: path(js),
            wasm: path(wasm),
            css: path(css),
            icons: path(icons),
            favicon: path(favicon),
        }
    }
}

/// `GET /assets/{name}`
pub(crate) async fn asset(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    let name = path.map(|Path(name)| name).unwrap_or_default();
    let Some(asset) = state.site.assets.get(&name) else {
        return Problem::not_found("file").into_response();
    };
    let (encoding, body) = asset.choose(&headers);
    let mut response = body.into_response();
    let set = response.headers_mut();
    set.insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type(&name)));
    // Another content has another name.
    set.insert(
        CACHE_CONTROL,
        http::HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    set.insert(VARY, http::HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        set.insert(CONTENT_ENCODING, http::HeaderValue::from_static(encoding));
    }
    response
}

impl Asset {
    /// The smallest form that the client takes, and its encoding.
    fn choose(&self, headers: &HeaderMap) -> (Option<&'static str>, Bytes) {
        [("br", &self.brotli), ("gzip", &self.gzip)]
            .into_iter()
            .find_map(|(encoding, body)| {
                let body = body.as_ref().filter(|_| accepts(headers, encoding))?;
                Some((Some(encoding), body.clone()))
            })
            .unwrap_or_else(|| (None, self.identity.clone()))
    }
}

fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, ""));
            let weight = weight.trim().trim_start_matches("q=").trim_matches(['0', '.']);
            let is_refused = item.contains(';') && weight.is_empty();
            name.trim().eq_ignore_ascii_case(encoding) && !is_refused
        })
}

/// By the name's end; a name that says nothing is bytes.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT_ENCODING, value.parse().unwrap())])
    }

    #[test]
    fn the_smallest_accepted_form_is_chosen() {
        let asset =
            Asset { identity: "plain".into(), brotli: Some("br".into()), gzip: Some("gz".into()) };
        for (accept, encoding) in [
            ("gzip, deflate, br, zstd", Some("br")),
            ("gzip", Some("gzip")),
            ("br;q=0, gzip;q=0.5", Some("gzip")),
            ("br;q=0.000, gzip;q=0", None),
            ("BR ;q=1.0", Some("br")),
            ("brotli", None),
            ("", None),
        ] {
            assert_eq!(asset.choose(&headers(accept)).0, encoding, "{accept}");
        }
        let bare = Asset { brotli: None, gzip: None, ..asset };
        assert_eq!(bare.choose(&headers("br, gzip")), (None, "plain".into()));
    }

    #[test]
    fn compressed_forms_and_the_manifest_have_no_name_of_their_own() {
        let files = ["a.js", "a.js.br", "a.js.gz"].map(|name| (name.to_owned(), Bytes::from(name)));
        let manifest = ("manifest.json".to_owned(), Bytes::from_static(br#"{"js": "a.js"}"#));
        let site = Site::from_files(files.into_iter().chain([manifest]));
        assert_eq!(site.assets.keys().collect::<Vec<_>>(), ["a.js"]);
        assert_eq!(site.paths().js, "/assets/a.js");
        assert_eq!(site.paths().css, "");
    }
}
