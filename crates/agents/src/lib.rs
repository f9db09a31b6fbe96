//! The agents that are known: by the name that they give, how they are started, and where a
//! measured program departs from the rule.

mod catalogue;
mod departure;
mod version;

use model::{AgentIdentity, AgentKind};

pub use catalogue::{CATALOGUE, CatalogueEntry, Install, Need, entry, login_of};
pub use departure::{DEPARTURES, MeasuredDeparture, departures};
pub use version::{is_at_least, printed};

/// The names that agents give in `initialize.agentInfo`, as recorded.
const NAMES: &[(&str, AgentKind)] = &[
    ("OpenCode", AgentKind::OpenCode),
    ("@agentclientprotocol/codex-acp", AgentKind::Codex),
    ("codex-acp", AgentKind::Codex),
    ("@agentclientprotocol/claude-agent-acp", AgentKind::Claude),
    ("@zed-industries/claude-code-acp", AgentKind::Claude),
    ("auggie", AgentKind::Auggie),
    ("oh-my-pi", AgentKind::Omp),
    ("pi-acp", AgentKind::Pi),
    ("gemini-cli", AgentKind::Gemini),
    ("Copilot", AgentKind::Copilot),
    ("qwen-code", AgentKind::Qwen),
];

/// The agent that gives this name, if it is a known one.
pub fn kind_of(name: &str) -> Option<AgentKind> {
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
}

/// The agent whose dialect is spoken: by the program's own name, else by its profile (S-003).
pub fn dialect_agent(identity: &AgentIdentity, profile_agent: AgentKind) -> AgentKind {
    identity.name.as_deref().and_then(kind_of).unwrap_or(profile_agent)
}

/// The mode in which an agent asks before it acts, where it begins in one in which it does not.
///
/// Claude and Qwen begin in `auto`, where a model judges each command instead of the person.
pub const fn ask_first_mode(agent: AgentKind) -> Option<&'static str> {
    match agent {
        AgentKind::Claude | AgentKind::Qwen => Some("default"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> AgentIdentity {
        AgentIdentity { name: Some(name.to_owned()), version: None }
    }

    #[test]
    fn s_003_a_known_name_comes_before_the_profile() {
        let kind = dialect_agent(&named("codex-acp"), AgentKind::OpenCode);
        assert_eq!(kind, AgentKind::Codex);
    }

    #[test]
    fn s_003_without_a_known_name_the_profile_decides() {
        for identity in [AgentIdentity::default(), named("acme-agent"), named("codex")] {
            assert_eq!(dialect_agent(&identity, AgentKind::Claude), AgentKind::Claude);
            assert_eq!(dialect_agent(&identity, AgentKind::Generic), AgentKind::Generic);
        }
    }
}
