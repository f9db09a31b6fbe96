//! One prompt: its directives, played in order.

use std::{
    process,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    dialect::Dialect,
    directive::{After, Directive, ExitCode},
    shell,
    signals::{Cancelled, Signals},
    tool::{Call, Tools},
    wire,
};

/// Between two lines of `tiny`.
const TINY_PAUSE: Duration = Duration::from_millis(2);

/// More pieces than this a command's output is not sent in.
const MAX_PIECES: usize = 16;

/// A session that prompts are played in.
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) cwd: String,
    pub(crate) dialect: Dialect,
    pub(crate) tools: Mutex<Tools>,
    /// How much it may do unasked.
    pub(crate) mode: Mutex<String>,
    pub(crate) signals: Arc<Signals>,
}

/// How a prompt is answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With this stop reason, and this much padding in bytes.
    Stopped { reason: String, padding: usize },
    /// With an error.
    Failed { message: String },
}

/// What is to be done when the directives are over.
#[derive(Debug, Default)]
pub(crate) struct Afterwards {
    /// Behind the prompt's answer.
    later: Vec<(Duration, After)>,
    /// Before it, if the turn is cancelled.
    on_cancel: Vec<Value>,
}

/// Ends the turn before its last directive.
enum Ending {
    Cancelled,
    Answered(Answer),
}

