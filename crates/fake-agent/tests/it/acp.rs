//! Directives, played.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Client, prompt, recording};

fn texts(updates: &[Value]) -> String {
    updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
}

#[test]
fn a_prompt_is_repeated_or_obeyed() {
    let mut client = Client::start(&["acp"]);
    let session = client.begin("/");
    let (updates, answer) = client.prompt(&session, "hello");
    assert_eq!(texts(&updates), "Fake reply to: hello");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let (_, answer) = client.prompt(&session, "stop refusal");
    assert_eq!(answer["result"]["stopReason"], "refusal");
    let (_, answer) = client.prompt(&session, "error no key");
    assert_eq!(answer["error"], json!({"code": -32603, "message": "no key"}));
}

#[test]
fn a_script_comes_before_the_prompts() {
    let script = std::env::temp_dir().join(format!("fake-agent-{}.script", std::process::id()));
    std::fs::write(&script, "say one\n---\nsay two").unwrap();
    let mut client = Client::start(&["acp", "--script", script.to_str().unwrap()]);
    let session = client.begin("/");
    for said in ["one", "two", "three"] {
        assert_eq!(texts(&client.prompt(&session, "say three").0), said);
    }
    std::fs::remove_file(script).unwrap();
}

/// The paths of all members: `_meta.terminal_exit.exit_code`.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                paths(value, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| paths(item, &format!("{path}[]"), found));
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// What a tool frame looks like, whatever its values: its status and the paths in it.
fn shape(update: &Value) -> (Option<String>, BTreeSet<String>) {
    let mut found = BTreeSet::new();
    paths(update, "", &mut found);
    (update["status"].as_str().map(str::to_owned), found)
}

fn is_tool(update: &Value) -> bool {
    update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call"))
}

#[test]
fn a_dialect_has_the_frames_of_its_recording() {
    for agent in ["opencode", "codex", "claude"] {
        let recorded: Vec<_> = recording(agent)
            .iter()
            .map(|record| record["frame"]["params"]["update"].clone())
            .filter(is_tool)
            .collect();
        let mut client = Client::start(&["acp", "--dialect", agent]);
        let session = client.begin("/workspace/demo");
        let command =
            recorded.iter().find_map(|frame| frame["rawInput"]["command"].as_str()).unwrap();
        let (updates, _) = client.prompt(&session, &format!("run {command} => 4 | one\\ntwo\\n"));
        let played: Vec<_> = updates.into_iter().filter(is_tool).collect();
        assert!(played.len() >= 3, "{agent}: {played:?}");
        for frame in &played {
            let known = recorded.iter().any(|recorded| shape(recorded) == shape(frame));
            assert!(known, "{agent} never sent {frame}");
        }
        let values = |frames: &[Value]| {
            let mut last = frames.last().unwrap().clone();
            let id = last["toolCallId"].as_str().unwrap().to_owned();
            last = serde_json::from_str(&last.to_string().replace(&id, "ID")).unwrap();
            last
        };
        assert_eq!(values(&played), values(&recorded), "{agent}");
    }
}

#[test]
fn a_shell_command_really_runs() {
    let mut client = Client::start(&["acp", "--dialect", "opencode"]);
    let session = client.begin("/");
    let (updates, _) = client.prompt(&session, "shell pwd; echo err >&2; kill -9 $$");
    let last = updates.last().unwrap();
    assert_eq!(last["rawOutput"]["output"], "/\nerr\n");
    assert_eq!(last["rawOutput"]["metadata"]["exit"], 137);
}

#[test]
fn a_command_is_played_in_steps_over_two_prompts() {
    let mut client = Client::start(&["acp", "--dialect", "codex"]);
    let session = client.begin("/");
    let (first, _) = client.prompt(&session, "start one\nstart two\nout #1 a\\n");
    assert_eq!(first[2]["toolCallId"], first[0]["toolCallId"]);
    let (second, _) = client.prompt(&session, "exit #1 0\nexit 7");
    assert_eq!(second[0]["status"], "completed");
    assert_eq!(second[1]["_meta"]["terminal_exit"]["exit_code"], 7);
}

#[test]
fn a_cancel_ends_the_turn_at_once_and_leaves_the_command_open() {
    let mut client = Client::start(&["acp", "--dialect", "codex"]);
    let session = client.begin("/");
    let id = client.request(
        "session/prompt",
        &prompt(&session, "start sleep\non-cancel {\"x\": 1}\nhang\nsay never"),
    );
    assert!(is_tool(&client.hear()["params"]["update"]));
    client.send(&json!({"method": "session/cancel", "params": {"sessionId": session}}));
    let (updates, answer) = client.until_answer(id);
    assert_eq!(updates, [json!({"x": 1})]);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
}

