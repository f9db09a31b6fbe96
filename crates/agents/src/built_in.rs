//! The profiles that Kandev brings along.

use model::{AgentKind, LaunchCommand, Passthrough};

/// A profile that Kandev brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltIn {
    /// Names it for good, whatever its name or command become.
    pub key: &'static str,
    /// The name that people see.
    pub name: &'static str,
    /// The agent that it starts.
    pub agent: AgentKind,
    /// The ACP command.
    pub command: LaunchCommand,
    /// How the agent's own terminal program is driven.
    pub passthrough: Passthrough,
}

/// The built-in profiles, the one to offer first first.
///
/// Packages are named at an exact version: npm would else take an older one whose `engines` fit
/// the node that runs.
pub fn built_in() -> Vec<BuiltIn> {
    vec![
        BuiltIn {
            key: "opencode",
            name: "OpenCode",
            agent: AgentKind::OpenCode,
            command: npx("opencode-ai@1.18.33", &OPENCODE_ARGS),
            passthrough: Passthrough::default(),
        },
        BuiltIn {
            key: "codex",
            name: "Codex",
            agent: AgentKind::Codex,
            command: npx("@agentclientprotocol/codex-acp@2.6.0", &[]),
            passthrough: Passthrough::default(),
        },
        BuiltIn {
            key: "claude",
            name: "Claude",
            agent: AgentKind::Claude,
            command: npx("@agentclientprotocol/claude-agent-acp@0.101.0", &[]),
            passthrough: Passthrough::default(),
        },
    ]
}

/// Diagnostics on stderr (D-001).
const OPENCODE_ARGS: [&str; 4] = ["acp", "--print-logs", "--log-level", "ERROR"];

fn npx(package: &str, args: &[&str]) -> LaunchCommand {
    let args = ["-y", package].iter().chain(args).map(|&arg| arg.to_owned()).collect();
    LaunchCommand { program: "npx".to_owned(), args, env: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_001_opencode_is_started_with_its_diagnostics() {
        let profiles = built_in();
        let opencode = profiles.iter().find(|p| p.agent == AgentKind::OpenCode).unwrap();
        let line = opencode.command.args.join(" ");
        assert!(line.ends_with("acp --print-logs --log-level ERROR"), "{line}");
    }

    #[test]
    fn p_014_packages_are_launched_at_an_exact_version() {
        for profile in built_in() {
            let package = &profile.command.args[1];
            let (_, version) = package.rsplit_once('@').unwrap();
            let numbers = version.split('.').map(|part| part.parse::<u32>().unwrap());
            assert_eq!(numbers.count(), 3, "{package}");
        }
    }

    #[test]
    fn keys_are_unique() {
        let mut keys: Vec<_> = built_in().iter().map(|profile| profile.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), built_in().len());
    }
}