impl From<Cancelled> for Ending {
    fn from(Cancelled: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl Session {
    /// Changes how much it may do unasked.
    pub(crate) fn set_mode(&self, mode: &str) {
        mode.clone_into(&mut self.lock_mode());
    }

    fn lock_mode(&self) -> MutexGuard<'_, String> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Plays the directives; the answer, and what is to be done when it is sent.
    pub(crate) fn play(&self, directives: &[Directive]) -> (Answer, Afterwards) {
        let mut afterwards = Afterwards::default();
        let played = directives.iter().try_for_each(|next| self.step(next, &mut afterwards));
        let answer = match played {
            Ok(()) => Answer::Stopped { reason: "end_turn".into(), padding: 0 },
            Err(Ending::Cancelled) => {
                self.updates(std::mem::take(&mut afterwards.on_cancel));
                Answer::Stopped { reason: "cancelled".into(), padding: 0 }
            }
            Err(Ending::Answered(answer)) => answer,
        };
        (answer, afterwards)
    }

    /// Does what was to follow the prompt's answer.
    pub(crate) fn finish(&self, afterwards: &Afterwards) {
        for (after, what) in &afterwards.later {
            // Deliberately late: the next turn may have begun.
            std::thread::sleep(*after);
            match what {
                After::Exit(exit) => {
                    let frames = self.tools().close(None, *exit);
                    self.updates(frames);
                }
                After::Update(update) => self.updates([update.clone()]),
                // A cancel ends the waiting, and there is no turn to be ended.
                After::Ask { command } => drop(self.ask(command)),
            }
        }
    }

    /// Sends what was said in this session before, as the client asked.
    pub(crate) fn replay(&self, updates: Vec<Value>) {
        self.updates(updates);
    }

    fn step(&self, directive: &Directive, afterwards: &mut Afterwards) -> Result<(), Ending> {
        match directive {
            Directive::Say(text) => self.chunk("agent_message_chunk", text),
            Directive::Think(text) => self.chunk("agent_thought_chunk", text),
            Directive::Plan(entries) => self.plan(entries),
            Directive::Tool { kind, title } => self.tool(kind, title),
            Directive::Run { cwd, command, exit, output } => {
                self.run(cwd.as_deref().unwrap_or(&self.cwd), command, *exit, output);
            }
            Directive::Start { command } => self.start(command),
            Directive::Out { nth, text } => {
                let frame = self.tools().print(*nth, text);
                self.updates(frame);
            }
            Directive::Exit { nth, exit } => {
                let frames = self.tools().close(*nth, *exit);
                self.updates(frames);
            }
            Directive::Shell { command } => self.shell(command)?,
            Directive::Big { bytes } => self.big(*bytes),
            Directive::Ask { command } => self.ask(command)?,
            Directive::Tiny { count } => self.tiny(*count)?,
            Directive::Update(update) => self.updates([update.clone()]),
            Directive::OnCancel(update) => afterwards.on_cancel.push(update.clone()),
            Directive::Later { after, what } => self.later(*after, what, afterwards),
            Directive::Sleep(time) => self.signals.sleep(*time)?,
            Directive::Hang => return Err(self.signals.hang().into()),
            Directive::Stop { reason } => return Err(stopped(reason, 0)),
            Directive::BigAnswer { bytes } => return Err(stopped("end_turn", *bytes)),
            Directive::Error { message } => {
                return Err(Ending::Answered(Answer::Failed { message: message.clone() }));
            }
            Directive::Request { method } => self.request_and_say(method)?,
            Directive::Env { name } => {
                let value = std::env::var(name).unwrap_or_else(|_| "(not set)".into());
                self.chunk("agent_message_chunk", &format!("{name}={value}"));
            }
            Directive::Mode => {
                let mode = self.lock_mode().clone();
                self.chunk("agent_message_chunk", &format!("Mode: {mode}\n"));
            }
            Directive::SpawnChild => self.leave_behind(false),
            Directive::SpawnDetached => self.leave_behind(true),
            Directive::Flood { count } => self.flood(*count),
            Directive::Stderr(text) => wire::complain(&format!("{text}\n")),
            Directive::Chatter { bytes } => chatter(*bytes),
            Directive::Garbage => self.garbage(),
            Directive::InvalidUtf8 => self.invalid_utf8(),
            Directive::BigLine { bytes } => {
                self.chunk("agent_message_chunk", &"x".repeat(*bytes));
            }
            Directive::Crash { code } => process::exit(*code),
            Directive::Torn { code } => self.torn(*code),
        }
        Ok(())
    }

    fn run(&self, cwd: &str, command: &str, exit: ExitCode, output: &str) {
        let call = self.tools().create(command, cwd);
        self.open(call);
        self.print_and_close(exit, output);
    }

    fn open(&self, call: Call) {
        let frames = self.tools().open(call);
        self.updates(frames);
    }

    fn print_and_close(&self, exit: ExitCode, output: &str) {
        for piece in pieces(output) {
            let frame = self.tools().print(None, &piece);
            self.updates(frame);
        }
        let frames = self.tools().close(None, exit);
        self.updates(frames);
    }

    fn start(&self, command: &str) {
        let call = self.tools().create(command, &self.cwd);
        self.open(call);
    }

    fn shell(&self, command: &str) -> Result<(), Ending> {
        self.start(command);
        let exit = shell::run(command, &self.cwd, &self.signals, |text| {
            let frame = self.tools().print(None, text);
            self.updates(frame);
        })?;
        let frames = self.tools().close(None, Some(exit));
        self.updates(frames);
        Ok(())
    }

    fn big(&self, bytes: usize) {
        let line = "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789abc\n";
        let output: String = line.chars().cycle().take(bytes).collect();
        self.run(&self.cwd, &format!("big {bytes}"), Some(0), &output);
    }

    fn ask(&self, command: &str) -> Result<(), Ending> {
        let frames = self.dialect.frames();
        let call = self.tools().create(command, &self.cwd);
        let options = frames
            .options()
            .map(|(id, name, kind)| json!({"optionId": id, "name": name, "kind": kind}));
        let params =
            json!({"sessionId": self.id, "toolCall": frames.ask(&call), "options": options});
        if !frames.asks_first() {
            self.open(call.clone());
        }
        let answer = self.request("session/request_permission", &params)?;
        if frames.asks_first() {
            self.open(call);
        }
        let chosen = answer.pointer("/result/outcome/optionId").and_then(Value::as_str);
        let option = frames.options().into_iter().find(|(id, ..)| Some(*id) == chosen);
        let kind = option.map_or("cancelled", |(_, _, kind)| kind);
        self.chunk("agent_message_chunk", &format!("Permission: {kind}\n"));
        if kind.starts_with("allow") {
            self.print_and_close(Some(0), &format!("ran {command}\n"));
        } else {
            let denied = self.tools().deny();
            self.updates(denied);
        }
        Ok(())
    }

    fn later(&self, after: Duration, what: &After, afterwards: &mut Afterwards) {
        if matches!(what, After::Exit(_)) && !self.tools().has_open() {
            self.start("late");
        }
        afterwards.later.push((after, what.clone()));
    }

    fn tiny(&self, count: usize) -> Result<(), Cancelled> {
        for number in 0..count {
            let frame = self.tools().print(None, &format!("tick {number:04}\n"));
            self.updates(frame);
            self.signals.sleep(TINY_PAUSE)?;
        }
        Ok(())
    }

    fn torn(&self, code: i32) -> ! {
        let frame = self.update(&message("agent_message_chunk", "never whole")).to_string();
        wire::send_torn(&frame.as_bytes()[..frame.len() / 2]);
        process::exit(code)
    }

    fn tool(&self, kind: &str, title: &str) {
        let call = self.tools().create(title, &self.cwd);
        self.updates([
            json!({"sessionUpdate": "tool_call", "toolCallId": call.id, "title": title,
                "kind": kind, "status": "in_progress", "locations": [{"path": title}]}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": call.id,
                "status": "completed"}),
        ]);
    }

    fn plan(&self, entries: &[String]) {
        let entry = |(at, content): (usize, &String)| {
            let status = if at == 0 { "in_progress" } else { "pending" };
            json!({"content": content, "status": status, "priority": "medium"})
        };
        let entries: Vec<_> = entries.iter().enumerate().map(entry).collect();
        self.updates([json!({"sessionUpdate": "plan", "entries": entries})]);
    }

    fn request_and_say(&self, method: &str) -> Result<(), Ending> {
        let answer = self.request(method, &json!({"sessionId": self.id}))?;
        let said = match answer.pointer("/error/code") {
            Some(code) => format!("{method} -> error {code}"),
            None => format!("{method} -> {}", answer["result"]),
        };
        self.chunk("agent_message_chunk", &said);
        Ok(())
    }

    fn request(&self, method: &str, params: &Value) -> Result<Value, Cancelled> {
        let id = self.signals.next_id();
        wire::send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.signals.wait_answer(id)
    }

    fn leave_behind(&self, detached: bool) {
        let said = match shell::leave_behind(detached) {
            Ok(pid) => format!("pid {pid}"),
            Err(err) => format!("cannot spawn: {err}"),
        };
        self.chunk("agent_message_chunk", &said);
    }

    fn flood(&self, count: usize) {
        for number in 1..=count {
            self.chunk("agent_message_chunk", &format!("{number}\n"));
        }
    }

    fn invalid_utf8(&self) {
        let line = self.update(&message("agent_message_chunk", "before-HERE-after")).to_string();
        let (head, tail) = line.split_once("HERE").unwrap_or((&line, ""));
        wire::send_raw(&[head.as_bytes(), b"\xff\xc3", tail.as_bytes()].concat());
    }

    /// Lines that are no frames, and frames that are not what they should be.
    fn garbage(&self) {
        for line in [
            "npm WARN deprecated something@1.0.0",
            "{\"jsonrpc\":\"2.0\",\"method\":\"session/upd",
            "{}",
            "[]",
            "null",
            "\u{1b}[31mred\u{1b}[0m",
            "",
            "{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\"}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":[]}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"_fake/unknown\",\"params\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}",
        ] {
            wire::send_raw(line.as_bytes());
        }
        self.updates([
            json!({"sessionUpdate": "from_the_future", "x": 1}),
            json!({"sessionUpdate": "tool_call", "title": 5}),
            json!({"sessionUpdate": "agent_message_chunk", "content": 5}),
        ]);
    }

