//! What the lines of a prompt tell the fake agent to do.
//!
//! | line | what happens |
//! |---|---|
//! | `say TEXT`, `think TEXT` | a piece of answer, of thought |
//! | `plan ENTRY; ENTRY` | a plan; the first entry is under way |
//! | `tool KIND TITLE` | a whole tool call that is no command |
//! | `run [cwd=DIR] COMMAND => EXIT \| OUTPUT` | plays a whole command; `?` is an unknown exit |
//! | `start COMMAND`, `out [#N] TEXT`, `exit [#N] EXIT` | a command in steps; `#N` counts starts, the newest without it |
//! | `shell COMMAND` | really runs the command in the session's folder |
//! | `big BYTES` | a command with this much output |
//! | `ask COMMAND` | asks leave, says the answer, plays the command if allowed |
//! | `tiny COUNT` | the newest command prints so many lines of ten bytes, each told by itself |
//! | `update JSON` | this `update` object as it stands, whatever it is |
//! | `on-cancel JSON` | `update`, when the turn is cancelled, before the prompt's answer |
//! | `late MS EXIT` | the newest open command ends this long after the prompt's answer |
//! | `later MS JSON` | `update`, this long after the prompt's answer |
//! | `ask-later MS COMMAND` | `ask`, this long after the prompt's answer: outside any turn |
//! | `sleep MS`, `hang` | waits; `hang` until the turn is cancelled |
//! | `stop REASON`, `error MESSAGE` | how the prompt is answered |
//! | `request METHOD` | asks the client, says the answer |
//! | `env NAME`, `mode` | says a variable's value, the session's mode |
//! | `stderr TEXT`, `chatter BYTES` | to stderr |
//! | `garbage`, `invalid-utf8`, `flood N`, `bigline BYTES`, `biganswer BYTES` | what a client has to survive |
//! | `crash [CODE]`, `torn [CODE]` | ends at once; `torn` in the middle of a frame |
//! | `spawn-child`, `spawn-detached` | leaves a `sleep 600` behind, in the group or out of it |
//!
//! `\n`, `\t`, `\r`, `\e` and `\\` in texts and outputs are what they are in C.

use std::time::Duration;

use serde_json::Value;

/// The exit code of a command; `None`: the agent does not tell.
pub type ExitCode = Option<i64>;

/// One line of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above says what each does")]
pub enum Directive {
    Say(String),
    Think(String),
    Plan(Vec<String>),
    Tool { kind: String, title: String },
    Run { cwd: Option<String>, command: String, exit: ExitCode, output: String },
    Start { command: String },
    Out { nth: Option<usize>, text: String },
    Exit { nth: Option<usize>, exit: ExitCode },
    Shell { command: String },
    Big { bytes: usize },
    Ask { command: String },
    Tiny { count: usize },
    Update(Value),
    OnCancel(Value),
    Later { after: Duration, what: After },
    Sleep(Duration),
    Hang,
    Stop { reason: String },
    Error { message: String },
    Request { method: String },
    Env { name: String },
    Mode,
    Stderr(String),
    Chatter { bytes: usize },
    Garbage,
    InvalidUtf8,
    Flood { count: usize },
    BigLine { bytes: usize },
    BigAnswer { bytes: usize },
    Crash { code: i32 },
    Torn { code: i32 },
    SpawnChild,
    SpawnDetached,
}

/// What follows a prompt's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above says what each does")]
pub enum After {
    Exit(ExitCode),
    Update(Value),
    Ask { command: String },
}

/// The directives in a text. Lines that are none are passed over, unless there is no other: then
/// the agent repeats the text. A directive that cannot be read is said, so that a test sees it.
pub fn parse(text: &str) -> Vec<Directive> {
    let directives: Vec<_> = text.lines().filter_map(|line| line_directive(line.trim())).collect();
    if directives.is_empty() {
        return vec![Directive::Say(format!("Fake reply to: {text}"))];
    }
    directives
}

/// `None`: the line does not begin with the name of a directive.
fn line_directive(line: &str) -> Option<Directive> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let known = named(name, rest.trim())?;
    Some(known.unwrap_or_else(|| Directive::Say(format!("fake-agent cannot read: {line}\n"))))
}

