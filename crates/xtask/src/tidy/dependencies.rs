//! Who may use whom inside the workspace.

use cargo_metadata::{DependencyKind, Metadata};

use super::Violation;

/// A member of the workspace and the members that it uses.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    is_default: bool,
    uses: Vec<Use>,
}

#[derive(Debug)]
struct Use {
    name: String,
    is_for_tests: bool,
}

/// One row of the direction of dependencies.
struct Rule {
    member: &'static str,
    may_use: &'static [&'static str],
    why: &'static str,
}

const RULES: &[Rule] = &[
    Rule { member: "model", may_use: &[], why: "the vocabulary knows nobody" },
    Rule { member: "shell-output", may_use: &["model"], why: "normalization is pure" },
    Rule {
        member: "tool-content",
        may_use: &["model", "shell-output"],
        why: "reading frames is pure",
    },
    Rule { member: "markdown", may_use: &[], why: "text in, HTML out" },
    Rule { member: "agents", may_use: &["model"], why: "the catalogue is data" },
    Rule {
        member: "acp",
        may_use: &["model", "shell-output"],
        why: "an agent's connection knows neither terminals, nor storage, nor git",
    },
    Rule {
        member: "terminal",
        may_use: &["model"],
        why: "a terminal knows neither agents' connections, nor storage, nor git",
    },
    Rule { member: "store", may_use: &["model"], why: "storage knows only records" },
    Rule { member: "git", may_use: &["model"], why: "worktrees know neither storage nor agents" },
    Rule {
        member: "forge",
        may_use: &["model"],
        why: "pull requests know neither storage nor git",
    },
    Rule {
        member: "engine",
        may_use: &[
            "acp",
            "agents",
            "forge",
            "git",
            "markdown",
            "model",
            "shell-output",
            "store",
            "terminal",
            "tool-content",
        ],
        why: "the engine combines the others and knows no web",
    },
    Rule { member: "mcp", may_use: &["engine", "model"], why: "tools call commands of the engine" },
    Rule {
        member: "app",
        may_use: &["engine", "model"],
        why: "pages know views, and commands of the engine under `ssr`",
    },
    Rule {
        member: "fuzz",
        may_use: &["acp", "agents", "model", "shell-output"],
        why: "fuzzing reaches what reads foreign bytes, and nothing else",
    },
    Rule { member: "frontend", may_use: &["app"], why: "the entry only hydrates the app" },
    Rule {
        member: "server",
        may_use: &["acp", "agents", "app", "engine", "mcp", "model", "store"],
        why: "the binary puts the parts together, and nothing depends on it",
    },
    Rule {
        member: "fake-agent",
        may_use: &["model"],
        why: "a peer that shares our code proves less",
    },
    Rule {
        member: "testkit",
        may_use: &["model"],
        why: "clients for tests know what a client knows",
    },
    Rule { member: "xtask", may_use: &[], why: "it must build when the product does not" },
];

/// What tests may use beside the rule of their member.
const FOR_TESTS: [&str; 3] = ["agents", "fake-agent", "testkit"];

/// Members that a plain `cargo build` leaves out.
const NOT_DEFAULT: [&str; 3] = ["frontend", "fuzz", "xtask"];

/// Reads the members out of cargo's description.
pub(super) fn members(metadata: &Metadata) -> Vec<Member> {
    let packages = metadata.workspace_packages();
    let is_member = |name: &str| packages.iter().any(|package| package.name.as_str() == name);
    let uses = |package: &cargo_metadata::Package| {
        let inside = package.dependencies.iter().filter(|dependency| is_member(&dependency.name));
        let one = |dependency: &cargo_metadata::Dependency| Use {
            name: dependency.name.clone(),
            is_for_tests: dependency.kind == DependencyKind::Development,
        };
        inside.map(one).collect()
    };
    let member = |package: &&cargo_metadata::Package| Member {
        name: package.name.to_string(),
        is_default: metadata.workspace_default_members.contains(&package.id),
        uses: uses(package),
    };
    packages.iter().map(member).collect()
}

/// Every use that no row allows, and every member without a row.
pub(super) fn check(members: &[Member]) -> Vec<Violation> {
    members.iter().flat_map(check_member).collect()
}

fn check_member(member: &Member) -> Vec<Violation> {
    let Some(rule) = RULES.iter().find(|rule| rule.member == member.name) else {
        let advice = "a new member needs a row in the direction of dependencies";
        return vec![Violation::new(&member.name, advice)];
    };
    let is_allowed = |used: &Use| {
        rule.may_use.contains(&used.name.as_str())
            || (used.is_for_tests && FOR_TESTS.contains(&used.name.as_str()))
    };
    let forbidden = member.uses.iter().filter(|used| !is_allowed(used));
    let violation = |used: &Use| {
        let sentence = format!("{} may not use {}: {}", member.name, used.name, rule.why);
        Violation::new(format!("{}/Cargo.toml", member.name), sentence)
    };
    forbidden.map(violation).collect()
}

/// `frontend` would unify Leptos' two sides, and `xtask` would build wasm-bindgen for everybody.
pub(super) fn check_default_members(members: &[Member]) -> Vec<Violation> {
    let wrong = members
        .iter()
        .filter(|member| member.is_default == NOT_DEFAULT.contains(&member.name.as_str()));
    let violation = |member: &Member| {
        let sentence = match member.is_default {
            true => format!("default-members must leave out {}", member.name),
            false => format!("default-members must hold {}", member.name),
        };
        Violation::new("Cargo.toml", sentence)
    };
    wrong.map(violation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, uses: &[(&str, bool)]) -> Member {
        let one =
            |&(name, is_for_tests): &(&str, bool)| Use { name: name.to_owned(), is_for_tests };
        Member {
            name: name.to_owned(),
            is_default: !NOT_DEFAULT.contains(&name),
            uses: uses.iter().map(one).collect(),
        }
    }

    fn complaints(member: Member) -> Vec<String> {
        check(&[member]).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn use_along_the_direction_is_allowed() {
        assert!(complaints(member("engine", &[("store", false), ("model", false)])).is_empty());
        assert!(complaints(member("store", &[("model", false), ("testkit", true)])).is_empty());
    }

    #[test]
    fn use_against_the_direction_names_the_rule() {
        assert_eq!(
            complaints(member("store", &[("acp", false)])),
            ["store/Cargo.toml: store may not use acp: storage knows only records"]
        );
        assert_eq!(complaints(member("app", &[("server", false)])).len(), 1);
    }

    #[test]
    fn test_helpers_are_for_tests_only() {
        assert_eq!(complaints(member("server", &[("testkit", false)])).len(), 1);
        assert!(complaints(member("server", &[("testkit", true)])).is_empty());
        assert_eq!(complaints(member("acp", &[("store", true)])).len(), 1);
    }

    #[test]
    fn new_member_needs_a_row() {
        let found = complaints(member("surprise", &[]));
        assert_eq!(found, ["surprise: a new member needs a row in the direction of dependencies"]);
    }

    #[test]
    fn default_members_leave_out_frontend_and_xtask() {
        let mut frontend = member("frontend", &[]);
        let store = member("store", &[]);
        assert!(check_default_members(&[frontend, store]).is_empty());

        frontend = member("frontend", &[]);
        frontend.is_default = true;
        let mut store = member("store", &[]);
        store.is_default = false;
        let found = check_default_members(&[frontend, store]);
        assert_eq!(found[0].rule, "default-members must leave out frontend");
        assert_eq!(found[1].rule, "default-members must hold store");
    }
}
