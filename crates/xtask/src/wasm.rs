//! The page's code as WebAssembly: which toolchain can build it, and the build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::process::{capture, install_packages, is_installed, run};
use crate::workspace::Workspace;

const TARGET: &str = "wasm32-unknown-unknown";
const DEBIAN_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];

/// What compiles for the browser on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The toolchain that runs xtask, with the standard library of the target beside it.
    Own,
    /// Debian's, which builds the standard library from source: for machines that cannot fetch a target.
    Debian,
}

impl Toolchain {
    /// Finds a toolchain for the browser, and installs what is missing.
    pub(crate) fn find() -> Result<Self> {
        if has_target()? || (add_target() && has_target()?) {
            return Ok(Self::Own);
        }
        println!("The target {TARGET} cannot be added; taking Debian's toolchain for the page.");
        if !Path::new("/usr/bin/cargo").exists() || !Path::new("/usr/lib/rustlib/src").exists() {
            install_packages(&DEBIAN_PACKAGES)?;
        }
        Ok(Self::Debian)
    }

    /// `cargo SUBCOMMAND --target wasm32-unknown-unknown`, to be completed with packages and features.
    pub(crate) fn cargo(self, workspace: &Workspace, subcommand: &str) -> Result<Command> {
        let mut cargo = match self {
            Self::Own => {
                let mut cargo = workspace.cargo();
                cargo.arg(subcommand);
                cargo
            }
            Self::Debian => debian_cargo(workspace, subcommand)?,
        };
        cargo.args(["--target", TARGET]);
        Ok(cargo)
    }

    /// Lints with these arguments. Debian ships no clippy beside its compiler: there it only compiles.
    pub(crate) fn lint(self, workspace: &Workspace, args: &[&str]) -> Result<()> {
        match self {
            Self::Own => {
                run(self.cargo(workspace, "clippy")?.args(args).args(["--", "--deny", "warnings"]))
            }
            Self::Debian => run(self.cargo(workspace, "check")?.args(args)),
        }
    }
}

/// Builds the page's code and returns its file.
pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = Toolchain::find()?.cargo(workspace, "build")?;
    run(cargo.args(["--package", "frontend", "--profile", "wasm-release"]))?;
    Ok(workspace.target().join(TARGET).join("wasm-release/frontend.wasm"))
}

fn has_target() -> Result<bool> {
    let libraries =
        capture(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    Ok(Path::new(libraries.trim()).is_dir())
}

fn add_target() -> bool {
    is_installed("rustup") && run(Command::new("rustup").args(["target", "add", TARGET])).is_ok()
}

fn debian_cargo(workspace: &Workspace, subcommand: &str) -> Result<Command> {
    let mut cargo = workspace.command("/usr/bin/cargo");
    cargo
        .arg(subcommand)
        .arg("-Zbuild-std=std,panic_abort")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTC", "/usr/bin/rustc")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker()?);
    Ok(cargo)
}

/// The linker of the toolchain that runs xtask, since Debian packs none with its compiler.
fn linker() -> Result<PathBuf> {
    let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]))?;
    let bundled = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(format!("{}-unknown-linux-gnu/bin/rust-lld", env::consts::ARCH));
    Ok(if bundled.exists() { bundled } else { PathBuf::from("rust-lld") })
}
