//! Looking for agents: whether their programs are there, which version they say, and whether what
//! they need is new enough (P-002, K-030).

use std::{collections::HashMap, env, ffi::OsString, process::Stdio, time::Duration};

use acp::{Located, locate};
use agents::{CatalogueEntry, Need};
use model::Standing;
use tokio::{
    io::AsyncReadExt as _,
    process::{Child, Command},
    time::timeout,
};

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// The most of what it prints that is read, in bytes.
const PRINTED_BYTES: u64 = 16 * 1024;

/// What looking for a program came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Probe {
    /// There is no such program.
    Absent,
    /// There is a file of its name that may not be run.
    NotExecutable(String),
    /// It is there; the version that it printed, if it can be read.
    Answered(Option<String>),
    /// It was started and failed.
    Failed(String),
}

/// What one look at an agent came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) standing: Standing,
    pub(super) warning: Option<String>,
    pub(super) version: Option<String>,
}

/// Looks in these folders.
#[derive(Debug, Clone)]
pub(super) struct Discovery {
    search_path: OsString,
    /// What the interpreters are.
    interpreters: HashMap<&'static str, Probe>,
}

impl Discovery {
    /// Looks for the interpreters first: each is asked once for all agents.
    pub(super) async fn begin(search_path: OsString) -> Self {
        let mut discovery = Self { search_path, interpreters: HashMap::new() };
        for program in ["node", "npx", "bun"] {
            let probe = discovery.probe(program).await;
            discovery.interpreters.insert(program, probe);
        }
        discovery
    }

    /// Looks for one agent.
    pub(super) async fn look(&self, entry: &CatalogueEntry) -> Found {
        let program = self.probe(entry.program).await;
        judge(entry, program, |name| self.interpreters.get(name).cloned().unwrap_or(Probe::Absent))
    }

    async fn probe(&self, program: &str) -> Probe {
        let path = match locate(program, &self.search_path) {
            Located::At(path) => path,
            Located::NotExecutable(path) => {
                return Probe::NotExecutable(path.display().to_string());
            }
            Located::Nowhere => return Probe::Absent,
        };
        let mut command = Command::new(path);
        command
            .arg("--version")
            .env_remove("KANDEV_TOKEN")
            .env("PATH", &self.search_path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(err) => return Probe::Failed(err.to_string()),
        };
        let leader = child.id();
        match timeout(VERSION_TIMEOUT, printed_by(&mut child)).await {
            Ok(probe) => probe,
            Err(_) => {
                // With whatever it started.
                leader.into_iter().for_each(acp::process::kill_group);
                Probe::Failed(format!("it did not answer within {} s", VERSION_TIMEOUT.as_secs()))
            }
        }
    }
}

async fn printed_by(child: &mut Child) -> Probe {
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // What cannot be read says nothing about the program; its end does.
        let _ = stdout.take(PRINTED_BYTES).read_to_end(&mut printed).await;
    }
    match child.wait().await {
        Ok(status) if status.success() => {
            let printed = String::from_utf8_lossy(&printed);
            Probe::Answered(agents::printed(&printed).map(str::to_owned))
        }
        Ok(status) => Probe::Failed(status.to_string()),
        Err(err) => Probe::Failed(err.to_string()),
    }
}

/// Where Kandev itself looks.
pub(super) fn search_path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}

/// How an agent stands, from what was found of its program and of what it needs.
fn judge(entry: &CatalogueEntry, program: Probe, of: impl Fn(&str) -> Probe) -> Found {
    let is_there = program != Probe::Absent;
    let (version, problem) = match program {
        Probe::Answered(version) => (version, None),
        Probe::Absent => (None, None),
        Probe::NotExecutable(path) => (None, Some(format!("{path} may not be run."))),
        Probe::Failed(how) => (None, Some(format!("{} --version failed: {how}.", entry.program))),
    };
    let unmet = entry.needs.and_then(|need| unmet(need, &of(need.program)));
    let is_strict = entry.needs.is_some_and(|need| need.is_strict);
    let lacks_npx = entry.acp.first() == Some(&"npx") && !is_answered(&of("npx"));
    let standing = match (problem, &unmet) {
        (Some(reason), _) => Standing::Broken { reason },
        (None, Some(unmet)) if is_strict => Standing::Broken { reason: unmet.clone() },
        _ if lacks_npx => {
            Standing::Broken { reason: "It needs Node and npx. Install Node.".into() }
        }
        _ if is_there => Standing::Ready,
        _ if entry.is_fetched() => Standing::Fetched,
        _ => Standing::Missing,
    };
    Found { standing, warning: unmet.filter(|_| !is_strict), version }
}