/// The outer `None`: no such name; the inner one: not with these arguments.
fn named(name: &str, rest: &str) -> Option<Option<Directive>> {
    let text = || unescape(rest);
    let given = || (!rest.is_empty()).then(|| rest.to_owned());
    let bytes = || rest.parse().ok();
    Some(match name {
        "say" => Some(Directive::Say(text())),
        "think" => Some(Directive::Think(text())),
        "plan" => Some(Directive::Plan(rest.split(';').map(|e| e.trim().to_owned()).collect())),
        "tool" => tool(rest),
        "run" => run(rest),
        "start" => given().map(|command| Directive::Start { command }),
        "out" => numbered(rest).map(|(nth, text)| Directive::Out { nth, text: unescape(text) }),
        "exit" => numbered(rest)
            .and_then(|(nth, code)| Some(Directive::Exit { nth, exit: exit_code(code)? })),
        "shell" => given().map(|command| Directive::Shell { command }),
        "big" => bytes().map(|bytes| Directive::Big { bytes }),
        "ask" => given().map(|command| Directive::Ask { command }),
        "tiny" => bytes().map(|count| Directive::Tiny { count }),
        "update" => serde_json::from_str(rest).ok().map(Directive::Update),
        "on-cancel" => serde_json::from_str(rest).ok().map(Directive::OnCancel),
        "late" => later(rest, |exit| exit_code(exit).map(After::Exit)),
        "later" => later(rest, |json| serde_json::from_str(json).ok().map(After::Update)),
        "ask-later" => later(rest, |command| Some(After::Ask { command: command.to_owned() })),
        "sleep" => millis(rest).map(Directive::Sleep),
        "hang" => Some(Directive::Hang),
        "stop" => given().map(|reason| Directive::Stop { reason }),
        "error" => given().map(|message| Directive::Error { message }),
        "request" => given().map(|method| Directive::Request { method }),
        "mode" => Some(Directive::Mode),
        "env" => given().map(|name| Directive::Env { name }),
        "stderr" => Some(Directive::Stderr(text())),
        "chatter" => bytes().map(|bytes| Directive::Chatter { bytes }),
        "garbage" => Some(Directive::Garbage),
        "invalid-utf8" => Some(Directive::InvalidUtf8),
        "flood" => bytes().map(|count| Directive::Flood { count }),
        "bigline" => bytes().map(|bytes| Directive::BigLine { bytes }),
        "biganswer" => bytes().map(|bytes| Directive::BigAnswer { bytes }),
        "crash" => crash_code(rest).map(|code| Directive::Crash { code }),
        "torn" => crash_code(rest).map(|code| Directive::Torn { code }),
        "spawn-child" => Some(Directive::SpawnChild),
        "spawn-detached" => Some(Directive::SpawnDetached),
        _ => return None,
    })
}

fn tool(rest: &str) -> Option<Directive> {
    let (kind, title) = rest.split_once(char::is_whitespace)?;
    Some(Directive::Tool { kind: kind.to_owned(), title: title.trim().to_owned() })
}

fn run(rest: &str) -> Option<Directive> {
    let (cwd, rest) = match rest.strip_prefix("cwd=") {
        Some(rest) => {
            let (cwd, rest) = rest.split_once(char::is_whitespace)?;
            (Some(cwd.to_owned()), rest.trim())
        }
        None => (None, rest),
    };
    let (command, result) = rest.rsplit_once(" => ").unwrap_or((rest, "0"));
    let (exit, output) = result.split_once('|').unwrap_or((result, ""));
    let command = command.trim().to_owned();
    if command.is_empty() || command.starts_with("=>") {
        return None;
    }
    Some(Directive::Run { cwd, command, exit: exit_code(exit)?, output: unescape(output.trim()) })
}

fn later(rest: &str, what: impl FnOnce(&str) -> Option<After>) -> Option<Directive> {
    let (after, rest) = rest.split_once(char::is_whitespace)?;
    Some(Directive::Later { after: millis(after)?, what: what(rest.trim_start())? })
}

fn crash_code(rest: &str) -> Option<i32> {
    if rest.is_empty() { Some(1) } else { rest.parse().ok() }
}

