//! What the requirements say about output, played by known agents and by one that nobody knows.

use model::{AgentKind, ToolStatus, shell::STREAM_LIMIT_BYTES};
use serde_json::{Value, json};
use shell_output::{FrameOrigin, ShellCall, ToolFrame};

use crate::support::{after, call, exit_code, update};

const LIMIT: usize = STREAM_LIMIT_BYTES;

fn run(command: &str) -> Value {
    json!({"kind": "execute", "status": "in_progress", "rawInput": {"command": command}})
}

fn text(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

fn delta(data: &str) -> Value {
    json!({"_meta": {"terminal_output_delta": {"data": data}}})
}

fn terminal(data: &str) -> Value {
    json!({"_meta": {"terminal_output": {"data": data}}})
}

/// Status, exit code, stdout: what a row shows.
fn row(call: &ShellCall) -> (ToolStatus, Option<i64>, Option<&str>) {
    (call.status(), exit_code(call), call.stdout())
}

#[test]
fn s_005_s_028_codex_deltas_then_one_final_text() {
    for agent in [AgentKind::Codex, AgentKind::Generic] {
        let mut call = after(agent, [run("make"), delta("one\n"), delta("two\n")]);
        assert_eq!(row(&call), (ToolStatus::InProgress, None, Some("one\ntwo\n")));
        let _ = call.apply(&update(json!({
            "status": "completed",
            "rawOutput": {"formatted_output": "one\ntwo\nthree\n", "exit_code": 4}
        })));
        assert_eq!(
            row(&call),
            (ToolStatus::Error, Some(4), Some("one\ntwo\nthree\n")),
            "{agent:?}"
        );
    }
}

#[test]
fn s_006_s_028_claude_terminal_output_then_terminal_exit() {
    for agent in [AgentKind::Claude, AgentKind::Generic] {
        let exit = json!({"_meta": {"terminal_exit": {"exit_code": 3, "signal": null}}});
        let call = after(agent, [run("make"), terminal("hello\n"), exit]);
        assert_eq!(row(&call), (ToolStatus::Error, Some(3), Some("hello\n")), "{agent:?}");
    }
}

#[test]
fn s_007_s_028_opencode_cumulative_content_then_metadata_exit() {
    for agent in [AgentKind::OpenCode, AgentKind::Generic] {
        let live = ["a\n", "a\nb\n"].map(|so_far| json!({"content": text(so_far)}));
        let end = json!({
            "status": "completed", "content": text("a\nb\n"),
            "rawOutput": {"output": "a\nb\n", "metadata": {"exit": 7}}
        });
        let [first, second] = live;
        let call = after(agent, [run("make"), first, second, end]);
        assert_eq!(row(&call), (ToolStatus::Error, Some(7), Some("a\nb\n")), "{agent:?}");
    }
}

#[test]
fn s_008_s_028_auggie_tags() {
    for agent in [AgentKind::Auggie, AgentKind::Generic] {
        let tags = "<return-code>0</return-code><output>out</output><stderr>err</stderr>";
        for raw in [json!({"output": tags}), json!(tags)] {
            let call =
                after(agent, [run("make"), json!({"status": "completed", "rawOutput": raw})]);
            assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some("out")), "{agent:?}");
            assert_eq!(call.stderr(), Some("err"));
        }
        let only_code = json!({"status": "completed", "rawOutput": "<return-code>1</return-code>"});
        let call = after(agent, [run("make"), only_code]);
        assert_eq!(row(&call), (ToolStatus::Error, Some(1), None));
    }
}

#[test]
fn s_008_tags_in_another_agents_output_are_output() {
    let tags = "<return-code>3</return-code><output>out</output>";
    let end =
        json!({"status": "completed", "rawOutput": {"output": tags, "metadata": {"exit": 0}}});
    let call = after(AgentKind::OpenCode, [run("cat log"), end]);
    assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some(tags)));
}

