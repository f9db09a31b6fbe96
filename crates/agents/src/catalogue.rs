//! The agents that Kandev knows: how each is found, installed and started. Data, and nothing else.
//!
//! Commands, flags and login hints are those that the makers document; versions are those that were
//! run (`crates/shell-output/tests/recordings`), or the newest when this was written.

use model::{AgentKind, LaunchCommand, Passthrough};

/// An agent that Kandev knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueEntry {
    /// Names it for good, whatever its name or command become.
    pub key: &'static str,
    /// The name that people see.
    pub name: &'static str,
    /// Whose dialect it speaks.
    pub agent: AgentKind,
    /// The ACP command: program and arguments.
    pub acp: &'static [&'static str],
    /// The interactive program and its arguments; empty where there is none.
    pub terminal: &'static [&'static str],
    /// The argument of that program that takes the first prompt.
    pub prompt_flag: Option<&'static str>,
    /// What that program takes to go on with its last session; empty where it cannot.
    pub resume: &'static [&'static str],
    /// The program on the PATH by which it is found. It is asked for `--version`.
    pub program: &'static str,
    /// What installs it.
    pub install: Install,
    /// What its interpreter has to be.
    pub needs: Option<Need>,
    /// What logs in, run once by the person.
    pub login: Option<&'static str>,
    /// It becomes a profile by itself.
    pub built_in: bool,
}

/// How an agent is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Install {
    /// This command, which Kandev can run.
    Run(&'static [&'static str]),
    /// Only by hand: its maker's words for it, or where they stand.
    ByHand(&'static str),
}

/// An interpreter, at least of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Need {
    /// `node` or `bun`.
    pub program: &'static str,
    /// The lowest version.
    pub version: &'static str,
    /// With an older one it does not work at all; else its maker only does not promise it.
    pub is_strict: bool,
}

const fn node(version: &'static str) -> Option<Need> {
    Some(Need { program: "node", version, is_strict: false })
}

const GENERIC: CatalogueEntry = CatalogueEntry {
    key: "",
    name: "",
    agent: AgentKind::Generic,
    acp: &[],
    terminal: &[],
    prompt_flag: None,
    resume: &[],
    program: "",
    install: Install::ByHand(""),
    needs: None,
    login: None,
    built_in: false,
};