    fn chunk(&self, kind: &str, text: &str) {
        self.updates([message(kind, text)]);
    }

    fn updates(&self, updates: impl IntoIterator<Item = Value>) {
        for update in updates {
            wire::send(&self.update(&update));
        }
    }

    fn update(&self, update: &Value) -> Value {
        json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": self.id, "update": update}})
    }

    fn tools(&self) -> MutexGuard<'_, Tools> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn message(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn stopped(reason: &str, padding: usize) -> Ending {
    Ending::Answered(Answer::Stopped { reason: reason.to_owned(), padding })
}

/// A text in at most [`MAX_PIECES`] pieces, at the ends of lines.
fn pieces(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.chunks(lines.len().div_ceil(MAX_PIECES).max(1)).map(<[&str]>::concat).collect()
}

fn chatter(bytes: usize) {
    let line = format!("{}\n", "chatter ".repeat(16));
    for _ in 0..bytes.div_ceil(line.len()) {
        wire::complain(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_comes_in_few_pieces_and_whole() {
        for lines in [0, 1, 15, 16, 17, 1000] {
            let text = "line\n".repeat(lines) + "rest";
            let pieces = pieces(&text);
            assert!(pieces.len() <= MAX_PIECES, "{lines} lines: {} pieces", pieces.len());
            assert_eq!(pieces.concat(), text);
        }
        assert!(pieces("").is_empty());
    }
}