#[test]
fn s_009_s_028_an_echo_glued_to_output_stands_only_in_the_row() {
    for agent in [AgentKind::Omp, AgentKind::Generic] {
        let end = json!({
            "status": "completed", "content": text("$ cat a.txt=== marker ===\nrest\n"),
            "rawOutput": {"details": {"wallTimeMs": 3}, "metadata": {"exit": 0}}
        });
        let call = after(agent, [run("cat a.txt"), end]);
        let expected = (ToolStatus::Complete, Some(0), Some("=== marker ===\nrest\n"));
        assert_eq!(row(&call), expected, "{agent:?}");
        assert_eq!(call.exec().command, "cat a.txt");
    }
}

#[test]
fn s_009_an_echo_is_removed_from_live_and_final_text_exactly_once() {
    let mut call = after(AgentKind::Generic, [run("tail -f log"), delta("$ tail")]);
    assert_eq!(call.stdout(), Some(""), "a partial echo is not shown");
    let _ = call.apply(&update(delta(" -f log\nfirst\n")));
    assert_eq!(call.stdout(), Some("first\n"));
    let raw = json!({"status": "completed", "rawOutput": "$ tail -f log\n$ tail -f log\nlast\n"});
    let _ = call.apply(&update(raw));
    assert_eq!(call.stdout(), Some("$ tail -f log\nlast\n"));
}

#[test]
fn s_009_what_only_began_like_an_echo_is_shown_at_the_end() {
    let call =
        after(AgentKind::Generic, [run("ls -la"), delta("$ ls"), json!({"status": "completed"})]);
    assert_eq!(call.stdout(), Some("$ ls"));
}

#[test]
fn s_009_output_of_an_agent_without_echoes_is_left_alone() {
    for agent in [AgentKind::OpenCode, AgentKind::Codex, AgentKind::Claude] {
        let call = after(agent, [run("ls"), delta("$ ls\n")]);
        assert_eq!(call.stdout(), Some("$ ls\n"), "{agent:?}");
    }
}

#[test]
fn s_013_output_without_an_exit_status_has_an_unknown_one() {
    for agent in [AgentKind::Codex, AgentKind::Claude, AgentKind::OpenCode, AgentKind::Generic] {
        let call =
            after(agent, [run("make"), json!({"status": "completed", "rawOutput": "done\n"})]);
        assert_eq!(row(&call), (ToolStatus::Complete, None, Some("done\n")), "{agent:?}");
        let stored = serde_json::to_value(call.exec()).unwrap();
        assert_eq!(stored["output"].get("exit_code"), None);
    }
}

#[test]
fn s_013_the_terminals_exit_comes_before_native_fields_and_these_before_tags() {
    let tags = "<return-code>3</return-code><output>o</output>";
    let native = json!({"status": "completed", "rawOutput": {"output": tags, "exit_code": 2}});
    assert_eq!(exit_code(&after(AgentKind::Generic, [native.clone()])), Some(2));
    let mut both = native;
    both["_meta"] = json!({"terminal_exit": {"exit_code": 1}});
    assert_eq!(exit_code(&after(AgentKind::Generic, [both])), Some(1));
    let order = json!({"rawOutput": {"exit_code": 5, "metadata": {"exit": 9}}});
    assert_eq!(exit_code(&after(AgentKind::Generic, [order])), Some(5));
}

#[test]
fn s_013_a_lesser_source_that_comes_later_changes_nothing() {
    let exit = json!({"_meta": {"terminal_exit": {"exit_code": 4}}});
    let later = json!({"status": "completed", "rawOutput": {"exit_code": 0}});
    let call = after(AgentKind::Generic, [run("make"), exit, later]);
    assert_eq!((call.status(), exit_code(&call)), (ToolStatus::Error, Some(4)));
}

