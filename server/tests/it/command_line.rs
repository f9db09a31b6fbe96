//! The program itself: what it prints, how it ends, what it refuses.

use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

const PATIENCE: Duration = Duration::from_secs(30);

/// A command of `kandev` on a data directory, with nothing of this process's environment.
fn kandev(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kandev"));
    command.env_clear().env("KANDEV_DATA_DIR", dir).args(args);
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

async fn run(dir: &Path, args: &[&str]) -> Result<Output> {
    Ok(timeout(PATIENCE, kandev(dir, args).output()).await??)
}

/// What a command that has to fail says.
async fn failure(dir: &Path, args: &[&str]) -> Result<String> {
    let output = run(dir, args).await?;
    assert!(!output.status.success(), "{args:?} succeeded");
    let message = String::from_utf8(output.stderr)?;
    assert_eq!(message.lines().count(), 1, "one sentence: {message}");
    Ok(message)
}

/// What a command that has to succeed says.
async fn success(dir: &Path, args: &[&str]) -> Result<String> {
    let output = run(dir, args).await?;
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

struct Serving {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    origin: String,
    link: String,
}

impl Serving {
    async fn start(dir: &Path) -> Result<Self> {
        let mut child = kandev(dir, &["--port", "0"]).stdout(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no stdout")?).lines();
        let mut next = async || {
            let line = timeout(PATIENCE, lines.next_line()).await??;
            anyhow::Ok(line.context("it ended")?)
        };
        let listens = format!("Kandev {} listens on ", env!("CARGO_PKG_VERSION"));
        let origin = next().await?.strip_prefix(&listens).context("no address")?.to_owned();
        let link = next().await?.strip_prefix("Open  ").context("no link")?.to_owned();
        assert!(next().await?.contains("kandev link"));
        Ok(Self { child, lines, origin, link })
    }

    /// Sends a signal; the exit code, and how long it took.
    async fn end(mut self, signal: Signal) -> Result<(Option<i32>, Duration)> {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let began = std::time::Instant::now();
        kill_process(pid.context("it is gone")?, signal)?;
        let status = timeout(PATIENCE, self.child.wait()).await??;
        assert_eq!(self.lines.next_line().await?, None);
        Ok((status.code(), began.elapsed()))
    }

    async fn login(&self, link: &str) -> Result<reqwest::Response> {
        let token = link.strip_prefix(&format!("{}/login#", self.origin)).context("no token")?;
        let client = reqwest::Client::builder().no_proxy().build()?;
        let login = client.post(format!("{}/api/v1/auth/login", self.origin));
        let login = login.header("origin", &self.origin);
        Ok(login.json(&serde_json::json!({"token": token})).send().await?)
    }
}

fn data() -> Result<(TempDir, std::path::PathBuf)> {
    let dir = tempfile::tempdir()?;
    let data = dir.path().join("data");
    Ok((dir, data))
}

#[tokio::test]
async fn q_002_the_printed_links_let_in() -> Result<()> {
    let (_dir, data) = data()?;
    let serving = Serving::start(&data).await?;
    assert_eq!(serving.login(&serving.link).await?.status(), 204);
    assert_eq!(serving.login(&serving.link).await?.status(), 401);
    let printed = success(&data, &["link"]).await?;
    let another = printed.lines().next().context("no link")?;
    assert!(printed.contains('\u{2588}'), "a QR code: {printed}");
    assert_eq!(serving.login(another).await?.status(), 204);
    serving.end(Signal::TERM).await?;
    Ok(())
}

#[tokio::test]
async fn a_signal_ends_everything_within_five_seconds() -> Result<()> {
    use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
    let (_dir, data) = data()?;
    for signal in [Signal::TERM, Signal::INT] {
        let serving = Serving::start(&data).await?;
        let token = success(&data, &["token"]).await?;
        let mut request =
            format!("{}/ws", serving.origin.replacen("http", "ws", 1)).into_client_request()?;
        request.headers_mut().insert("authorization", format!("Bearer {}", token.trim()).parse()?);
        let (_open_socket, _) = tokio_tungstenite::connect_async(request).await?;
        let (code, took) = serving.end(signal).await?;
        assert_eq!(code, Some(0), "{signal:?}");
        assert!(took < Duration::from_secs(5), "{signal:?}: {took:?}");
    }
    Ok(())
}

#[tokio::test]
async fn q_005_a_second_server_exits_and_names_the_first() -> Result<()> {
    let (_dir, data) = data()?;
    let serving = Serving::start(&data).await?;
    let message = failure(&data, &["serve", "--port", "0"]).await?;
    let pid = serving.child.id().context("no process")?.to_string();
    assert!(message.contains(&pid) && message.contains(&serving.origin), "{message}");
    serving.end(Signal::TERM).await?;
    Ok(())
}

#[tokio::test]
async fn a_backup_comes_back_and_not_under_a_running_server() -> Result<()> {
    let (dir, data) = data()?;
    let (live, cold) = (dir.path().join("live.backup"), dir.path().join("cold.backup"));
    let (live, cold) = (live.to_string_lossy(), cold.to_string_lossy());
    let serving = Serving::start(&data).await?;
    let cookie = serving.login(&serving.link).await?;
    let cookie = cookie.headers()["set-cookie"].to_str()?.to_owned();
    success(&data, &["backup", &live]).await?;
    assert!(failure(&data, &["backup", &live]).await?.contains("there already"));
    for command in [&["restore", &*live][..], &["check"], &["compact"]] {
        let message = failure(&data, command).await?;
        assert!(message.contains("stop it first"), "{command:?}: {message}");
    }
    serving.end(Signal::TERM).await?;

    success(&data, &["backup", &cold]).await?;
    for backup in [live, cold] {
        std::fs::write(data.join("kandev.redb"), "damaged")?;
        failure(&data, &["check"]).await?;
        success(&data, &["restore", &backup]).await?;
        assert!(success(&data, &["check"]).await?.contains("is sound"));
        success(&data, &["compact"]).await?;
        let serving = Serving::start(&data).await?;
        let sessions = reqwest::Client::builder().no_proxy().build()?;
        let sessions = sessions.get(format!("{}/api/v1/auth/sessions", serving.origin));
        let token = success(&data, &["token"]).await?;
        let list = sessions.bearer_auth(token.trim()).send().await?.text().await?;
        let id = cookie.split_once('=').and_then(|(_, value)| value.split_once('.'));
        assert!(list.contains(id.context("no session")?.0), "{list}");
        serving.end(Signal::TERM).await?;
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_done_is_said_with_a_next_step() -> Result<()> {
    let (dir, data) = data()?;
    let no_backup = dir.path().join("no.backup");
    for (args, step) in [
        (&["link"][..], "kandev serve"),
        (&["token"], "kandev serve"),
        (&["check"], "--data-dir"),
        (&["compact"], "--data-dir"),
        (&["backup", "x"], "--data-dir"),
        (&["restore", &no_backup.to_string_lossy()], "no.backup"),
        (&["serve", "--port", "0", "--host", "0.0.0.0"], "--allow-host"),
    ] {
        let message = failure(&data, args).await?;
        assert!(message.contains(step), "{args:?}: {message}");
    }
    Ok(())
}

#[tokio::test]
async fn q_001_a_weak_token_of_ones_own_starts_nothing() -> Result<()> {
    let (_dir, data) = data()?;
    for weak in ["", "letmein"] {
        let args = ["--port", "0", "--host", "0.0.0.0", "--allow-host", "box.lan"];
        let output = kandev(&data, &args).env("KANDEV_TOKEN", weak).output();
        let output = timeout(PATIENCE, output).await??;
        assert!(!output.status.success(), "{weak:?}");
        assert!(String::from_utf8(output.stderr)?.contains("KANDEV_TOKEN"), "{weak:?}");
    }
    Ok(())
}

#[tokio::test]
async fn help_and_version_are_there() -> Result<()> {
    let (_dir, data) = data()?;
    let help = success(&data, &["--help"]).await?;
    for command in ["serve", "link", "token", "backup", "restore", "check", "compact"] {
        assert!(help.contains(&format!("  {command} ")), "{command} in {help}");
    }
    assert!(success(&data, &["serve", "--help"]).await?.contains("KANDEV_ALLOW_HOST"));
    assert_eq!(
        success(&data, &["--version"]).await?.trim(),
        concat!("kandev ", env!("CARGO_PKG_VERSION"))
    );
    Ok(())
}

/// A recording of a real agent.
fn recording(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/shell-output/tests/recordings");
    format!("{folder}/{name}.jsonl")
}

fn json_lines(text: &str) -> Result<Vec<serde_json::Value>> {
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

#[tokio::test]
async fn s_030_a_replay_prints_each_stored_tool_message_with_its_output() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let printed = success(dir.path(), &["replay", &recording("opencode/exit4")]).await?;
    let messages = json_lines(&printed)?;
    assert_eq!(messages.len(), 1);
    let metadata = &messages[0]["metadata"];
    let exec = &metadata["normalized"]["shell_exec"];
    assert_eq!(
        (&messages[0]["type"], &metadata["status"]),
        (&"tool_execute".into(), &"error".into())
    );
    assert_eq!(
        (&exec["output"]["exit_code"], &exec["output"]["stdout"]),
        (&4.into(), &"one\ntwo\n".into())
    );
    assert!(dir.path().read_dir()?.next().is_none(), "nothing of the data directory is touched");
    Ok(())
}

#[tokio::test]
async fn s_031_a_replay_for_the_browser_has_no_output_in_it() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let printed = success(dir.path(), &["replay", "--view", &recording("claude/exit4")]).await?;
    let output = &json_lines(&printed)?[0]["metadata"]["normalized"]["shell_exec"]["output"];
    assert_eq!((output["stdout_bytes"].as_u64(), output.get("stdout")), (Some(7), None));
    Ok(())
}

#[tokio::test]
async fn s_003_a_recording_without_a_name_is_read_as_the_given_agent() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("nameless.jsonl");
    let named = std::fs::read_to_string(recording("pi/exit4"))?;
    std::fs::write(&file, named.replace("agentInfo", "nobody"))?;
    let file = file.to_str().context("a plain path")?;
    let command = async |agent: &str| {
        let printed = success(dir.path(), &["replay", "--agent", agent, file]).await?;
        let exec = &json_lines(&printed)?[0]["metadata"]["normalized"]["shell_exec"];
        anyhow::Ok(exec["command"].as_str().map(str::len))
    };
    assert_eq!(command("generic").await?, Some(0), "nobody but Pi has its command in the title");
    assert!(command("pi").await?.is_some_and(|len| len > 0));
    assert!(
        failure_lines(dir.path(), &["replay", "--agent", "nobody", file])
            .await?
            .contains("opencode")
    );
    Ok(())
}

/// What a command that is refused says, on however many lines.
async fn failure_lines(dir: &Path, args: &[&str]) -> Result<String> {
    let output = run(dir, args).await?;
    assert!(!output.status.success(), "{args:?} succeeded");
    Ok(String::from_utf8(output.stderr)?)
}

#[tokio::test]
async fn s_017_a_bad_line_of_a_recording_is_named_and_ends_with_2() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("bad.jsonl");
    std::fs::write(&file, "{\"t\": 0, \"dir\": \"in\", \"frame\": {}}\n\n{\"t\": 1}\n")?;
    let output = run(dir.path(), &["replay", file.to_str().context("a plain path")?]).await?;
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr)?.contains("line 3:"));
    assert!(output.stdout.is_empty());
    Ok(())
}
