//! The scenarios of the source document on command output, each played by the agent that it names,
//! by the same agent without a version, and by an agent that nobody knows. All three show the same.

use model::{AgentIdentity, AgentKind, ToolStatus};
use serde_json::{Value, json};
use shell_output::{CancelReason, Dialect, ShellCall};

use crate::support::{exit_code, update};

/// A program as it names itself in `initialize`.
#[derive(Debug, Clone, Copy)]
struct Program {
    name: &'static str,
    version: Option<&'static str>,
    profile: AgentKind,
}

impl Program {
    fn call(self) -> ShellCall {
        let identity = AgentIdentity {
            name: Some(self.name.to_owned()),
            version: self.version.map(str::to_owned),
        };
        let agent = agents::dialect_agent(&identity, self.profile);
        ShellCall::new(Dialect::new(agent, &agents::departures(&identity)))
    }

    fn play(self, frames: &[Value]) -> ShellCall {
        let mut call = self.call();
        for frame in frames {
            let _ = call.apply(&update(frame.clone()));
        }
        call
    }
}

/// The three that play a scenario.
fn three(name: &'static str, version: &'static str, profile: AgentKind) -> [Program; 3] {
    [
        Program { name, version: Some(version), profile },
        Program { name, version: None, profile },
        Program { name: "somebody", version: Some("1.0"), profile: AgentKind::Generic },
    ]
}

fn opencode() -> [Program; 3] {
    three("OpenCode", "1.18.33", AgentKind::OpenCode)
}

fn codex() -> [Program; 3] {
    three("@agentclientprotocol/codex-acp", "2.6.0", AgentKind::Codex)
}

/// One after the other, by every agent that a scenario without a name may be about.
fn all() -> impl Iterator<Item = Program> {
    [
        opencode(),
        codex(),
        three("@agentclientprotocol/claude-agent-acp", "0.101.0", AgentKind::Claude),
        three("auggie", "0.36.0", AgentKind::Auggie),
        three("oh-my-pi", "18.2.0", AgentKind::Omp),
        three("pi-acp", "0.0.34", AgentKind::Pi),
        three("gemini-cli", "0.61.0", AgentKind::Gemini),
        three("Copilot", "1.0.102", AgentKind::Copilot),
        three("qwen-code", "0.24.4", AgentKind::Qwen),
    ]
    .into_iter()
    .flatten()
}

fn run(command: &str) -> Value {
    json!({"kind": "execute", "title": command, "status": "in_progress",
        "rawInput": {"command": command}})
}

fn content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

fn delta(data: &str) -> Value {
    json!({"_meta": {"terminal_output_delta": {"data": data}}})
}

/// What a row shows, and what opens.
fn row(call: &ShellCall) -> (ToolStatus, Option<i64>, Option<&str>) {
    (call.status(), exit_code(call), call.stdout())
}

#[test]
fn s_028_codex_shows_output_while_it_runs_and_each_line_once_at_the_end() {
    let end = json!({"status": "completed",
        "rawOutput": {"formatted_output": "one\ntwo\n", "exit_code": 4}});
    for program in codex() {
        let mut call = program.play(&[run("make"), delta("one\n"), delta("two\n")]);
        assert_eq!(row(&call), (ToolStatus::InProgress, None, Some("one\ntwo\n")), "{program:?}");
        let _ = call.apply(&update(end.clone()));
        assert_eq!(row(&call), (ToolStatus::Error, Some(4), Some("one\ntwo\n")), "{program:?}");
    }
}

#[test]
fn s_028_claudes_terminal_output_and_exit_are_shown_as_they_are() {
    let frames = [
        run("make"),
        json!({"_meta": {"terminal_output": {"data": "hello\n"}}}),
        json!({"status": "failed", "_meta": {"terminal_exit": {"exit_code": 3}}}),
    ];
    for program in three("@agentclientprotocol/claude-agent-acp", "0.101.0", AgentKind::Claude) {
        let call = program.play(&frames);
        assert_eq!(row(&call), (ToolStatus::Error, Some(3), Some("hello\n")), "{program:?}");
    }
}