#[test]
fn leave_that_is_refused_fails_the_command() {
    let mut client = Client::start(&["acp", "--dialect", "opencode"]);
    let session = client.begin("/");
    let id = client.request("session/prompt", &prompt(&session, "ask rm x"));
    let ask = loop {
        let frame = client.hear();
        if frame["method"] == "session/request_permission" {
            break frame;
        }
    };
    assert_eq!(ask["params"]["toolCall"]["rawInput"]["command"], "rm x");
    let outcome = json!({"outcome": "selected", "optionId": "reject"});
    client.send(&json!({"id": ask["id"], "result": {"outcome": outcome}}));
    let (updates, _) = client.until_answer(id);
    assert_eq!(texts(&updates), "Permission: reject_once\n");
    assert_eq!(updates.last().unwrap()["status"], "failed");
}

#[test]
fn it_ends_with_its_stdin() {
    let mut client = Client::start(&["acp"]);
    client.begin("/");
    client.stdin = None;
    assert!(client.child.wait().unwrap().success());
}

#[test]
fn an_update_is_sent_as_it_stands_in_the_turn_and_after_it() {
    let mut client = Client::start(&["acp"]);
    let session = client.begin("/");
    let odd = json!({"sessionUpdate": "tool_call", "toolCallId": 7});
    let late = json!({"sessionUpdate": "tool_call_update", "toolCallId": "x"});
    let (updates, _) = client.prompt(&session, &format!("update {odd}\nlater 1 {late}"));
    assert_eq!(updates, [odd]);
    assert_eq!(client.hear()["params"]["update"], late);
}

#[test]
fn it_asks_leave_outside_a_turn() {
    let mut client = Client::start(&["acp"]);
    let session = client.begin("/");
    let (updates, _) = client.prompt(&session, "ask-later 1 rm x");
    assert!(updates.is_empty());
    let ask = client.hear();
    assert_eq!(ask["method"], "session/request_permission");
    let outcome = json!({"outcome": "selected", "optionId": "reject-once"});
    client.send(&json!({"id": ask["id"], "result": {"outcome": outcome}}));
    let said = std::iter::repeat_with(|| client.hear()).find_map(|frame| {
        frame.pointer("/params/update/content/text").and_then(Value::as_str).map(str::to_owned)
    });
    assert_eq!(said.as_deref(), Some("Permission: reject_once\n"));
}

#[test]
fn tiny_lines_come_one_by_one() {
    let mut client = Client::start(&["acp", "--dialect", "codex"]);
    let session = client.begin("/");
    let (updates, _) = client.prompt(&session, "start make\ntiny 3\nexit 0");
    let printed = updates.iter().filter_map(|u| u["_meta"]["terminal_output"]["data"].as_str());
    assert_eq!(printed.collect::<Vec<_>>(), ["tick 0000\n", "tick 0001\n", "tick 0002\n"]);
}

#[test]
fn a_torn_frame_is_the_last_that_is_heard() {
    let mut client = Client::start(&["acp"]);
    let session = client.begin("/");
    client.request("session/prompt", &prompt(&session, "torn 9"));
    let rest = client.rest();
    assert!(rest.starts_with("{\"") && !rest.ends_with('\n') && rest.len() > 20, "{rest:?}");
    assert_eq!(client.child.wait().unwrap().code(), Some(9));
}

#[test]
fn a_session_that_is_loaded_is_told_again_and_one_that_is_not_known_is_refused() {
    let history = std::env::temp_dir().join(format!("fake-agent-{}.history", std::process::id()));
    let said = json!({"sessionUpdate": "tool_call", "toolCallId": "x", "kind": "execute"});
    let file = history.to_str().unwrap();
    let load = json!({"sessionId": "earlier", "cwd": "/", "mcpServers": []});

    let mut client = Client::start(&["acp", "--load", file]);
    let (_, answer) = client.call("initialize", &json!({"protocolVersion": 1}));
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], true);
    assert_eq!(client.call("session/load", &load).1["error"]["code"], -32602);
    std::fs::write(&history, format!("{said}\n")).unwrap();
    let (updates, answer) = client.call("session/load", &load);
    assert_eq!(updates, [said]);
    assert!(answer["result"]["modes"].is_object());
    assert_eq!(texts(&client.prompt("earlier", "say again").0), "again");
    std::fs::remove_file(history).unwrap();
}

#[test]
fn a_session_is_resumed_where_that_is_offered() {
    let resume = json!({"sessionId": "earlier", "cwd": "/", "mcpServers": []});
    let mut client = Client::start(&["acp", "--resume"]);
    let (_, answer) = client.call("initialize", &json!({"protocolVersion": 1}));
    assert!(answer["result"]["agentCapabilities"]["sessionCapabilities"]["resume"].is_object());
    let (updates, answer) = client.call("session/resume", &resume);
    assert!(updates.is_empty() && answer["result"].is_object());
    assert_eq!(texts(&client.prompt("earlier", "say again").0), "again");
    let mut other = Client::start(&["acp"]);
    assert_eq!(other.call("session/resume", &resume).1["error"]["code"], -32601);
}

#[test]
fn a_method_can_be_its_end() {
    let mut client = Client::start(&["acp", "--die", "session/new"]);
    client.call("initialize", &json!({"protocolVersion": 1}));
    client.request("session/new", &json!({"cwd": "/"}));
    assert_eq!(client.child.wait().unwrap().code(), Some(1));
}
