//! The agent's side of ACP: one session after the other, one prompt at a time.

use std::{
    collections::{HashMap, VecDeque},
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use anyhow::Context;
use serde_json::{Value, json};

use crate::{
    args::Options,
    directive,
    signals::Signals,
    tool::Tools,
    turn::{Answer, Session},
    wire,
};

/// The modes of every session; the first is where it begins.
const MODES: [&str; 2] = ["auto", "default"];

/// Serves until stdin ends.
pub(crate) fn serve(options: Options) -> anyhow::Result<()> {
    let mut agent = Agent::new(options)?;
    for frame in wire::incoming() {
        agent.take(frame);
    }
    if agent.options.ignore_eof {
        loop {
            thread::park();
        }
    }
    Ok(())
}

struct Agent {
    options: Options,
    /// The script's sections that were not played yet.
    script: VecDeque<String>,
    sessions: HashMap<String, Arc<Session>>,
    signals: Arc<Signals>,
    busy: Arc<AtomicBool>,
}

impl Agent {
    fn new(options: Options) -> anyhow::Result<Self> {
        let script = match &options.script {
            Some(file) => sections(
                &fs::read_to_string(file)
                    .with_context(|| format!("cannot read the script {}", file.display()))?,
            ),
            None => VecDeque::new(),
        };
        let (signals, busy) = (Arc::default(), Arc::default());
        Ok(Self { options, script, sessions: HashMap::new(), signals, busy })
    }

    fn take(&mut self, frame: Value) {
        let Some(method) = frame["method"].as_str() else {
            self.signals.answer(frame);
            return;
        };
        if self.options.mute.iter().any(|mute| mute == method) {
            return;
        }
        if self.options.die.iter().any(|die| die == method) {
            std::process::exit(1);
        }
        match frame.get("id") {
            Some(id) if self.options.fail.iter().any(|fail| fail == method) => {
                wire::fail(id, -32000, "Authentication required");
            }
            Some(id) => self.request(id, method, &frame["params"]),
            None if method == "session/cancel" => self.signals.cancel(),
            None => {}
        }
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) {
        match method {
            "initialize" => wire::respond(id, &self.initialize()),
            "session/new" => {
                let session_id = format!("fake-{}-{}", std::process::id(), self.sessions.len() + 1);
                self.begin(&session_id, params);
                wire::respond(id, &json!({"sessionId": session_id, "modes": modes()}));
            }
            "session/load" if self.options.load.is_some() => self.load(id, params),
            "session/resume" if self.options.resume => {
                self.begin(params["sessionId"].as_str().unwrap_or_default(), params);
                wire::respond(id, &json!({"modes": modes()}));
            }
            "session/set_mode" => self.set_mode(id, params),
            "session/prompt" => self.prompt(id, params),
            _ => wire::fail(id, -32601, "Method not found"),
        }
    }

    fn initialize(&self) -> Value {
        let (name, version) = self.options.dialect.frames().identity();
        let mut answer = json!({"protocolVersion": 1, "authMethods": [],
            "agentCapabilities": {"loadSession": self.options.load.is_some(),
                "promptCapabilities": {}, "sessionCapabilities": {}}});
        if self.options.resume {
            answer["agentCapabilities"]["sessionCapabilities"]["resume"] = json!({});
        }
        if !self.options.no_identity {
            answer["agentInfo"] = json!({
                "name": self.options.name.as_deref().unwrap_or(name),
                "version": self.options.version.as_deref().unwrap_or(version),
            });
        }
        answer
    }

    fn begin(&mut self, id: &str, params: &Value) -> Arc<Session> {
        let session = Arc::new(Session {
            id: id.to_owned(),
            cwd: params["cwd"].as_str().unwrap_or("/").to_owned(),
            dialect: self.options.dialect,
            tools: Mutex::new(Tools::new(self.options.dialect)),
            mode: Mutex::new(MODES[0].to_owned()),
            signals: Arc::clone(&self.signals),
        });
        self.sessions.insert(id.to_owned(), Arc::clone(&session));
        session
    }

    fn load(&mut self, id: &Value, params: &Value) {
        let file = self.options.load.as_ref();
        let Some(history) = file.and_then(|file| fs::read_to_string(file).ok()) else {
            return wire::fail(id, -32602, "no such session");
        };
        let session = self.begin(params["sessionId"].as_str().unwrap_or_default(), params);
        session
            .replay(history.lines().filter_map(|line| serde_json::from_str(line).ok()).collect());
        wire::respond(id, &json!({"modes": modes()}));
    }

    fn set_mode(&self, id: &Value, params: &Value) {
        let session = params["sessionId"].as_str().and_then(|id| self.sessions.get(id));
        match (session, params["modeId"].as_str()) {
            (Some(session), Some(mode)) if MODES.contains(&mode) => {
                session.set_mode(mode);
                wire::respond(id, &json!({}));
            }
            _ => wire::fail(id, -32602, "no such mode"),
        }
    }

    fn prompt(&mut self, id: &Value, params: &Value) {
        let session = params["sessionId"].as_str().and_then(|id| self.sessions.get(id));
        let Some(session) = session.cloned() else {
            return wire::fail(id, -32602, "no such session");
        };
        if self.busy.swap(true, Ordering::SeqCst) {
            return wire::fail(id, -32600, "a turn is under way");
        }
        self.signals.reset();
        let text = self.script.pop_front().unwrap_or_else(|| prompt_text(params));
        let (id, busy) = (id.clone(), Arc::clone(&self.busy));
        thread::spawn(move || {
            let (answer, afterwards) = session.play(&directive::parse(&text));
            busy.store(false, Ordering::SeqCst);
            send_answer(&id, &answer);
            session.finish(&afterwards);
        });
    }
}

fn modes() -> Value {
    let available = MODES.map(|mode| json!({"id": mode, "name": mode}));
    json!({"currentModeId": MODES[0], "availableModes": available})
}

fn send_answer(id: &Value, answer: &Answer) {
    match answer {
        Answer::Stopped { reason, padding: 0 } => wire::respond(id, &json!({"stopReason": reason})),
        Answer::Stopped { reason, padding } => {
            let padding = "x".repeat(*padding);
            wire::respond(id, &json!({"stopReason": reason, "_meta": {"padding": padding}}));
        }
        Answer::Failed { message } => wire::fail(id, -32603, message),
    }
}

/// The text blocks of a prompt.
fn prompt_text(params: &Value) -> String {
    let blocks = params["prompt"].as_array();
    blocks.into_iter().flatten().filter_map(|block| block["text"].as_str()).collect()
}

/// The parts of a script between its `---` lines.
fn sections(script: &str) -> VecDeque<String> {
    let lines: Vec<&str> = script.lines().collect();
    lines.split(|line| *line == "---").map(|section| section.join("\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_has_a_section_for_each_prompt() {
        assert_eq!(sections("say one\nhang\n---\nsay two\n"), ["say one\nhang", "say two"]);
    }

    #[test]
    fn a_prompt_is_its_text_blocks() {
        let params =
            json!({"prompt": [{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]});
        assert_eq!(prompt_text(&params), "ab");
    }
}