const fn is_answered(probe: &Probe) -> bool {
    matches!(probe, Probe::Answered(_))
}

/// What is wrong with an interpreter, if anything is.
fn unmet(need: Need, found: &Probe) -> Option<String> {
    let Need { program, version, is_strict } = need;
    let name = if program == "node" { "Node" } else { "Bun" };
    let asks = if is_strict { "It needs" } else { "Its maker asks for" };
    match found {
        Probe::Answered(Some(found)) if agents::is_at_least(found, version) => None,
        Probe::Answered(Some(found)) => {
            let found = found.trim_start_matches('v');
            Some(format!("{asks} {name} {version} or newer; {found} is installed."))
        }
        _ => Some(format!("{asks} {name} {version} or newer, which is not installed.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

    fn judged(key: &str, program: Probe, node: &str) -> Found {
        let entry = agents::entry(key).unwrap();
        judge(entry, program, |name| match name {
            "node" => Probe::Answered(Some(node.into())),
            "npx" => Probe::Answered(None),
            _ => Probe::Absent,
        })
    }

    fn answered(version: &str) -> Probe {
        Probe::Answered(Some(version.into()))
    }

    #[test]
    fn p_002_an_old_node_is_said_before_pi_is_installed_or_started() {
        for program in [Probe::Absent, answered("1.6.0")] {
            let found = judged("pi", program, "v20.20.2");
            let reason = "It needs Node 22.19 or newer; 20.20.2 is installed.".to_owned();
            assert_eq!(found.standing, Standing::Broken { reason });
        }
        assert_eq!(judged("pi", Probe::Absent, "v22.19.0").standing, Standing::Missing);
        let found = judged("pi", answered("1.6.0"), "v24.1.0");
        assert_eq!((found.standing, found.version.as_deref()), (Standing::Ready, Some("1.6.0")));
    }

    #[test]
    fn k_030_what_is_fetched_at_its_start_needs_no_installation() {
        let found = judged("claude", Probe::Absent, "v22.0.0");
        assert_eq!((found.standing, found.warning), (Standing::Fetched, None));
        let warned = judged("claude", answered("2.1.318"), "v20.1.0");
        assert_eq!(warned.standing, Standing::Ready);
        assert_eq!(
            warned.warning.as_deref(),
            Some("Its maker asks for Node 22 or newer; 20.1.0 is installed.")
        );
        assert_eq!(judged("cursor", Probe::Absent, "v22.0.0").standing, Standing::Missing);
        let no_npx = judge(agents::entry("codex").unwrap(), Probe::Absent, |_| Probe::Absent);
        assert!(matches!(no_npx.standing, Standing::Broken { .. }));
    }

    fn program(dir: &Path, name: &str, script: &str, mode: u32) {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[tokio::test]
    async fn p_002_programs_are_asked_and_what_they_do_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "node", "echo v22.20.0", 0o755);
        program(dir.path(), "npx", "echo 10.1.0", 0o755);
        program(dir.path(), "pi", "echo pi v1.6.0", 0o755);
        program(dir.path(), "gemini", "exit 3", 0o755);
        program(dir.path(), "codex", "echo 1.0.0", 0o644);
        let discovery = Discovery::begin(dir.path().into()).await;
        let look = async |key| discovery.look(agents::entry(key).unwrap()).await;
        let pi = look("pi").await;
        assert_eq!((pi.standing, pi.version.as_deref()), (Standing::Ready, Some("v1.6.0")));
        let Standing::Broken { reason } = look("gemini").await.standing else { panic!() };
        assert!(reason.contains("exit status: 3"), "{reason}");
        let Standing::Broken { reason } = look("codex").await.standing else { panic!() };
        assert!(reason.ends_with("codex may not be run."), "{reason}");
        assert_eq!(look("opencode").await.standing, Standing::Fetched);
        assert_eq!(look("kimi").await.standing, Standing::Missing);
    }

    #[tokio::test]
    async fn p_002_a_program_that_never_answers_is_given_up_and_ended() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "pi", "/bin/sleep 600", 0o755);
        let discovery = Discovery { search_path: dir.path().into(), interpreters: HashMap::new() };
        tokio::time::pause();
        let probe = discovery.probe("pi").await;
        assert_eq!(probe, Probe::Failed("it did not answer within 5 s".into()));
    }
}
