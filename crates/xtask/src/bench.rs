//! `cargo xtask bench`: numbers that the product promises, measured on the release binary.

mod idle;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// Runs the measurement that is named.
pub(crate) fn bench(workspace: &Workspace, args: &[String]) -> Result<()> {
    let names: Vec<&str> = args.iter().map(String::as_str).collect();
    match names[..] {
        ["idle"] => idle::measure(workspace),
        _ => bail!("name what to measure: `cargo xtask bench idle`"),
    }
}