#[test]
fn s_013_the_same_source_may_correct_itself() {
    let exit = |code: i64| json!({"_meta": {"terminal_exit": {"exit_code": code}}});
    let unknown = json!({"_meta": {"terminal_exit": {"exit_code": null}}});
    let call = after(AgentKind::Codex, [run("make"), exit(1), exit(4), unknown]);
    assert_eq!(exit_code(&call), Some(4));
}

#[test]
fn s_013_a_malformed_exit_stays_unknown_and_the_text_stays() {
    for exit in [json!("not-an-exit"), json!(null), json!(1.5), json!([4]), json!(u64::MAX)] {
        let end = json!({
            "status": "completed", "rawOutput": {"output": "text\n", "exit_code": exit},
            "_meta": {"terminal_exit": {"exit_code": exit}}
        });
        let call = after(AgentKind::Generic, [run("make"), end]);
        assert_eq!(row(&call), (ToolStatus::Complete, None, Some("text\n")), "{exit}");
    }
}

#[test]
fn s_013_an_explicit_zero_is_known() {
    let end = json!({"status": "completed", "rawOutput": {"exit_code": 0}});
    let stored = serde_json::to_value(after(AgentKind::Codex, [run("true"), end]).exec()).unwrap();
    assert_eq!(stored["output"], json!({"exit_code": 0, "truncated": false}));
}

#[test]
fn s_013_a_signal_is_kept() {
    for signal in [json!("SIGKILL"), json!(9)] {
        let exit = json!({"_meta": {"terminal_exit": {"exit_code": null, "signal": signal}}});
        let call = after(AgentKind::Codex, [run("make"), exit]);
        assert_eq!(serde_json::to_value(call.exec()).unwrap()["output"]["signal"], signal);
    }
}

#[test]
fn s_005_two_equal_chunks_are_two_lines() {
    for chunk in [delta("a\n"), terminal("a\n")] {
        let call = after(AgentKind::Codex, [run("yes"), chunk.clone(), chunk]);
        assert_eq!(call.stdout(), Some("a\na\n"));
    }
}

#[test]
fn s_006_claude_replaces_what_is_displayed() {
    let call = after(AgentKind::Claude, [run("make"), terminal("one\n"), terminal("two\n")]);
    assert_eq!(call.stdout(), Some("two\n"));
}

#[test]
fn s_006_raw_output_never_overwrites_the_terminals_text() {
    let raw = json!({"status": "completed", "rawOutput": "for the model"});
    let updates = [run("make"), terminal("real\n"), json!({"status": "completed"}), raw];
    assert_eq!(after(AgentKind::Claude, updates).stdout(), Some("real\n"));
    let together = json!({
        "status": "completed", "rawOutput": "for the model",
        "_meta": {"terminal_output": {"data": "real\n"}, "terminal_exit": {"exit_code": 3}}
    });
    let call = after(AgentKind::Claude, [run("make"), together.clone()]);
    assert_eq!(row(&call), (ToolStatus::Error, Some(3), Some("real\n")));
    assert_eq!(after(AgentKind::Generic, [run("make"), together]).stdout(), Some("real\n"));
}

#[test]
fn s_006_the_terminals_text_replaces_an_earlier_fallback() {
    let raw = json!({"status": "completed", "rawOutput": "for the model"});
    for text in [terminal("real\n"), delta("real\n")] {
        let call = after(AgentKind::Claude, [run("make"), raw.clone(), text]);
        assert_eq!(call.stdout(), Some("real\n"));
    }
}

#[test]
fn s_006_plain_final_output_is_the_fallback() {
    let result = json!({"type": "bash_code_execution_result", "stdout": "o", "stderr": "e", "return_code": 2});
    for raw in [json!("o"), json!([{"type": "text", "text": "o"}]), json!([result]), result.clone()]
    {
        let call = after(
            AgentKind::Claude,
            [run("make"), json!({"status": "completed", "rawOutput": raw})],
        );
        assert_eq!(call.stdout(), Some("o"), "{raw}");
        let is_result = raw.to_string().contains("return_code");
        assert_eq!(call.stderr(), is_result.then_some("e"), "{raw}");
        assert_eq!(exit_code(&call), is_result.then_some(2), "{raw}");
    }
}

