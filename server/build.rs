//! Embeds the page anew when it was built anew.

use std::{env, fs, path::Path};

fn main() {
    let site =
        Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../dist/site");
    // A missing path counts as changed, and would build the server anew every time. A checkout that
    // cannot be written still builds: the folder may be missing.
    let _created = fs::create_dir_all(&site);
    println!("cargo::rerun-if-changed={}", site.display());
}