#[test]
fn s_028_opencodes_cumulative_values_are_not_doubled_and_its_exit_counts_more_than_its_status() {
    let frames = [
        run("make"),
        json!({"content": content("one\n")}),
        json!({"content": content("one\ntwo\n")}),
        json!({"status": "completed", "content": content("one\ntwo\n"),
            "rawOutput": {"output": "one\ntwo\n", "metadata": {"exit": 7}}}),
    ];
    for program in opencode() {
        let call = program.play(&frames);
        assert_eq!(row(&call), (ToolStatus::Error, Some(7), Some("one\ntwo\n")), "{program:?}");
    }
}

#[test]
fn s_028_auggies_tags_are_taken_apart() {
    let text = "<return-code>0</return-code>\n<output>out</output>";
    for raw in [json!(text), json!({"output": text})] {
        for program in three("auggie", "0.36.0", AgentKind::Auggie) {
            let call =
                program.play(&[run("make"), json!({"status": "completed", "rawOutput": raw})]);
            assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some("out")), "{program:?}");
        }
    }
}

#[test]
fn s_028_omps_echo_stands_in_the_row_alone() {
    let frames = [
        run("seq 2"),
        json!({"content": content("$ seq 21\n")}),
        json!({"status": "completed", "content": content("$ seq 21\n2\n"),
            "rawOutput": {"details": {"anything": 1}}}),
    ];
    for program in three("oh-my-pi", "18.2.0", AgentKind::Omp) {
        let call = program.play(&frames);
        assert_eq!(row(&call), (ToolStatus::Complete, None, Some("1\n2\n")), "{program:?}");
        assert_eq!(call.exec().command, "seq 2");
    }
}

#[test]
fn s_028_output_without_an_exit_is_shown_with_an_unknown_one() {
    for program in all() {
        let end = json!({"status": "completed", "content": content("out\n")});
        let call = program.play(&[run("make"), end]);
        assert_eq!(row(&call), (ToolStatus::Complete, None, Some("out\n")), "{program:?}");
    }
}

#[test]
fn s_028_a_command_that_was_cancelled_keeps_its_output_and_has_no_exit() {
    for program in all() {
        let mut call = program.play(&[run("make"), delta("out\n")]);
        let _ = call.cancel(CancelReason::User);
        let _ = call.apply(&update(json!({"status": "failed"})));
        assert_eq!(row(&call), (ToolStatus::Cancelled, None, Some("out\n")), "{program:?}");
    }
}

#[test]
fn s_028_an_end_behind_the_settled_turn_is_taken_over() {
    for program in all() {
        let mut call = program.play(&[run("make"), delta("one\n")]);
        let _ = call.cancel(CancelReason::Sweep);
        assert_eq!(row(&call), (ToolStatus::Cancelled, None, Some("one\n")), "{program:?}");
        let mut end = delta("two\n");
        end["status"] = "failed".into();
        end["_meta"]["terminal_exit"] = json!({"exit_code": 2});
        let _ = call.apply(&update(end));
        assert_eq!(call.status(), ToolStatus::Error, "{program:?}");
        assert_eq!(call.stdout(), Some("one\ntwo\n"), "{program:?}");
        // The flag of some measured versions says no more than that it failed.
        let says_code = !agents::departures(&AgentIdentity {
            name: Some(program.name.to_owned()),
            version: program.version.map(str::to_owned),
        })
        .contains(&model::Departure::ExitFlag);
        assert_eq!(exit_code(&call), says_code.then_some(2), "{program:?}");
    }
}

#[test]
fn s_028_beyond_256_kib_the_newest_text_is_kept_and_said_to_be_cut() {
    let long = format!("{}end\n", "\u{e9}\n".repeat(150_000));
    for program in all() {
        let end = json!({"status": "completed", "content": content(&long)});
        let call = program.play(&[run("make"), end]);
        let stdout = call.stdout().unwrap_or_default();
        assert!(stdout.len() <= 256 * 1024 && stdout.ends_with("\u{e9}\nend\n"), "{program:?}");
        assert!(long.ends_with(stdout), "{program:?}");
        assert!(call.exec().output.is_some_and(|output| output.truncated), "{program:?}");
    }
}