/// `#2 rest` or `rest`.
fn numbered(rest: &str) -> Option<(Option<usize>, &str)> {
    let Some(numbered) = rest.strip_prefix('#') else { return Some((None, rest)) };
    let (number, rest) = numbered.split_once(char::is_whitespace)?;
    Some((Some(number.parse().ok()?), rest.trim_start()))
}

/// The outer `None`: not a code.
fn exit_code(text: &str) -> Option<ExitCode> {
    match text.trim() {
        "?" => Some(None),
        code => code.parse().ok().map(Some),
    }
}

fn millis(text: &str) -> Option<Duration> {
    text.parse().ok().map(Duration::from_millis)
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('e') => plain.push('\u{1b}'),
            Some('\\') => plain.push('\\'),
            other => plain.extend(std::iter::once('\\').chain(other)),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Directive {
        let mut directives = parse(line);
        assert_eq!(directives.len(), 1, "{line}");
        directives.remove(0)
    }

    #[test]
    fn a_prompt_without_directives_is_repeated() {
        let said = Directive::Say("Fake reply to: please fix\nthe tests".into());
        assert_eq!(parse("please fix\nthe tests"), [said]);
    }

    #[test]
    fn lines_that_are_no_directives_are_passed_over() {
        let directives = parse("do this:\n  say one\\ntwo\n\nhang\n");
        assert_eq!(directives, [Directive::Say("one\ntwo".into()), Directive::Hang]);
    }

    #[test]
    fn a_command_is_read_with_its_end() {
        let run = |cwd: Option<&str>, command: &str, exit, output: &str| Directive::Run {
            cwd: cwd.map(str::to_owned),
            command: command.into(),
            exit,
            output: output.into(),
        };
        assert_eq!(one("run ls"), run(None, "ls", Some(0), ""));
        assert_eq!(
            one("run cwd=/tmp make a | tee b => 4 | one\\ntwo|three\\n"),
            run(Some("/tmp"), "make a | tee b", Some(4), "one\ntwo|three\n")
        );
        assert_eq!(one("run a => b => ? |x"), run(None, "a => b", None, "x"));
    }

    #[test]
    fn steps_of_a_command_may_name_it() {
        assert_eq!(one("out hello"), Directive::Out { nth: None, text: "hello".into() });
        assert_eq!(one("out #2 a\\tb"), Directive::Out { nth: Some(2), text: "a\tb".into() });
        assert_eq!(one("exit #1 137"), Directive::Exit { nth: Some(1), exit: Some(137) });
        assert_eq!(one("exit ?"), Directive::Exit { nth: None, exit: None });
    }

    #[test]
    fn a_directive_that_cannot_be_read_is_said() {
        for line in [
            "sleep well",
            "exit",
            "run => 0",
            "run x => many",
            "late 5",
            "out #x y",
            "big",
            "update {",
            "later 5",
            "later x {}",
            "torn x",
        ] {
            let said = Directive::Say(format!("fake-agent cannot read: {line}\n"));
            assert_eq!(one(line), said);
        }
    }

    #[test]
    fn frames_of_any_shape_can_be_sent() {
        let frame = serde_json::json!({"toolCallId": 7, "x": [null]});
        assert_eq!(one(&format!("update {frame}")), Directive::Update(frame.clone()));
        assert_eq!(one(&format!("on-cancel {frame}")), Directive::OnCancel(frame.clone()));
        let after = Duration::from_millis(5);
        let later = Directive::Later { after, what: After::Update(frame.clone()) };
        assert_eq!(one(&format!("later 5 {frame}")), later);
        let ask = Directive::Later { after, what: After::Ask { command: "rm x".into() } };
        assert_eq!(one("ask-later 5 rm x"), ask);
    }

    #[test]
    fn numbers_are_read() {
        let after = Duration::from_millis(50);
        assert_eq!(one("late 50 1"), Directive::Later { after, what: After::Exit(Some(1)) });
        assert_eq!(one("crash"), Directive::Crash { code: 1 });
        assert_eq!(one("crash 9"), Directive::Crash { code: 9 });
        assert_eq!(one("torn"), Directive::Torn { code: 1 });
        assert_eq!(one("tiny 400"), Directive::Tiny { count: 400 });
        assert_eq!(one("bigline 20971520"), Directive::BigLine { bytes: 20 << 20 });
    }
}
