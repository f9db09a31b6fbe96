//! What the builds really contain, features and indirect dependencies included.

use anyhow::Result;

use super::Violation;
use super::dependencies::Member;
use crate::process::capture;
use crate::workspace::Workspace;

/// A build that must stay free of some packages.
struct Purity {
    /// Arguments of `cargo tree` that select the build.
    build: &'static [&'static str],
    without: &'static [&'static str],
    why: &'static str,
}

const PURITY: [Purity; 3] = [
    Purity {
        build: &["--package", "model"],
        without: &["axum", "leptos", "redb", "tokio"],
        why: "the vocabulary is shared with the browser and does no I/O",
    },
    Purity {
        build: &["--package", "shell-output"],
        without: &["axum", "leptos", "redb", "tokio"],
        why: "normalization is a pure function of its frames",
    },
    Purity {
        build: &["--package", "frontend", "--target", "wasm32-unknown-unknown"],
        without: &[
            "acp",
            "agent-client-protocol-schema",
            "agents",
            "engine",
            "pulldown-cmark",
            "store",
            "syntect",
            "tokio",
        ],
        why: "the page only hydrates; the server runs agents, stores and renders",
    },
];

/// A package of a build with the features that it has there.
#[derive(Debug, PartialEq, Eq)]
struct Package<'tree> {
    name: &'tree str,
    features: Vec<&'tree str>,
}

/// Asks cargo for each build and checks it.
pub(super) fn check(workspace: &Workspace, members: &[Member]) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for purity in &PURITY {
        let tree = tree(workspace, "normal,no-proc-macro", purity.build)?;
        violations.extend(impurities(purity, &tree));
    }
    let default = tree(workspace, "all", &[])?;
    violations.extend(check_sides("default members", &default));
    for member in members {
        let tree = tree(workspace, "all", &["--package", &member.name])?;
        violations.extend(check_sides(&member.name, &tree));
    }
    Ok(violations)
}

fn tree(workspace: &Workspace, edges: &str, build: &[&str]) -> Result<String> {
    let format = ["--prefix", "none", "--format", "{p}|{f}", "--edges", edges];
    capture(workspace.cargo().arg("tree").args(format).args(build))
}

fn impurities(purity: &Purity, tree: &str) -> Vec<Violation> {
    let mut found: Vec<&str> = packages(tree)
        .map(|package| package.name)
        .filter(|name| purity.without.contains(name))
        .collect();
    found.sort_unstable();
    found.dedup();
    let place = purity.build[1];
    let sentence = |name| format!("{place} may not depend on {name}: {}", purity.why);
    found.into_iter().map(|name| Violation::new(place, sentence(name))).collect()
}

/// Leptos with both sides on builds pages whose clicks do nothing, without a word.
fn check_sides(build: &str, tree: &str) -> Option<Violation> {
    let has_both = packages(tree).any(|Package { name, features }| {
        name == "leptos" && features.contains(&"ssr") && features.contains(&"hydrate")
    });
    let rule = "one build may not have leptos with both `ssr` and `hydrate`: clicks break silently";
    has_both.then(|| Violation::new(build, rule))
}

/// Reads lines like `leptos v0.8.23|default,ssr (*)`.
fn packages(tree: &str) -> impl Iterator<Item = Package<'_>> {
    tree.lines().filter_map(|line| {
        let (package, features) = line.split_once('|')?;
        let name = package.split_whitespace().next()?;
        let features = features.trim_end_matches(" (*)").split(',').collect();
        Some(Package { name, features })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_tree_are_packages() {
        let tree =
            "app v0.1.0 (/somewhere/app)|ssr\nleptos v0.8.23|default,ssr (*)\n\nserde v1.0.1|\n";
        let names: Vec<&str> = packages(tree).map(|package| package.name).collect();
        assert_eq!(names, ["app", "leptos", "serde"]);
        assert_eq!(packages(tree).nth(1).unwrap().features, ["default", "ssr"]);
    }

    #[test]
    fn both_sides_of_leptos_in_one_build_are_found() {
        assert!(check_sides("app", "leptos v0.8.23|default,hydrate,ssr (*)").is_some());
        assert_eq!(check_sides("server", "leptos v0.8.23|default,ssr"), None);
        assert_eq!(check_sides("frontend", "leptos v0.8.23|default,hydrate"), None);
        assert_eq!(check_sides("app", "app v0.1.0|hydrate,ssr\nleptos v0.8.23|ssr"), None);
    }

    #[test]
    fn impure_build_is_named_with_its_rule() {
        let [_, shell_output, frontend] = &PURITY;
        let found =
            impurities(shell_output, "model v0.1.0|\ntokio v1.43.0|fs\ntokio v1.43.0|fs (*)");
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].rule,
            "shell-output may not depend on tokio: normalization is a pure function of its frames"
        );
        assert_eq!(impurities(frontend, "app v0.1.0|hydrate\nengine v0.1.0|").len(), 1);
        assert!(impurities(frontend, "app v0.1.0|hydrate\nengine-io v0.1.0|").is_empty());
    }
}
