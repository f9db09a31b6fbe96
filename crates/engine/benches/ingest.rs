//! What it costs to take in what agents say: ratios of one run, since machines are noisy.
//!
//! Prints a table in Markdown; ends with 1 when a promise is not kept.

#![expect(clippy::print_stdout, reason = "a benchmark speaks on its terminal")]

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use engine::recording::replay;
use model::AgentKind;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};
use shell_output::{Dialect, FrameOrigin, ShellCall, ToolFrame};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shell-output/tests/recordings");
/// Frames that are taken in.
const FRAMES: usize = 100_000;
/// Each figure is the best of so many.
const TRIES: usize = 5;

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let frames = cycled(FRAMES)?;
    let parsing = best(|| parse(&frames))?;
    let ingest = best(|| {
        runtime.block_on(replay(frames.as_bytes(), AgentKind::Generic))?;
        Ok(())
    })?;
    let tiny = |updates: usize| -> Result<Duration> {
        let text = many_tiny(updates);
        best(|| {
            runtime.block_on(replay(text.as_bytes(), AgentKind::OpenCode))?;
            Ok(())
        })
    };
    // Each update has all the text so far: ten times the bytes are 3.16 times the updates.
    let (small, large) = (tiny(2_000)?, tiny(6_325)?);
    let rows = [
        Row {
            what: format!("ingest of {FRAMES} recorded frames, against parsing them"),
            found: ratio(ingest, parsing),
            most: 3.0,
            unit: "x",
        },
        Row {
            what: "many tiny cumulative updates, ten times the bytes".into(),
            found: ratio(large, small),
            most: 12.0,
            unit: "x",
        },
        Row {
            what: "memory of one running call between frames".into(),
            found: retained()? as f64 / f64::from(1 << 20),
            most: 2.0,
            unit: " MiB",
        },
    ];
    println!("| what | measured | at most |\n|---|---|---|");
    for Row { what, found, most, unit } in &rows {
        println!("| {what} | {found:.2}{unit} | {most:.0}{unit} |");
    }
    let broken = rows.iter().find(|row| row.found > row.most);
    ensure!(broken.is_none(), "{} is more than promised", broken.map_or("", |row| &row.what));
    Ok(())
}

struct Row {
    what: String,
    found: f64,
    most: f64,
    unit: &'static str,
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn best(mut run: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..TRIES {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.into_iter().min().context("it runs at least once")
}

fn parse(lines: &str) -> Result<()> {
    for line in lines.lines() {
        std::hint::black_box(serde_json::from_str::<Value>(line)?);
    }
    Ok(())
}

/// The recordings, one behind the other and from the start again, up to so many lines.
fn cycled(frames: usize) -> Result<String> {
    let mut recordings = Vec::new();
    for folder in fs::read_dir(Path::new(RECORDINGS))? {
        for file in fs::read_dir(folder?.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                recordings.push(path);
            }
        }
    }
    recordings.sort();
    let mut records = Vec::new();
    for path in recordings {
        let text = fs::read_to_string(&path)?;
        let lines =
            text.lines().map(serde_json::from_str::<Value>).collect::<Result<Vec<_>, _>>()?;
        records.push(lines);
    }
    let mut text = String::new();
    let (mut count, mut begin) = (0, 0.0);
    for recording in records.iter().cycle() {
        let mut end = begin;
        for record in recording {
            if count == frames {
                return Ok(text);
            }
            let mut record = record.clone();
            end = begin + record["t"].as_f64().unwrap_or_default();
            record["t"] = json!(end);
            writeln!(text, "{record}")?;
            count += 1;
        }
        begin = end;
    }
    Ok(text)
}

/// A command that writes ten bytes at a time, told as OpenCode tells it.
fn many_tiny(updates: usize) -> String {
    let update = |update: Value| {
        json!({"t": 0.0, "dir": "in", "frame": {
            "method": "session/update", "params": {"sessionId": "s", "update": update}}})
    };
    let mut lines = vec![
        json!({"t": 0.0, "dir": "out", "frame": {
            "id": 1, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}}),
        update(json!({"sessionUpdate": "tool_call", "toolCallId": "a", "kind": "execute",
            "rawInput": {"command": "many"}})),
    ];
    let mut text = String::new();
    for at in 0..updates {
        text.push_str("123456789\n");
        let content = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        let mut line = update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "a",
            "status": "in_progress", "content": content}));
        line["t"] = json!(at as f64 / 400.0);
        lines.push(line);
    }
    lines.iter().fold(String::new(), |text, line| text + &line.to_string() + "\n")
}

/// What a call holds that has written 64 MiB on either stream, in bytes.
fn retained() -> Result<usize> {
    let before = ALLOCATED.current_usage();
    let mut call = ShellCall::new(Dialect::new(AgentKind::Generic, &[]));
    for _ in 0..1024 {
        let chunk = "0123456789abcde\n".repeat(4096);
        let frame = json!({"toolCallId": "a", "_meta": {"terminal_output_delta": {"data": chunk}}});
        let frame = ToolFrame::parse(FrameOrigin::Update, &frame).context("a frame")?;
        let _ = call.apply(&frame);
        drop(call.take_body_changes());
    }
    let stderr = "e".repeat(64 << 20);
    let frame = json!({"toolCallId": "a", "rawOutput": {"stderr": stderr}});
    let _ = call.apply(&ToolFrame::parse(FrameOrigin::Update, &frame).context("a frame")?);
    drop((frame, stderr, call.take_body_changes()));
    let held = ALLOCATED.current_usage().saturating_sub(before);
    drop(call);
    Ok(held)
}
