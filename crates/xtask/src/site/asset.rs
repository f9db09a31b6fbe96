//! One file of the site: named by its content, with a brotli and a gzip sibling.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use sha2::{Digest as _, Sha256};

type Encode = fn(&[u8]) -> Result<Vec<u8>>;

/// A file that the page loads.
pub(super) struct Asset {
    /// Its key in the manifest.
    pub(super) part: &'static str,
    stem: &'static str,
    extension: &'static str,
    content: Vec<u8>,
}

impl Asset {
    pub(super) fn new(
        part: &'static str,
        stem: &'static str,
        extension: &'static str,
        content: Vec<u8>,
    ) -> Self {
        Self { part, stem, extension, content }
    }

    /// `kandev-0123456789abcdef.js`: it changes with the content, so a browser may keep it for ever.
    pub(super) fn name(&self) -> String {
        format!("{}-{}.{}", self.stem, &hex(&self.content)[..16], self.extension)
    }

    /// Writes the file and its siblings, unless they are there.
    pub(super) fn write(&self, site: &Path) -> Result<()> {
        let name = self.name();
        let variants: [(&str, Encode); 3] =
            [("", |plain| Ok(plain.to_vec())), (".br", brotli), (".gz", gzip)];
        for (suffix, encode) in variants {
            let path = site.join(format!("{name}{suffix}"));
            if !path.exists() {
                replace(&path, &encode(&self.content)?)?;
            }
        }
        Ok(())
    }
}

/// SHA-256 in hexadecimal.
pub(super) fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file whole or not at all, and leaves it alone when it has this content already.
pub(super) fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|existing| existing == content) {
        return Ok(());
    }
    let partial = path.with_extension("partial");
    fs::write(&partial, content)
        .and_then(|()| fs::rename(&partial, path))
        .with_context(|| format!("writing {}", path.display()))
}

fn brotli(plain: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 11, 22);
    encoder.write_all(plain)?;
    Ok(encoder.into_inner())
}

fn gzip(plain: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain)?;
    Ok(encoder.finish()?)
}
