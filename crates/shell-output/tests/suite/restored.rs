//! Calls that were let go and come back from the store, for what an agent still says about them.

use model::{AgentKind, Departure, ToolStatus, shell::STREAM_LIMIT_BYTES};
use proptest::prelude::*;
use serde_json::{Value, json};
use shell_output::{CancelReason, Dialect, ShellCall, StoredCall};

use crate::support::{BodyStore, exit_code, update};

fn delta(data: &str) -> Value {
    json!({"_meta": {"terminal_output_delta": {"data": data}}})
}

fn content(text: &str) -> Value {
    json!({"content": [{"type": "content", "content": {"type": "text", "text": text}}]})
}

/// The call as it comes back: the same dialect, and what a store has of it.
fn restored(call: &mut ShellCall, dialect: &Dialect, cancelled: Option<CancelReason>) -> ShellCall {
    let _ = call.take_body_changes();
    let stored = StoredCall {
        title: call.title().to_owned(),
        exec: call.exec(),
        status: Some(call.status()),
        cancelled,
        stdout: call.stdout().map(str::to_owned),
        stderr: call.stderr().map(str::to_owned),
    };
    ShellCall::restore(dialect.clone(), stored)
}

fn played(dialect: &Dialect, frames: &[Value]) -> ShellCall {
    let mut call = ShellCall::new(dialect.clone());
    for frame in frames {
        let _ = call.apply(&update(frame.clone()));
    }
    call
}

fn begun() -> Value {
    json!({"title": "ls", "rawInput": {"command": "ls", "cwd": "/d", "description": "lists"}})
}

#[test]
fn s_024_a_call_comes_back_as_it_was_stored() {
    let dialect = Dialect::new(AgentKind::Generic, &[]);
    let end =
        json!({"status": "failed", "rawOutput": {"stdout": "o", "stderr": "e", "exit_code": 4}});
    let mut call = played(&dialect, &[begun(), end]);
    let mut back = restored(&mut call, &dialect, None);
    assert_eq!(back.exec(), call.exec());
    assert_eq!((back.status(), back.title()), (ToolStatus::Error, "ls"));
    assert_eq!((back.stdout(), back.stderr()), (Some("o"), Some("e")));
    assert_eq!(back.take_body_changes(), []);
}

#[test]
fn s_024_what_follows_is_added_to_what_is_stored() {
    let dialect = Dialect::new(AgentKind::Codex, &[]);
    let mut call = played(&dialect, &[begun(), delta("one\n")]);
    let mut store = BodyStore::default();
    store.take(call.clone().take_body_changes());
    let mut back = restored(&mut call, &dialect, Some(CancelReason::Sweep));
    let _ = back.apply(&update(delta("two\n")));
    store.follow(&mut back);
    assert_eq!(store.stdout(), "one\ntwo\n");
}

#[test]
fn s_009_an_echo_that_comes_after_nothing_was_stored_is_no_output() {
    let dialect = Dialect::new(AgentKind::Generic, &[]);
    let mut call = played(&dialect, &[begun(), content("$ ls\n")]);
    assert_eq!(call.stdout(), Some(""));
    let mut back = restored(&mut call, &dialect, Some(CancelReason::Sweep));
    let mut end = content("$ ls\nout\n");
    end["status"] = "completed".into();
    let _ = back.apply(&update(end));
    assert_eq!((back.status(), back.stdout()), (ToolStatus::Complete, Some("out\n")));
}

#[test]
fn s_018_omps_line_on_the_exit_counts_only_for_a_command_that_failed() {
    let dialect = Dialect::new(AgentKind::Omp, &[Departure::ClosingLines]);
    let text = "a\n\nCommand exited with code 4";
    let end = |status: &str| {
        let mut end = content(text);
        end["status"] = status.into();
        played(&dialect, &[begun(), end])
    };
    let failed = end("failed");
    assert_eq!((failed.stdout(), exit_code(&failed)), (Some("a"), Some(4)));
    let printed = end("completed");
    assert_eq!((printed.stdout(), exit_code(&printed)), (Some(text), None));
}

