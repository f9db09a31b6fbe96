//! Every recording of a real agent, taken through the machine and the store, against what stands
//! beside it.

use std::{
    fs::{self, File},
    io::BufReader,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use engine::recording::{ReplayError, replay};
use model::AgentKind;
use serde_json::{Value, json};

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shell-output/tests/recordings")
}

/// The stored tool messages of a recording, as JSON.
async fn messages(path: &Path) -> Result<Vec<Value>> {
    let replayed = replay(BufReader::new(File::open(path)?), AgentKind::Generic).await?;
    replayed.messages()?.iter().map(|message| Ok(serde_json::to_value(message)?)).collect()
}

/// The same messages in the words of an expectation.
fn as_expected(message: &Value) -> Value {
    let metadata = &message["metadata"];
    let Some(exec) = metadata["normalized"].get("shell_exec") else {
        return json!({"kind": message["type"]});
    };
    let mut exec = exec.clone();
    let output = exec.as_object_mut().and_then(|exec| exec.remove("output")).unwrap_or_default();
    json!({
        "kind": message["type"], "title": message["content"], "status": metadata["status"],
        "exec": exec, "exit_code": output["exit_code"],
        "truncated": output["truncated"].as_bool().unwrap_or_default(),
        "stdout": output["stdout"], "stderr": output["stderr"],
    })
}

/// Whether a text is the expected one: whole, or its two ends and its length.
fn is_text(expected: &Value, actual: &Value) -> bool {
    let (Some(begins), Some(ends)) = (expected["begins"].as_str(), expected["ends"].as_str())
    else {
        return expected == actual;
    };
    let Some(actual) = actual.as_str() else { return false };
    let is_long = expected["bytes"].as_u64() == Some(actual.len() as u64);
    is_long && actual.starts_with(begins) && actual.ends_with(ends)
}

fn is_call(expected: &Value, actual: &Value) -> bool {
    let keys = ["kind", "title", "status", "exec", "exit_code", "truncated"];
    let is_shell = expected.get("exec").is_some();
    let keys = if is_shell { &keys[..] } else { &keys[..1] };
    let is_same = keys.iter().all(|key| expected[*key] == actual[*key]);
    is_same
        && ["stdout", "stderr"].iter().all(|stream| is_text(&expected[*stream], &actual[*stream]))
}

async fn check(path: &Path) -> Result<()> {
    let expected = fs::read_to_string(path.with_extension("expected.json"))?;
    let expected: Value = serde_json::from_str(&expected)?;
    let expected = expected["calls"].as_array().context("there are calls")?.clone();
    let actual: Vec<Value> = messages(path).await?.iter().map(as_expected).collect();
    ensure!(actual.len() == expected.len(), "{} calls for {}", actual.len(), expected.len());
    for (expected, actual) in expected.iter().zip(&actual) {
        let words = |value: &Value| value.to_string().chars().take(600).collect::<String>();
        ensure!(is_call(expected, actual), "{}\nbut {}", words(expected), words(actual));
    }
    Ok(())
}

#[tokio::test]
async fn s_001_s_020_s_025_s_030_every_recording_comes_to_what_stands_beside_it() -> Result<()> {
    let mut count = 0;
    let mut wrong = Vec::new();
    for folder in fs::read_dir(recordings())? {
        for file in fs::read_dir(folder?.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                count += 1;
                wrong.extend(check(&path).await.err().map(|err| format!("{path:?}: {err}")));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    ensure!(count >= 189, "recordings are lost: {count}");
    Ok(())
}

#[tokio::test]
async fn s_026_history_that_a_load_tells_again_is_not_stored() -> Result<()> {
    for agent in ["claude", "codex", "codex-zed", "omp", "opencode", "pi"] {
        let path = recordings().join(agent).join("load.jsonl");
        ensure!(messages(&path).await?.is_empty(), "{agent}");
    }
    Ok(())
}

#[tokio::test]
async fn s_003_the_name_in_a_recording_comes_before_the_given_agent() -> Result<()> {
    let path = recordings().join("claude-old/exit4.jsonl");
    let file = BufReader::new(File::open(path)?);
    let messages = replay(file, AgentKind::OpenCode).await?.messages()?;
    let exec = messages[0].shell_exec().context("a shell command")?;
    let output = exec.output.as_ref().context("output")?;
    assert_eq!((output.exit_code, output.stdout.as_deref()), (Some(4), Some("one\ntwo")));
    Ok(())
}

#[tokio::test]
async fn s_031_the_browsers_form_of_a_replay_has_no_body() -> Result<()> {
    let path = recordings().join("opencode/exit4.jsonl");
    let replayed = replay(BufReader::new(File::open(path)?), AgentKind::Generic).await?;
    let view = serde_json::to_value(&replayed.views()?[0])?;
    let output = &view["metadata"]["normalized"]["shell_exec"]["output"];
    assert_eq!(
        *output,
        json!({"exit_code": 4, "truncated": false, "has_output": true, "stdout_bytes": 8,
            "stderr_bytes": 0})
    );
    Ok(())
}

#[tokio::test]
async fn s_017_a_line_that_is_no_record_is_named_by_its_number() {
    let text = "{\"t\": 0, \"dir\": \"in\", \"frame\": {}}\n\n{\"t\": 0, \"dir\"";
    let Err(err) = replay(text.as_bytes(), AgentKind::Generic).await else { panic!("it was read") };
    assert!(matches!(err, ReplayError::Line { number: 3, .. }), "{err}");
}

#[tokio::test]
async fn s_017_frames_out_of_order_make_no_message_and_no_panic() -> Result<()> {
    let lines = [
        json!({"dir": "in", "frame": {"id": 7, "result": {"stopReason": "end_turn"}}}),
        json!({"dir": "in", "frame": {"method": "session/update", "params": {"update": {
            "sessionUpdate": "tool_call", "toolCallId": "a", "kind": "execute"}}}}),
        json!({"dir": "out", "frame": {"method": "session/cancel"}}),
        json!({"dir": "in", "frame": [1, null, {}]}),
    ];
    let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let replayed = replay(text.as_bytes(), AgentKind::Codex).await?;
    assert_eq!(replayed.messages()?, []);
    Ok(())
}