#[test]
fn s_006_a_refusal_is_no_output_before_or_after_its_mark() {
    let mark = json!({
        "status": "failed", "rawOutput": "The user doesn't want to proceed",
        "_meta": {"claudeCode": {"nonExecutionKind": "user-rejected"}}
    });
    let refusal = terminal("The user doesn't want to proceed");
    let call = after(AgentKind::Claude, [run("make"), refusal.clone(), mark, refusal]);
    assert_eq!((call.status(), call.stdout(), call.stderr()), (ToolStatus::Error, None, None));
}

#[test]
fn s_006_a_mark_alone_withdraws_what_was_taken() {
    let mark = json!({"_meta": {"claudeCode": {"nonExecutionKind": "permission-rule"}}});
    let mut call = after(AgentKind::Claude, [run("make"), terminal("User refused permission")]);
    assert!(call.apply(&update(mark)).changed);
    assert_eq!(call.stdout(), None);
}

#[test]
fn s_006_an_image_is_no_text() {
    let response = json!({"_meta": {"claudeCode": {"toolResponse":
        {"stdout": "iVBORw0KGgo=", "stderr": "", "isImage": true}}}});
    assert_eq!(after(AgentKind::Claude, [run("make"), response]).stdout(), None);
}

#[test]
fn s_006_streams_that_the_tool_names_are_used() {
    let response = json!({"_meta": {"claudeCode": {"toolResponse": {
        "stdout": "out\n", "stderr": "err\n", "backgroundTaskId": "b1", "timedOutAfterMs": 2000
    }}}});
    let call = after(AgentKind::Claude, [run("make"), response, terminal("for the model")]);
    assert_eq!((call.stdout(), call.stderr()), (Some("out\n"), Some("err\n")));
    assert_eq!((call.exec().background, call.exec().timeout), (true, Some(2000)));
}

#[test]
fn s_006_output_that_follows_a_background_commands_tool_call_is_added() {
    let response = json!({"_meta": {"claudeCode": {"toolResponse":
        {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}}}});
    let updates =
        [run("make"), response, terminal("for the model"), json!({"status": "completed"})];
    let call =
        after(AgentKind::Claude, updates.into_iter().chain([delta("one\n"), delta("two\n")]));
    assert_eq!(call.stdout(), Some("one\ntwo\n"));
}

#[test]
fn s_010_a_first_frame_may_be_the_whole_call() {
    let whole = json!({
        "toolCallId": "a", "kind": "execute", "status": "completed", "title": "make",
        "rawInput": {"command": "make"}, "rawOutput": {"output": "done\n", "metadata": {"exit": 0}}
    });
    for agent in [AgentKind::OpenCode, AgentKind::Generic] {
        let mut call = call(agent);
        assert!(call.apply(&ToolFrame::parse(FrameOrigin::Call, &whole).unwrap()).changed);
        assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some("done\n")));
    }
}

#[test]
fn s_011_raw_output_of_a_running_command_is_not_final() {
    for agent in [AgentKind::Omp, AgentKind::Codex, AgentKind::Generic] {
        let partial = json!({"status": "in_progress", "rawOutput": "partial\n"});
        let mut call = after(agent, [run("make"), partial]);
        assert_eq!(row(&call), (ToolStatus::InProgress, None, Some("partial\n")));
        let _ = call.apply(&update(delta("live\n")));
        assert_eq!(call.stdout(), Some("live\n"), "{agent:?}");
    }
}

#[test]
fn s_011_a_known_exit_ends_a_call_without_a_status() {
    let exit = |code: i64| json!({"_meta": {"terminal_exit": {"exit_code": code}}});
    let call = after(AgentKind::Codex, [run("make"), exit(0)]);
    assert_eq!(call.status(), ToolStatus::Complete);
    let call = after(AgentKind::Codex, [run("make"), exit(2)]);
    assert_eq!(call.status(), ToolStatus::Error);
}

