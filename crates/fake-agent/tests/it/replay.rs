//! Recordings, played back.

use std::io::Read;

use serde_json::{Value, json};

use crate::client::{Client, fixture, prompt, recording};

fn play(agent: &str) -> (Client, String) {
    let mut client = Client::start(&["replay", &fixture(agent), "--speed", "0"]);
    let session = client.begin("/elsewhere");
    (client, session)
}

/// The recorded frames that the agent sent behind its prompt, the prompt's answer the last.
fn said(agent: &str) -> Vec<Value> {
    let frames = recording(agent).into_iter().filter(|record| record["dir"] == "in");
    let frames = frames.map(|mut record| record["frame"].take());
    frames.filter(|frame| frame["method"] == "session/update").collect()
}

#[test]
fn a_recording_is_played_frame_by_frame() {
    for agent in ["opencode", "codex", "claude"] {
        let (mut client, session) = play(agent);
        let id = client.request("session/prompt", &prompt(&session, "anything"));
        let mut heard = Vec::new();
        let answer = loop {
            let frame = client.hear();
            match frame["method"].as_str() {
                Some("session/request_permission") => {
                    client.send(&json!({"id": frame["id"], "result": {}}));
                }
                Some(_) => heard.push(frame),
                None => break frame,
            }
        };
        assert_eq!(answer["id"], id, "{agent}: the client's own id");
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{agent}");
        let recorded = said(agent);
        assert_eq!(heard, recorded[..heard.len()], "{agent}");
        assert!(heard.len() >= 10 && heard.len() + 1 >= recorded.len(), "{agent}");
    }
}

#[test]
fn stderr_is_played_and_a_further_prompt_ends_at_once() {
    let (mut client, session) = play("claude");
    let id = client.request("session/prompt", &prompt(&session, "anything"));
    let ask = loop {
        let frame = client.hear();
        if frame["method"] == "session/request_permission" {
            break frame;
        }
    };
    client.send(&json!({"id": ask["id"], "result": {}}));
    client.until_answer(id);
    let (_, answer) = client.prompt(&session, "more");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    client.stdin = None;
    let mut stderr = String::new();
    client.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stderr.contains("phase=sdk-initialize"), "{stderr}");
}
