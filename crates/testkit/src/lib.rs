//! What the tests of several crates share. Never a dependency of the product.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

/// The command line of the scripted agent, which is built beside the test that asks.
///
/// # Errors
///
/// It was not built.
pub fn fake_agent() -> Result<String> {
    let exe = std::env::current_exe()?;
    let target = exe.parent().and_then(std::path::Path::parent).context("no target folder")?;
    let path: PathBuf = target.join(format!("fake-agent{}", std::env::consts::EXE_SUFFIX));
    ensure!(path.exists(), "{} is missing: run `cargo build -p fake-agent`", path.display());
    Ok(format!("'{}' acp", path.display()))
}
