//! Pi: what its chunks, its flag, its closing lines and its windows come to.

use model::{AgentKind, Departure, ToolStatus, shell::STREAM_LIMIT_BYTES};
use serde_json::{Value, json};
use shell_output::{CancelReason, Dialect, ShellCall, StoredCall};

use crate::{
    recordings::{by_the_letter, check},
    support::{after, exit_code, recordings, update},
};

fn run(command: &str) -> Value {
    json!({"kind": "execute", "status": "in_progress", "title": command})
}

fn chunk(data: &str) -> Value {
    json!({"status": "in_progress", "_meta": {"terminal_output": {"data": data}}})
}

/// The last frame of a command, with or without a chunk.
fn end(failed: bool, data: &str) -> Value {
    let mut frame = if data.is_empty() { json!({"_meta": {}}) } else { chunk(data) };
    frame["status"] = if failed { "failed" } else { "completed" }.into();
    frame["_meta"]["terminal_exit"] = json!({"exit_code": u8::from(failed), "signal": null});
    frame
}

/// The measured program.
fn measured() -> Dialect {
    use Departure::{ClosingLines, ExitFlag, MovingWindow, NoOutputWord};
    Dialect::new(AgentKind::Pi, &[ClosingLines, ExitFlag, MovingWindow, NoOutputWord])
}

fn played(frames: impl IntoIterator<Item = Value>) -> ShellCall {
    let mut call = ShellCall::new(measured());
    for frame in frames {
        let _ = call.apply(&update(frame));
    }
    call
}

fn row(call: &ShellCall) -> (ToolStatus, Option<i64>, Option<&str>) {
    (call.status(), exit_code(call), call.stdout())
}

fn is_truncated(call: &ShellCall) -> bool {
    call.exec().output.is_some_and(|output| output.truncated)
}

fn lines(from: usize, to: usize) -> String {
    (from..=to).map(|line| format!("line {line}\n")).collect()
}

/// The last 2000 of so many lines, as Pi sends them.
fn window(to: usize) -> String {
    lines(to - 1_999, to).trim_end().to_owned()
}

fn note(to: usize) -> String {
    format!("\n\n[Showing lines {}-{to} of {to}. Full output: /tmp/pi-bash-1.log]", to - 1_999)
}

#[test]
fn g_001_pis_flag_and_closing_line_are_code_and_output_without_a_version() {
    for recording in ["pi/exit4.jsonl", "pi/exit4.term.jsonl"] {
        check(&recordings().join(recording));
        let letter = by_the_letter(AgentKind::Pi, recording);
        let text = "one\ntwo\n\n\nCommand exited with code 4".to_owned();
        assert_eq!(letter, (ToolStatus::Error, Some(1), text));
    }
}

#[test]
fn g_001_pis_word_for_no_output_is_output_without_a_version() {
    check(&recordings().join("pi/silent.jsonl"));
    let letter = by_the_letter(AgentKind::Pi, "pi/silent.jsonl");
    assert_eq!(letter, (ToolStatus::Complete, Some(0), "(no output)".into()));
}

#[test]
fn g_001_pis_windows_are_chunks_without_a_version() {
    check(&recordings().join("pi/big.jsonl"));
    let (status, code, stdout) = by_the_letter(AgentKind::Pi, "pi/big.jsonl");
    assert_eq!((status, code), (ToolStatus::Complete, Some(0)));
    assert!(stdout.contains("line 002521 of bline 018032 of big output\n"));
    assert!(stdout.ends_with("/pi-bash-6be8414da9454f35.log]"));
}

#[test]
fn s_003_pis_title_is_the_command_as_far_as_it_is_written() {
    let call = |titles: &[&str]| {
        let frames = titles.iter().map(|title| run(title));
        after(AgentKind::Pi, frames).exec().command
    };
    assert_eq!(call(&["bash"]), "");
    assert_eq!(call(&["bash", "printf 'o", "printf 'one'"]), "printf 'one'");
    let other = after(AgentKind::Generic, [run("Lists the files")]);
    assert_eq!(other.exec().command, "");
}

#[test]
fn s_003_a_command_in_the_input_comes_before_the_title() {
    let frame = json!({"kind": "execute", "title": "Run it", "rawInput": {"command": "ls"}});
    assert_eq!(after(AgentKind::Pi, [frame]).exec().command, "ls");
}

#[test]
fn s_005_pis_chunks_append_with_a_version_and_without() {
    let frames = || [run("yes"), chunk("a\n"), chunk("a\n"), chunk("a\na\nb\n")];
    assert_eq!(played(frames()).stdout(), Some("a\na\na\na\nb\n"));
    assert_eq!(after(AgentKind::Pi, frames()).stdout(), Some("a\na\na\na\nb\n"));
}

#[test]
fn s_005_windows_that_overlap_are_put_together() {
    let mut call = played([run("seq"), chunk(&lines(1, 1_990)), chunk(&lines(1_991, 2_000))]);
    for to in [2_001, 2_300, 4_299] {
        let _ = call.apply(&update(chunk(&window(to))));
    }
    assert_eq!((call.stdout(), is_truncated(&call)), (Some(lines(1, 4_299).trim_end()), false));
    let _ = call.apply(&update(end(false, &note(4_299))));
    assert_eq!(call.stdout(), Some(lines(1, 4_299).trim_end()));
    assert!(!is_truncated(&call), "nothing is missing, whatever the note says");
}