#[test]
fn s_025_a_sweep_stays_provisional_in_the_store_and_a_users_cancel_does_not() {
    let dialect = Dialect::new(AgentKind::Generic, &[]);
    for (reason, without_code, with_code) in [
        (CancelReason::Sweep, ToolStatus::Complete, ToolStatus::Error),
        (CancelReason::User, ToolStatus::Cancelled, ToolStatus::Error),
    ] {
        let mut call = played(&dialect, &[begun()]);
        let _ = call.cancel(reason);
        let mut back = restored(&mut call, &dialect, Some(reason));
        assert_eq!(back.status(), ToolStatus::Cancelled);
        let _ = back.apply(&update(delta("x")));
        assert_eq!(back.status(), ToolStatus::Cancelled, "output changes no status");
        let _ = back.apply(&update(json!({"status": "completed"})));
        assert_eq!(back.status(), without_code);
        let _ = back.apply(&update(json!({"_meta": {"terminal_exit": {"exit_code": 4}}})));
        assert_eq!((back.status(), exit_code(&back)), (with_code, Some(4)));
    }
}

#[test]
fn s_022_an_agents_own_cancelled_with_a_code_stays_cancelled() {
    let dialect = Dialect::new(AgentKind::Generic, &[]);
    let end = json!({"status": "cancelled", "rawOutput": {"exit_code": 130}});
    let mut call = played(&dialect, &[begun(), end]);
    let back = restored(&mut call, &dialect, Some(CancelReason::User));
    assert_eq!((back.status(), exit_code(&back)), (ToolStatus::Cancelled, Some(130)));
}

#[test]
fn s_009_an_echo_that_was_removed_once_is_not_looked_for_again() {
    let dialect = Dialect::new(AgentKind::Omp, &[]);
    let mut call = played(&dialect, &[begun(), content("$ ls\n$ ls\n")]);
    assert_eq!(call.stdout(), Some("$ ls\n"));
    let mut back = restored(&mut call, &dialect, Some(CancelReason::Sweep));
    assert_eq!(back.stdout(), Some("$ ls\n"));
    let _ = back.apply(&update(delta("a\n")));
    assert_eq!(back.stdout(), Some("$ ls\na\n"));
    let _ = back.apply(&update(content("$ ls\nb\n")));
    assert_eq!(back.stdout(), Some("b\n"), "a new text has its own echo");
}

#[test]
fn s_013_a_flag_that_comes_late_does_not_hide_a_code_that_is_stored() {
    let departures = [Departure::ExitFlag, Departure::ExitCodePrefix];
    let dialect = Dialect::new(AgentKind::Claude, &departures);
    let text =
        json!({"status": "failed", "_meta": {"terminal_output": {"data": "Exit code 4\nx"}}});
    let mut call = played(&dialect, &[begun(), text]);
    let mut back = restored(&mut call, &dialect, None);
    let _ = back.apply(&update(json!({"_meta": {"terminal_exit": {"exit_code": 1}}})));
    assert_eq!((exit_code(&back), back.stdout()), (Some(4), Some("x")));
}

#[test]
fn s_015_what_was_cut_stays_cut_until_another_text_takes_its_place() {
    let dialect = Dialect::new(AgentKind::Codex, &[]);
    let long = "0123456789\n".repeat(STREAM_LIMIT_BYTES / 8);
    let mut call = played(&dialect, &[begun(), delta(&long)]);
    let mut back = restored(&mut call, &dialect, Some(CancelReason::Sweep));
    let _ = back.apply(&update(delta("end")));
    assert!(back.exec().output.is_some_and(|output| output.truncated));
    assert!(back.stdout().is_some_and(|text| text.len() <= STREAM_LIMIT_BYTES));
    let end = json!({"status": "completed", "rawOutput": {"formatted_output": "short"}});
    let _ = back.apply(&update(end));
    assert!(back.exec().output.is_some_and(|output| !output.truncated));
}

proptest! {
    #[test]
    fn s_024_a_store_follows_a_call_however_often_it_is_let_go(
        chunks in prop::collection::vec(("[a-z\u{e9}\n]{0,9}", any::<bool>()), 1..9),
        size in prop::sample::select(vec![1_usize, 1 << 13])
    ) {
        let dialect = Dialect::new(AgentKind::Codex, &[]);
        let mut call = played(&dialect, &[begun()]);
        let mut store = BodyStore::default();
        let mut whole = String::new();
        for (chunk, is_let_go) in chunks {
            let chunk = chunk.repeat(size);
            let _ = call.apply(&update(delta(&chunk)));
            whole.push_str(&chunk);
            store.follow(&mut call);
            if is_let_go {
                call = restored(&mut call, &dialect, None);
            }
            let newest = whole.ceil_char_boundary(whole.len().saturating_sub(STREAM_LIMIT_BYTES));
            prop_assert_eq!(store.stdout(), &whole[newest..]);
        }
    }
}
