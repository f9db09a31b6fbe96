//! `cargo xtask bench`: numbers that the product promises, measured on the release binary.

mod idle;
mod ingest;
mod page;
mod report;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

/// Runs the measurement that is named, or all of them.
pub(crate) fn bench(workspace: &Workspace, args: &[String]) -> Result<()> {
    let names: Vec<&str> = args.iter().map(String::as_str).collect();
    match names[..] {
        [] => {
            idle::measure(workspace)?;
            ingest::measure(workspace)?;
            page::measure(workspace)
        }
        ["idle"] => idle::measure(workspace),
        ["ingest"] => ingest::measure(workspace),
        ["page"] => page::measure(workspace),
        _ => bail!("there are `cargo xtask bench`, `bench idle`, `bench ingest` and `bench page`"),
    }
}
