//! Where measured programs depart from the source documents' rule (G-001).

use model::{AgentIdentity, Departure};

use crate::version::numbers;

/// One departure, as it was measured.
#[derive(Debug, Clone, Copy)]
pub struct MeasuredDeparture {
    /// The program's name, as it gives it.
    pub program: &'static str,
    /// The lowest version that was measured to depart.
    pub since: &'static str,
    /// The lowest later version that was measured not to depart any more.
    pub until: Option<&'static str>,
    /// How it departs.
    pub departure: Departure,
    /// The recording that shows it, below `crates/shell-output/tests/recordings`.
    pub recording: &'static str,
}

/// Every departure that was measured.
pub const DEPARTURES: &[MeasuredDeparture] = &[
    MeasuredDeparture {
        program: "OpenCode",
        since: "1.18.33",
        until: None,
        departure: Departure::ShellMetadataBlock,
        recording: "opencode/timeout.jsonl",
    },
    MeasuredDeparture {
        program: "OpenCode",
        since: "1.18.33",
        until: None,
        departure: Departure::NoOutputWord,
        recording: "opencode/silent.jsonl",
    },
    MeasuredDeparture {
        program: "codex-acp",
        since: "0.16.0",
        until: None,
        departure: Departure::AggregatedOutput,
        recording: "codex-zed/big.jsonl",
    },
    MeasuredDeparture {
        program: "@agentclientprotocol/claude-agent-acp",
        since: "0.49.0",
        until: None,
        departure: Departure::ExitCodePrefix,
        recording: "claude/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "@agentclientprotocol/claude-agent-acp",
        since: "0.49.0",
        until: Some("0.101.0"),
        departure: Departure::ExitFlag,
        recording: "claude-old/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "@zed-industries/claude-code-acp",
        since: "0.16.2",
        until: None,
        departure: Departure::ExitCodePrefix,
        recording: "claude-zed/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "pi-acp",
        since: "0.0.34",
        until: None,
        departure: Departure::ExitFlag,
        recording: "pi/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "pi-acp",
        since: "0.0.34",
        until: None,
        departure: Departure::ClosingLines,
        recording: "pi/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "pi-acp",
        since: "0.0.34",
        until: None,
        departure: Departure::NoOutputWord,
        recording: "pi/silent.jsonl",
    },
    MeasuredDeparture {
        program: "pi-acp",
        since: "0.0.34",
        until: None,
        departure: Departure::MovingWindow,
        recording: "pi/big.jsonl",
    },
    MeasuredDeparture {
        program: "auggie",
        since: "0.36.0",
        until: None,
        departure: Departure::ClosingLines,
        recording: "auggie/cancel.jsonl",
    },
    MeasuredDeparture {
        program: "oh-my-pi",
        since: "18.2.0",
        until: None,
        departure: Departure::ClosingLines,
        recording: "omp/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "oh-my-pi",
        since: "18.2.0",
        until: None,
        departure: Departure::NoOutputWord,
        recording: "omp/silent.jsonl",
    },
    MeasuredDeparture {
        program: "oh-my-pi",
        since: "18.2.0",
        until: None,
        departure: Departure::CutEcho,
        recording: "omp/big.jsonl",
    },
    MeasuredDeparture {
        program: "OpenCode",
        since: "1.18.33",
        until: None,
        departure: Departure::Preface,
        recording: "opencode/big.jsonl",
    },
    MeasuredDeparture {
        program: "gemini-cli",
        since: "0.61.0",
        until: None,
        departure: Departure::Preface,
        recording: "gemini/cancel.jsonl",
    },
    MeasuredDeparture {
        program: "Copilot",
        since: "1.0.102",
        until: None,
        departure: Departure::ClosingLines,
        recording: "copilot/exit4.jsonl",
    },
    MeasuredDeparture {
        program: "Copilot",
        since: "1.0.102",
        until: None,
        departure: Departure::Preface,
        recording: "copilot/big.jsonl",
    },
    MeasuredDeparture {
        program: "Copilot",
        since: "1.0.102",
        until: None,
        departure: Departure::MovingWindow,
        recording: "copilot/big.jsonl",
    },
    MeasuredDeparture {
        program: "qwen-code",
        since: "0.24.4",
        until: None,
        departure: Departure::Preface,
        recording: "qwen/background.jsonl",
    },
    MeasuredDeparture {
        program: "qwen-code",
        since: "0.24.4",
        until: None,
        departure: Departure::CodeBesideSignal,
        recording: "qwen/signal.jsonl",
    },
];

impl MeasuredDeparture {
    fn applies_to(&self, name: &str, version: &[u64]) -> bool {
        let is_from = |bound: &str| numbers(bound).is_some_and(|bound| version >= &bound[..]);
        self.program.eq_ignore_ascii_case(name)
            && is_from(self.since)
            && !self.until.is_some_and(is_from)
    }
}

/// The departures of a running program: none unless it has given both its name and its version.
pub fn departures(identity: &AgentIdentity) -> Vec<Departure> {
    let (Some(name), Some(version)) = (&identity.name, &identity.version) else {
        return Vec::new();
    };
    let Some(version) = numbers(version) else { return Vec::new() };
    let rows = DEPARTURES.iter().filter(|row| row.applies_to(name, &version));
    rows.map(|row| row.departure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_of;

    fn of(name: &str, version: Option<&str>) -> Vec<Departure> {
        let version = version.map(str::to_owned);
        departures(&AgentIdentity { name: Some(name.to_owned()), version })
    }

    #[test]
    fn g_001_every_row_applies_from_its_version_on_and_to_nothing_less() {
        for row in DEPARTURES {
            assert!(of(row.program, Some(row.since)).contains(&row.departure), "{row:?}");
            assert!(!of(row.program, Some("0.0.1")).contains(&row.departure), "{row:?}");
            assert!(!of(row.program, None).contains(&row.departure), "{row:?}");
            assert!(!of(row.program, Some("dev")).contains(&row.departure), "{row:?}");
            assert!(!of("acme-agent", Some(row.since)).contains(&row.departure), "{row:?}");
            if let Some(until) = row.until {
                assert!(!of(row.program, Some(until)).contains(&row.departure), "{row:?}");
            }
        }
    }

    #[test]
    fn g_001_a_version_without_a_name_has_none() {
        let identity = AgentIdentity { name: None, version: Some("99.0".into()) };
        assert_eq!(departures(&identity), []);
    }

    #[test]
    fn g_001_versions_are_compared_by_number() {
        let claude = "@agentclientprotocol/claude-agent-acp";
        let both = [Departure::ExitCodePrefix, Departure::ExitFlag];
        assert_eq!(of(claude, Some("0.49.0")), both);
        assert_eq!(of(claude, Some("0.100.9")), both);
        assert_eq!(of(claude, Some("0.101.0")), [Departure::ExitCodePrefix]);
        assert_eq!(of(claude, Some("0.5.0")), []);
    }

    #[test]
    fn every_row_names_a_known_program_and_a_recording() {
        let recordings = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../shell-output/tests/recordings");
        for row in DEPARTURES {
            assert!(kind_of(row.program).is_some(), "{row:?}");
            let text = std::fs::read_to_string(recordings.join(row.recording)).unwrap();
            assert!(text.contains(&format!("\"name\": \"{}\"", row.program)), "{row:?}");
        }
    }
}
