//! The site is complete, named by content, and written only when something changed.

use std::fs;
use std::io::Read as _;
use std::time::SystemTime;

use super::asset::Asset;
use super::{budget, is_complete, manifest, stamp, style, write};

fn script(text: &str) -> Asset {
    Asset::new("js", "kandev", "js", text.as_bytes().to_vec())
}

#[test]
fn name_follows_content() {
    assert_eq!(script("abc").name(), "kandev-ba7816bf8f01cfea.js");
    assert_ne!(script("abc").name(), script("abd").name());
}

#[test]
fn siblings_decode_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let asset = script(&"let kandev = 1;\n".repeat(100));
    asset.write(folder.path()).unwrap();

    let file = |suffix: &str| fs::read(folder.path().join(asset.name() + suffix)).unwrap();
    let mut from_brotli = Vec::new();
    brotli::Decompressor::new(&*file(".br"), 4096).read_to_end(&mut from_brotli).unwrap();
    let mut from_gzip = Vec::new();
    flate2::read::GzDecoder::new(&*file(".gz")).read_to_end(&mut from_gzip).unwrap();

    assert_eq!(from_brotli, file(""));
    assert_eq!(from_gzip, file(""));
    assert!(file(".br").len() < file("").len());
}

#[test]
fn new_content_replaces_the_stale_files() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[script("first")]).unwrap();
    let first = manifest(folder.path()).unwrap()["js"].clone();
    write(folder.path(), &[script("second")]).unwrap();

    assert!(!folder.path().join(&first).exists());
    assert!(!folder.path().join(format!("{first}.br")).exists());
    assert!(is_complete(folder.path()));
    assert_eq!(manifest(folder.path()).unwrap()["js"], script("second").name());
}

#[test]
fn same_content_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let modified = |name: &str| fs::metadata(folder.path().join(name)).unwrap().modified().unwrap();
    write(folder.path(), &[script("same")]).unwrap();
    let names = [script("same").name(), "manifest.json".to_owned()];
    let long_ago = SystemTime::UNIX_EPOCH;
    for name in &names {
        fs::File::open(folder.path().join(name)).unwrap().set_modified(long_ago).unwrap();
    }
    write(folder.path(), &[script("same")]).unwrap();

    for name in &names {
        assert_eq!(modified(name), long_ago);
    }
}

#[test]
fn site_without_a_sibling_is_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let asset = script("whole");
    write(folder.path(), &[script("whole")]).unwrap();
    assert!(is_complete(folder.path()));
    fs::remove_file(folder.path().join(asset.name() + ".gz")).unwrap();
    assert!(!is_complete(folder.path()));
}

#[test]
fn stamp_changes_with_wasm_and_style() {
    let folder = tempfile::tempdir().unwrap();
    let style = folder.path().join("style");
    let wasm = folder.path().join("page.wasm");
    fs::create_dir_all(&style).unwrap();
    fs::write(&wasm, "1").unwrap();
    fs::write(style.join("base.css"), "a {}").unwrap();
    let before = stamp::of(&wasm, &style).unwrap();
    assert_eq!(before, stamp::of(&wasm, &style).unwrap());

    fs::write(style.join("base.css"), "b {}").unwrap();
    let restyled = stamp::of(&wasm, &style).unwrap();
    assert_ne!(before, restyled);
    fs::write(&wasm, "2").unwrap();
    assert_ne!(restyled, stamp::of(&wasm, &style).unwrap());
}

#[test]
fn layers_come_first_and_others_by_name() {
    let names = ["zebra", "pages", "base", "tokens", "board", "components"];
    let ordered = style::ordered(names.iter().map(|name| format!("{name}.css")).collect());
    assert_eq!(
        ordered,
        ["tokens.css", "base.css", "components.css", "pages.css", "board.css", "zebra.css"]
    );
}

#[test]
fn shrinking_drops_comments_and_blank_lines_only() {
    let css = "/* one */\n\na {\n  margin: 0; /* two\n lines */ color: red;\n}\n";
    assert_eq!(style::shrink(css), "a {\nmargin: 0;   color: red;\n}\n");
}

#[test]
fn shrinking_keeps_strings() {
    let css = r#"a::before { content: "/* \" kept */"; }"#;
    assert_eq!(style::shrink(css).trim_end(), css);
}

#[test]
fn budget_counts_to_the_byte() {
    assert!(budget::within_budget(440_000).is_ok());
    let error = budget::within_budget(440_001).unwrap_err().to_string();
    assert!(error.contains("over its budget of 440 kB"), "{error}");
}