#[test]
fn s_012_a_stream_that_a_final_update_omits_keeps_its_text() {
    let end = |raw: Value| json!({"status": "completed", "rawOutput": raw});
    let updates = [
        run("make"),
        end(json!({"stdout": "o1", "stderr": "e1"})),
        end(json!({"stdout": "o2"})),
        end(json!({"stderr": "e3"})),
    ];
    let call = after(AgentKind::Generic, updates);
    assert_eq!((call.stdout(), call.stderr()), (Some("o2"), Some("e3")));
    for agent in [AgentKind::Codex, AgentKind::Generic] {
        let call = after(agent, [run("make"), delta("live\n"), end(json!({"exit_code": 0}))]);
        assert_eq!(row(&call), (ToolStatus::Complete, Some(0), Some("live\n")), "{agent:?}");
    }
}

#[test]
fn s_014_streams_are_separate_only_where_the_agent_names_them() {
    let end = json!({"status": "completed", "rawOutput": {"output": "o\ne\n"}});
    assert_eq!(after(AgentKind::Generic, [run("make"), end]).stderr(), None);
    let end =
        json!({"status": "completed", "rawOutput": {"formatted_output": "o\ne\n", "stderr": ""}});
    let call = after(AgentKind::Codex, [run("make"), end]);
    assert_eq!((call.stdout(), call.stderr()), (Some("o\ne\n"), None));
}

#[test]
fn s_015_output_beyond_the_limit_keeps_its_newest_end() {
    let long = format!("{}end \u{2603}", "a".repeat(LIMIT));
    for agent in [AgentKind::Codex, AgentKind::Claude, AgentKind::OpenCode, AgentKind::Generic] {
        let end = json!({"status": "completed", "rawOutput": {"stdout": long, "stderr": "e"}});
        for updates in [vec![run("make"), delta(&long)], vec![run("make"), end]] {
            let call = after(agent, updates);
            let stdout = call.stdout().unwrap();
            assert!(stdout.len() <= LIMIT && stdout.ends_with("end \u{2603}"), "{agent:?}");
            assert!(call.exec().output.unwrap().truncated, "{agent:?}");
        }
    }
}

#[test]
fn s_015_a_short_text_that_replaces_a_long_one_is_not_truncated() {
    let both = json!({
        "status": "completed", "rawOutput": "a".repeat(LIMIT + 1),
        "_meta": {"terminal_output": {"data": "short"}}
    });
    for agent in [AgentKind::Claude, AgentKind::Generic] {
        let call = after(agent, [run("make"), both.clone()]);
        assert_eq!(call.stdout(), Some("short"));
        assert!(!call.exec().output.unwrap().truncated, "{agent:?}");
    }
}

#[test]
fn s_015_each_stream_has_a_bound_of_its_own() {
    let end = json!({
        "status": "completed", "rawOutput": {"stdout": "fallback", "stderr": "e".repeat(LIMIT + 1)},
        "_meta": {"terminal_output": {"data": "real"}}
    });
    let call = after(AgentKind::Generic, [run("make"), end]);
    assert_eq!(call.stdout(), Some("real"));
    assert_eq!(call.stderr().map(str::len), Some(LIMIT));
    assert!(call.exec().output.unwrap().truncated);
}

#[test]
fn s_015_what_is_cut_off_in_front_does_not_cost_output() {
    let text = format!("$ make\n{}", "a".repeat(LIMIT));
    let call = after(AgentKind::Generic, [run("make"), delta(&text)]);
    assert_eq!(call.stdout().map(str::len), Some(LIMIT));
    assert!(!call.exec().output.unwrap().truncated);
}

#[test]
fn s_015_a_line_like_the_echo_is_output_where_the_begin_is_gone() {
    let lines = "$ l\n".repeat(LIMIT / 2);
    let updates = [run("l"), delta(&lines), delta("$ l\n")];
    let call = after(AgentKind::Generic, updates);
    assert_eq!(call.stdout().map(str::len), Some(LIMIT));
}