/// Every agent, the one to offer first first.
///
/// Packages are named at an exact version (P-014): npm would else take an older one whose `engines`
/// fit the node that runs. Pi's commands are literally the source's.
pub const CATALOGUE: &[CatalogueEntry] = &[
    CatalogueEntry {
        key: "claude",
        name: "Claude",
        agent: AgentKind::Claude,
        acp: &["npx", "-y", "@agentclientprotocol/claude-agent-acp@0.101.0"],
        terminal: &["npx", "-y", "@anthropic-ai/claude-code@2.1.318", "--verbose"],
        resume: &["-c"],
        program: "claude",
        install: Install::Run(&["npm", "install", "-g", "@anthropic-ai/claude-code@2.1.318"]),
        needs: node("22"),
        login: Some("claude auth login"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "codex",
        name: "Codex",
        agent: AgentKind::Codex,
        acp: &["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"],
        terminal: &["npx", "-y", "@openai/codex@0.166.0"],
        program: "codex",
        install: Install::Run(&["npm", "install", "-g", "@openai/codex@0.166.0"]),
        needs: node("16"),
        login: Some("codex login --device-auth"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "opencode",
        name: "OpenCode",
        agent: AgentKind::OpenCode,
        // Diagnostics on stderr (D-001).
        acp: &["npx", "-y", "opencode-ai@1.18.33", "acp", "--print-logs", "--log-level", "ERROR"],
        terminal: &["npx", "-y", "opencode-ai@1.18.33"],
        prompt_flag: Some("--prompt"),
        resume: &["-c"],
        program: "opencode",
        install: Install::Run(&["npm", "install", "-g", "opencode-ai@1.18.33"]),
        login: Some("opencode auth login"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "auggie",
        name: "Auggie",
        agent: AgentKind::Auggie,
        acp: &["npx", "-y", "@augmentcode/auggie@0.36.0", "--acp"],
        terminal: &["npx", "-y", "@augmentcode/auggie@0.36.0", "--allow-indexing"],
        resume: &["-c"],
        program: "auggie",
        install: Install::Run(&["npm", "install", "-g", "@augmentcode/auggie@0.36.0"]),
        needs: node("20"),
        login: Some("auggie login"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "pi",
        name: "Pi",
        agent: AgentKind::Pi,
        acp: &["npx", "-y", "pi-acp"],
        terminal: &["pi"],
        program: "pi",
        install: Install::Run(&[
            "npm",
            "install",
            "-g",
            "--ignore-scripts",
            "@earendil-works/pi-coding-agent",
        ]),
        // With an older one npm takes an older Pi, which never answers.
        needs: Some(Need { program: "node", version: "22.19", is_strict: true }),
        login: Some("pi"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "omp",
        name: "OMP",
        agent: AgentKind::Omp,
        acp: &["omp", "acp"],
        terminal: &["omp"],
        resume: &["-c"],
        program: "omp",
        install: Install::Run(&["bun", "install", "-g", "@oh-my-pi/pi-coding-agent@18.2.0"]),
        needs: Some(Need { program: "bun", version: "1.3.14", is_strict: true }),
        login: Some("omp"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "gemini",
        name: "Gemini",
        agent: AgentKind::Gemini,
        acp: &["npx", "-y", "@google/gemini-cli@0.61.0", "--acp"],
        terminal: &["npx", "-y", "@google/gemini-cli@0.61.0"],
        prompt_flag: Some("--prompt-interactive"),
        resume: &["--resume", "latest"],
        program: "gemini",
        install: Install::Run(&["npm", "install", "-g", "@google/gemini-cli@0.61.0"]),
        needs: node("20"),
        login: Some("gemini"),
        built_in: true,
    },
    CatalogueEntry {
        key: "copilot",
        name: "Copilot",
        agent: AgentKind::Copilot,
        acp: &["npx", "-y", "@github/copilot@1.0.102", "--acp"],
        terminal: &["npx", "-y", "@github/copilot@1.0.102", "--allow-all-tools"],
        resume: &["--continue"],
        program: "copilot",
        install: Install::Run(&["npm", "install", "-g", "@github/copilot@1.0.102"]),
        login: Some("copilot login"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "qwen",
        name: "Qwen",
        agent: AgentKind::Qwen,
        acp: &["npx", "-y", "@qwen-code/qwen-code@0.24.4", "--acp"],
        terminal: &["npx", "-y", "@qwen-code/qwen-code@0.24.4"],
        program: "qwen",
        install: Install::Run(&["npm", "install", "-g", "@qwen-code/qwen-code@0.24.4"]),
        needs: node("22"),
        login: Some("qwen"),
        built_in: true,
        ..GENERIC
    },
    CatalogueEntry {
        key: "amp",
        name: "Amp",
        acp: &["npx", "-y", "amp-acp"],
        terminal: &["amp"],
        program: "amp",
        install: Install::Run(&["npm", "install", "-g", "@sourcegraph/amp"]),
        login: Some("amp login"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "droid",
        name: "Droid",
        acp: &["npx", "-y", "droid@0.215.0", "exec", "--output-format", "acp"],
        terminal: &["npx", "-y", "droid@0.215.0"],
        program: "droid",
        install: Install::Run(&["npm", "install", "-g", "droid@0.215.0"]),
        needs: node("20"),
        login: Some("droid"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "kilocode",
        name: "Kilo Code",
        acp: &["npx", "-y", "@kilocode/cli@7.8.1", "acp"],
        terminal: &["npx", "-y", "@kilocode/cli@7.8.1"],
        program: "kilo",
        install: Install::Run(&["npm", "install", "-g", "@kilocode/cli@7.8.1"]),
        login: Some("kilo auth"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "cline",
        name: "Cline",
        acp: &["npx", "-y", "cline@3.0.65", "--acp"],
        terminal: &["npx", "-y", "cline@3.0.65"],
        program: "cline",
        install: Install::Run(&["npm", "install", "-g", "cline@3.0.65"]),
        login: Some("cline auth"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "iflow",
        name: "iFlow",
        acp: &["npx", "-y", "@iflow-ai/iflow-cli", "--experimental-acp"],
        terminal: &["iflow"],
        program: "iflow",
        install: Install::Run(&["npm", "install", "-g", "@iflow-ai/iflow-cli"]),
        login: Some("iflow"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "cursor",
        name: "Cursor",
        acp: &["cursor-agent", "acp"],
        terminal: &["cursor-agent"],
        program: "cursor-agent",
        install: Install::ByHand("https://cursor.com/cli"),
        login: Some("cursor-agent login"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "kimi",
        name: "Kimi",
        acp: &["kimi", "acp"],
        terminal: &["kimi"],
        program: "kimi",
        install: Install::ByHand("https://github.com/MoonshotAI/kimi-cli"),
        login: Some("kimi"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "kiro",
        name: "Kiro",
        acp: &["kiro-cli-chat", "acp"],
        terminal: &["kiro-cli-chat"],
        program: "kiro-cli-chat",
        install: Install::ByHand("https://kiro.dev/cli"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "qoder",
        name: "Qoder",
        acp: &["qodercli", "--acp"],
        terminal: &["qodercli"],
        program: "qodercli",
        install: Install::ByHand("https://qoder.com/cli"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "trae",
        name: "Trae",
        acp: &["traecli", "acp", "serve"],
        terminal: &["traecli"],
        program: "traecli",
        install: Install::ByHand("https://www.trae.ai"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "devin",
        name: "Devin",
        acp: &["devin", "acp"],
        terminal: &["devin"],
        program: "devin",
        install: Install::ByHand("https://devin.ai"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "grok",
        name: "Grok",
        acp: &["npx", "-y", "@xai-official/grok@1.0.41", "acp"],
        program: "grok",
        install: Install::Run(&["npm", "install", "-g", "@xai-official/grok@1.0.41"]),
        needs: node("20"),
        ..GENERIC
    },
    CatalogueEntry {
        key: "hermes",
        name: "Hermes",
        acp: &["hermes", "acp"],
        terminal: &["hermes", "chat"],
        resume: &["--continue"],
        program: "hermes",
        install: Install::ByHand("https://hermes-agent.nousresearch.com"),
        ..GENERIC
    },
];

/// The agent of this key.
pub fn entry(key: &str) -> Option<&'static CatalogueEntry> {
    CATALOGUE.iter().find(|entry| entry.key == key)
}

/// The command that logs in to an agent, where there is one.
pub fn login_of(agent: AgentKind) -> Option<&'static str> {
    let mut known =
        CATALOGUE.iter().filter(|entry| agent != AgentKind::Generic && entry.agent == agent);
    known.next()?.login
}

impl CatalogueEntry {
    /// The ACP command.
    pub fn command(&self) -> LaunchCommand {
        launch(self.acp).unwrap_or_default()
    }

    /// How its interactive program is driven.
    pub fn passthrough(&self) -> Passthrough {
        Passthrough {
            command: launch(self.terminal),
            prompt_flag: self.prompt_flag.map(str::to_owned),
            ..Passthrough::default()
        }
    }

    /// Whether npx fetches all of it when it is started. An adapter to a program that it does not
    /// bring along is of no use alone.
    pub fn is_fetched(&self) -> bool {
        let is_npx = |words: &[&str]| words.first() == Some(&"npx");
        is_npx(self.acp) && (self.terminal.is_empty() || is_npx(self.terminal))
    }
}

fn launch(words: &[&str]) -> Option<LaunchCommand> {
    let (program, args) = words.split_first()?;
    Some(LaunchCommand {
        program: (*program).to_owned(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_001_opencode_is_started_with_its_diagnostics() {
        let line = entry("opencode").unwrap().acp.join(" ");
        assert!(line.ends_with("acp --print-logs --log-level ERROR"), "{line}");
    }

    #[test]
    fn p_014_packages_are_launched_at_an_exact_version() {
        for entry in CATALOGUE.iter().filter(|entry| entry.is_fetched()) {
            let package = entry.acp[2];
            let (_, version) = package.rsplit_once('@').unwrap();
            let numbers = version.split('.').map(|part| part.parse::<u32>().unwrap());
            assert_eq!(numbers.count(), 3, "{package}");
        }
    }

    #[test]
    fn p_001_pi_speaks_acp_by_one_program_and_to_a_person_by_another() {
        let pi = entry("pi").unwrap();
        assert_eq!(pi.acp, ["npx", "-y", "pi-acp"]);
        assert_eq!(pi.passthrough().command.unwrap().program, "pi");
    }

    #[test]
    fn p_002_pi_is_found_and_installed_as_its_source_says() {
        let pi = entry("pi").unwrap();
        let Install::Run(install) = pi.install else { panic!("{pi:?}") };
        let line = install.join(" ");
        assert_eq!(line, "npm install -g --ignore-scripts @earendil-works/pi-coding-agent");
        assert_eq!(pi.program, "pi");
        let need = pi.needs.unwrap();
        assert_eq!((need.program, need.version, need.is_strict), ("node", "22.19", true));
    }

    #[test]
    fn keys_are_unique_and_fit_an_id() {
        let mut keys: Vec<_> = CATALOGUE.iter().map(|entry| entry.key).collect();
        assert!(keys.iter().all(|key| (1..=16).contains(&key.len())));
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), CATALOGUE.len());
    }

    #[test]
    fn every_agent_can_be_started_found_and_had() {
        for entry in CATALOGUE {
            assert!(!entry.acp.is_empty() && !entry.program.is_empty(), "{}", entry.key);
            let has_way = match entry.install {
                Install::Run(words) => words.len() > 2,
                Install::ByHand(words) => words.starts_with("https://"),
            };
            assert!(has_way, "{}", entry.key);
        }
    }

    #[test]
    fn k_030_the_way_to_log_in_is_known_by_the_agent_that_speaks() {
        assert_eq!(login_of(AgentKind::Codex), Some("codex login --device-auth"));
        assert_eq!(login_of(AgentKind::Generic), None);
    }
}