#[test]
fn s_005_a_gap_between_windows_is_told_and_costs_nothing_that_was_sent() {
    let call = played([run("seq"), chunk(&(lines(1, 2_000) + "line")), chunk(&window(9_000))]);
    let expected = lines(1, 2_000) + "line\n" + &window(9_000);
    assert_eq!((call.stdout(), is_truncated(&call)), (Some(&*expected), true));
}

#[test]
fn s_005_a_begin_that_was_never_sent_is_told_by_the_note() {
    let mut call = played([run("seq"), chunk(&window(9_000))]);
    assert_eq!((call.stdout(), is_truncated(&call)), (Some(&*window(9_000)), false));
    let text = note(9_000) + "\n\nCommand exited with code 2";
    let _ = call.apply(&update(end(true, &text)));
    assert_eq!(row(&call), (ToolStatus::Error, Some(2), Some(&*window(9_000))));
    assert!(is_truncated(&call));
}

#[test]
fn s_005_a_window_follows_what_the_store_has() {
    let mut call = played([run("seq"), chunk(&lines(1, 2_000))]);
    let _ = call.take_body_changes();
    let mut back = ShellCall::restore(
        measured(),
        StoredCall {
            title: "seq".into(),
            exec: call.exec(),
            status: Some(ToolStatus::Cancelled),
            cancelled: Some(CancelReason::Sweep),
            stdout: call.stdout().map(str::to_owned),
            stderr: None,
        },
    );
    let _ = back.apply(&update(chunk(&window(2_100))));
    let _ = back.apply(&update(end(true, &(note(2_100) + "\n\nCommand exited with code 2"))));
    assert_eq!(row(&back), (ToolStatus::Error, Some(2), Some(lines(1, 2_100).trim_end())));
    assert!(!is_truncated(&back));
}

#[test]
fn s_015_pis_output_beyond_the_limit_keeps_its_newest_end() {
    let chunks = (0..9).map(|_| chunk(&"a".repeat(STREAM_LIMIT_BYTES / 8)));
    for call in [
        played([run("seq")].into_iter().chain(chunks.clone())),
        after(AgentKind::Pi, [run("seq")].into_iter().chain(chunks)),
    ] {
        assert_eq!(call.stdout().map(str::len), Some(STREAM_LIMIT_BYTES));
        assert!(is_truncated(&call));
    }
}

#[test]
fn s_013_pis_closing_line_states_the_code() {
    let frames = [run("exit 137"), end(true, "(no output)\n\nCommand exited with code 137")];
    assert_eq!(row(&played(frames)), (ToolStatus::Error, Some(137), Some("")));
    let frames = [run("x"), chunk("a\n"), end(true, "\n\nCommand timed out after 2.5 seconds")];
    assert_eq!(row(&played(frames)), (ToolStatus::Error, None, Some("a\n")));
    let frames = [run("x"), end(true, "Command aborted")];
    assert_eq!(row(&played(frames)), (ToolStatus::Error, None, Some("")));
}

#[test]
fn s_018_pis_closing_line_is_taken_once_and_only_from_a_failed_command() {
    let line = "\n\nCommand exited with code 3";
    let twice = [run("x"), chunk(&format!("a{line}")), end(true, "\n\nCommand exited with code 4")];
    let expected = format!("a{line}");
    assert_eq!(row(&played(twice)), (ToolStatus::Error, Some(4), Some(&*expected)));
    let other = [run("x"), chunk("a\n\nCommand aborted"), end(true, line)];
    assert_eq!(row(&played(other)), (ToolStatus::Error, Some(3), Some("a\n\nCommand aborted")));
    let success = [run("x"), chunk(&expected), end(false, "")];
    assert_eq!(row(&played(success)), (ToolStatus::Complete, Some(0), Some(&*expected)));
    let running = played([run("x"), chunk(&expected)]);
    assert_eq!(running.stdout(), Some(&*expected));
}

#[test]
fn s_018_what_is_only_like_pis_words_stays() {
    for text in [
        "a\n\nCommand exited with code four",
        "a\nCommand exited with code 4",
        "a\n\nCommand exited with code 4\n",
        "a\n\nCommand timed out after a while",
        "a\n\n[Showing lines 1-2 of 9. Full output: /tmp/x]",
        "a\n\n[Showing lines of code]",
        "a\n\n[Showing lines 8-9 of 9]",
        "(no output)\n",
        "a\n(no output)",
    ] {
        let call = played([run("x"), end(true, text)]);
        assert_eq!(row(&call), (ToolStatus::Error, None, Some(text)), "{text:?}");
    }
}

#[test]
fn s_018_pis_words_are_text_to_an_agent_that_nobody_knows() {
    let text = "(no output)\n\nCommand exited with code 4";
    let call = after(AgentKind::Generic, [run("x"), end(true, text)]);
    assert_eq!(row(&call), (ToolStatus::Error, Some(1), Some(text)));
}

#[test]
fn s_022_a_person_who_cancels_pi_sees_it_cancelled() {
    let mut call = played([run("sleep 60"), chunk("started\n")]);
    let _ = call.cancel(CancelReason::User);
    let _ = call.apply(&update(end(true, "\n\nCommand aborted")));
    assert_eq!(row(&call), (ToolStatus::Cancelled, None, Some("started\n")));
}
