//! What fuzzing begins with: the recorded frames of real agents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::workspace::Workspace;

const RECORDINGS: &str = "crates/shell-output/tests/recordings";

/// Writes one input for each recording, in the form that the target reads.
pub(super) fn write(workspace: &Workspace, target: &str, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("emptying {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    for (number, path) in recordings(&workspace.root.join(RECORDINGS))?.iter().enumerate() {
        let text =
            fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let frames = text.lines().filter_map(said_by_agent);
        let input = match target {
            // Its first two bytes choose a dialect; each recording is tried in another one.
            "frames" => lines(frames.filter_map(|frame| tool_frame(&frame)), &[number as u8, 0xff]),
            _ => lines(frames, &[]),
        };
        fs::write(folder.join(format!("{number:03}")), input).context("writing an input")?;
    }
    Ok(())
}

/// All recordings, in the order of their names.
fn recordings(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in list(root)? {
        found.extend(
            list(&folder)?
                .into_iter()
                .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")),
        );
    }
    Ok(found)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("listing {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// The frame in a line of a recording, if the agent sent it.
fn said_by_agent(line: &str) -> Option<Value> {
    let mut record: Value = serde_json::from_str(line).ok()?;
    (record["dir"] == "in").then(|| record["frame"].take())
}

/// The tool call in a frame, if it is about one.
fn tool_frame(frame: &Value) -> Option<Value> {
    let params = frame.get("params")?;
    let call = params.get("toolCall").or_else(|| params.get("update"))?;
    call.get("toolCallId")?;
    Some(call.clone())
}

fn lines(frames: impl Iterator<Item = Value>, head: &[u8]) -> Vec<u8> {
    let mut input = head.to_vec();
    for frame in frames {
        input.extend_from_slice(frame.to_string().as_bytes());
        input.push(b'\n');
    }
    input
}
