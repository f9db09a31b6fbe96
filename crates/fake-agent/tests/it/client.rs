//! A client that says little and hears everything.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A running fake agent; it is killed with the test.
pub(crate) struct Client {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next_id: u64,
}

impl Client {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fake-agent"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout, next_id: 40 }
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{frame}").unwrap();
    }

    /// The next frame.
    pub(crate) fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Everything until it ends.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        rest
    }

    /// Sends a request: its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Sends a request: the updates before its answer, and the answer.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> (Vec<Value>, Value) {
        let id = self.request(method, params);
        self.until_answer(id)
    }

    pub(crate) fn until_answer(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut updates = Vec::new();
        loop {
            let mut frame = self.hear();
            match frame["method"].as_str() {
                None if frame["id"] == id => return (updates, frame),
                Some("session/update") => updates.push(frame["params"]["update"].take()),
                other => panic!("{other:?}: {frame}"),
            }
        }
    }

    /// Introduces itself and begins a session: its id.
    pub(crate) fn begin(&mut self, cwd: &str) -> String {
        self.call("initialize", &json!({"protocolVersion": 1}));
        let (_, answer) = self.call("session/new", &json!({"cwd": cwd, "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> (Vec<Value>, Value) {
        self.call("session/prompt", &prompt(session, text))
    }
}

pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The recorded frames of an agent: `{"t", "dir", "frame"}`.
pub(crate) fn recording(agent: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(fixture(agent)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn fixture(agent: &str) -> String {
    format!("{}/tests/fixtures/{agent}-exit4.jsonl", env!("CARGO_MANIFEST_DIR"))
}
