//! What a phone waits for: the size of the first load, as sent.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Everything that the board loads at first, in brotli. Between issues it only falls.
const FIRST_LOAD_BYTES: u64 = 440_000;

/// Prints the size of each part and fails when they are too large together.
pub(crate) fn check(site: &Path) -> Result<()> {
    let mut total = 0;
    for (part, name) in super::manifest(site)? {
        let path = site.join(format!("{name}.br"));
        let size =
            fs::metadata(&path).with_context(|| format!("looking at {}", path.display()))?.len();
        println!("{part:>8} {:>7.1} kB", kilobytes(size));
        total += size;
    }
    println!("{:>8} {:>7.1} kB of {:.0} kB", "all", kilobytes(total), kilobytes(FIRST_LOAD_BYTES));
    within_budget(total)
}

pub(super) fn within_budget(total: u64) -> Result<()> {
    ensure!(
        total <= FIRST_LOAD_BYTES,
        "the first load is {:.1} kB in brotli, over its budget of {:.0} kB",
        kilobytes(total),
        kilobytes(FIRST_LOAD_BYTES)
    );
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "sizes for people, far below 2^52")]
fn kilobytes(bytes: u64) -> f64 {
    bytes as f64 / 1000.0
}
