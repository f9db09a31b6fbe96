//! Plays a recording of a real agent back: what it said, when the client has said its part.
//!
//! A line of a recording: `{"t": seconds, "dir": "in"|"out"|"err"|"nonjson", "frame": {..}}`, with
//! `text` in place of `frame` for the last two. `out` is the client's part, here waited for: the
//! requests that every client sends, a cancel, and answers to the agent. Other requests of the
//! recording client, and their answers, are left out.

use std::{collections::HashMap, fs, path::Path, thread, time::Duration};

use anyhow::Context;
use serde_json::{Value, json};

use crate::wire;

/// What is waited for.
const AWAITED: [&str; 4] = ["initialize", "session/new", "session/prompt", "session/cancel"];

pub(crate) fn serve(file: &Path, speed: f64) -> anyhow::Result<()> {
    let text = fs::read_to_string(file)
        .with_context(|| format!("cannot read the recording {}", file.display()))?;
    let records = parse(&text)?;
    let mut player = Player { incoming: wire::incoming(), ids: HashMap::new() };
    let mut before = None;
    for record in &records {
        let at = record["t"].as_f64().unwrap_or_default();
        if record["dir"] != "out"
            && let Some(before) = before
        {
            pause(at - before, speed);
        }
        if !player.play(record) {
            return Ok(());
        }
        before = Some(at);
    }
    player.incoming.for_each(|frame| answer_beyond_the_end(&frame));
    Ok(())
}

fn parse(text: &str) -> anyhow::Result<Vec<Value>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("line {} is no JSON", at + 1))
        })
        .collect()
}

fn pause(seconds: f64, speed: f64) {
    if speed > 0.0
        && let Ok(pause) = Duration::try_from_secs_f64(seconds / speed)
    {
        thread::sleep(pause);
    }
}

struct Player<I> {
    incoming: I,
    /// The client's request ids, by the recorded ones. An answer to any other is left out.
    ids: HashMap<String, Value>,
}

impl<I: Iterator<Item = Value>> Player<I> {
    /// Plays one line of the recording. Returns whether the client is still there.
    fn play(&mut self, record: &Value) -> bool {
        let frame = &record["frame"];
        match record["dir"].as_str() {
            Some("in") => self.say(frame),
            Some("out") => return self.listen(frame),
            Some("err") => wire::complain(&format!("{}\n", text(record))),
            Some("nonjson") => wire::send_raw(text(record).as_bytes()),
            _ => {}
        }
        true
    }

    fn say(&self, recorded: &Value) {
        let mut frame = recorded.clone();
        if frame.get("method").is_none() {
            let Some(actual) = self.ids.get(&frame["id"].to_string()) else { return };
            frame["id"] = actual.clone();
        }
        wire::send(&frame);
    }

    /// Waits for the client's counterpart of a recorded frame.
    fn listen(&mut self, recorded: &Value) -> bool {
        let method = recorded["method"].as_str();
        if method.is_some_and(|method| !AWAITED.contains(&method)) {
            return true;
        }
        for frame in self.incoming.by_ref() {
            if frame["method"].as_str() == method {
                if method.is_some() {
                    self.ids.insert(recorded["id"].to_string(), frame["id"].clone());
                }
                return true;
            }
            refuse(&frame);
        }
        false
    }
}

fn text(record: &Value) -> &str {
    record["text"].as_str().unwrap_or_default()
}

fn refuse(frame: &Value) {
    if let (Some(id), Some(_)) = (frame.get("id"), frame.get("method")) {
        wire::fail(id, -32601, "not in the recording");
    }
}

/// The recording is over; a further prompt ends at once.
fn answer_beyond_the_end(frame: &Value) {
    match (frame.get("id"), frame["method"].as_str()) {
        (Some(id), Some("session/prompt")) => wire::respond(id, &json!({"stopReason": "end_turn"})),
        _ => refuse(frame),
    }
}