#[test]
fn s_015_what_the_agent_cut_counts_as_truncated() {
    let end = |truncated: bool| {
        json!({"status": "completed", "rawOutput":
        {"output": "tail\n", "metadata": {"exit": 0, "truncated": truncated}}})
    };
    for truncated in [true, false] {
        let call = after(AgentKind::OpenCode, [run("make"), end(truncated)]);
        assert_eq!(call.exec().output.unwrap().truncated, truncated);
    }
}

#[test]
fn s_015_a_cut_that_is_only_admitted_later_is_a_change() {
    let end = |truncated: bool| {
        json!({"status": "completed", "rawOutput":
        {"output": "tail\n", "metadata": {"exit": 0, "truncated": truncated}}})
    };
    let mut call = after(AgentKind::OpenCode, [run("make"), end(false)]);
    assert!(call.apply(&update(end(true))).changed);
    assert!(call.exec().output.unwrap().truncated);
}

#[test]
fn s_016_chunks_may_end_within_an_escape_sequence_or_a_crlf() {
    let whole = "\u{1b}[31mred\u{1b}[0m\r\n\u{2603}";
    let chunks = ["\u{1b}", "[31", "mred\u{1b}[0m\r", "\n\u{2603}"].map(delta);
    let call = after(AgentKind::Codex, [run("ls")].into_iter().chain(chunks));
    assert_eq!(call.stdout(), Some(whole));
}

#[test]
fn s_017_text_in_unexpected_forms_is_kept() {
    for raw in [json!({"stdout": ["a", "b"]}), json!({"output": [{"text": "ab"}]}), json!(["ab"])] {
        let call = after(AgentKind::Generic, [json!({"status": "completed", "rawOutput": raw})]);
        assert_eq!(call.stdout(), Some("ab"), "{raw}");
    }
    let bare = json!({"_meta": {"terminal_output": "ab"}});
    assert_eq!(after(AgentKind::Generic, [bare]).stdout(), Some("ab"));
}

#[test]
fn s_018_words_for_the_model_stay_in_dialects_where_they_were_not_recorded() {
    let words = "Exit code 4\nx\n\n<shell_metadata>\ny\n</shell_metadata>";
    for agent in [AgentKind::Codex, AgentKind::Generic, AgentKind::OpenCode, AgentKind::Claude] {
        let end = json!({"status": "failed", "rawOutput": words});
        assert_eq!(after(agent, [run("make"), end]).stdout(), Some(words), "{agent:?}");
    }
}

#[test]
fn s_028_terminal_output_replaces_what_it_begins_with_and_else_follows() {
    let updates =
        [run("make"), delta("hello\n"), terminal("world\n"), terminal("hello\nworld\n!\n")];
    assert_eq!(after(AgentKind::Generic, updates).stdout(), Some("hello\nworld\n!\n"));
}

#[test]
fn s_028_cumulative_text_beyond_the_limit_is_not_doubled() {
    let whole: String = (0..60_000).map(|line| format!("line {line}\n")).collect();
    let parts =
        [10, LIMIT - 3, LIMIT + 5, 2 * LIMIT, whole.len()].map(|end| terminal(&whole[..end]));
    let call = after(AgentKind::Generic, [run("seq")].into_iter().chain(parts));
    assert_eq!(call.stdout(), Some(&whole[whole.len() - LIMIT..]));
}

#[test]
fn s_028_a_last_chunk_does_not_replace_the_final_text() {
    let end = json!({
        "status": "completed", "rawOutput": {"formatted_output": "one\ntwo\n", "exit_code": 0},
        "_meta": {"terminal_output": {"data": "two\n"}}
    });
    let call = after(AgentKind::Generic, [run("make"), terminal("one\n"), end]);
    assert_eq!(call.stdout(), Some("one\ntwo\n"));
}
