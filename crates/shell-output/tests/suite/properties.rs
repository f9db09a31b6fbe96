//! What holds for every input.

use model::{AgentKind, BodyChange, Departure, shell::STREAM_LIMIT_BYTES};
use proptest::prelude::*;
use serde_json::{Value, json};
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

use crate::support::{BodyStore, after, exit_code, update};

fn any_agent() -> impl Strategy<Value = AgentKind> {
    prop::sample::select(&AgentKind::ALL[..])
}

fn any_departures() -> impl Strategy<Value = Vec<Departure>> {
    prop::sample::subsequence(
        vec![
            Departure::ExitCodePrefix,
            Departure::ExitFlag,
            Departure::AggregatedOutput,
            Departure::ShellMetadataBlock,
            Departure::NoOutputWord,
            Departure::ClosingLines,
            Departure::MovingWindow,
            Departure::CutEcho,
            Departure::Preface,
            Departure::CodeBesideSignal,
        ],
        0..=10,
    )
}

/// Text that has what the dialects look for, and what splits badly.
fn any_text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "$ ls",
        "ls",
        "\n",
        "\r\n",
        "a",
        "\u{2603}",
        "\u{1f600}",
        "\u{1b}[31m",
        "(no output)",
        "Exit code 4\n",
        "\n\n<shell_metadata>\n",
        "\n</shell_metadata>",
        "<output>",
        "</output>",
        "<return-code>1</return-code>",
        "",
    ]);
    let long = (0..STREAM_LIMIT_BYTES * 2).prop_map(|len| "0123456\u{e9}\n".repeat(len / 10));
    prop_oneof![
        20 => prop::collection::vec(words, 0..6).prop_map(|words| words.concat()),
        1 => long,
    ]
}

fn any_code() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(0)),
        Just(json!(1)),
        Just(json!(4)),
        Just(Value::Null),
        Just(json!("7")),
        Just(json!(2.5)),
        Just(json!("zero")),
        Just(json!([0])),
        Just(json!(u64::MAX)),
    ]
}

/// A value in which the dialects' own fields turn up in every place.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => any_text().prop_map(Value::from),
        2 => any_code(),
        1 => any::<bool>().prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "command",
        "cwd",
        "timeout",
        "stdout",
        "stderr",
        "output",
        "formatted_output",
        "aggregated_output",
        "metadata",
        "exit",
        "exit_code",
        "return_code",
        "signal",
        "data",
        "terminal_output",
        "terminal_output_delta",
        "terminal_exit",
        "terminal_info",
        "claudeCode",
        "toolResponse",
        "nonExecutionKind",
        "type",
        "text",
        "content",
        "error",
        "truncated",
    ]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys.clone(), inner, 0..5)
                .prop_map(|map| map.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

/// A frame as foreign as can be.
fn any_frame() -> impl Strategy<Value = ToolFrame> {
    let origin =
        prop::sample::select(vec![FrameOrigin::Call, FrameOrigin::Update, FrameOrigin::Permission]);
    let status = prop::sample::select(vec![
        Value::Null,
        json!("pending"),
        json!("in_progress"),
        json!("completed"),
        json!("failed"),
        json!("cancelled"),
        json!(4),
    ]);
    (origin, status, prop::collection::vec(any_json(), 5)).prop_map(|(origin, status, values)| {
        let value = json!({
            "toolCallId": "a", "status": status, "title": values[0], "rawInput": values[1],
            "rawOutput": values[2], "content": values[3], "_meta": values[4],
        });
        ToolFrame::parse(origin, &value).unwrap()
    })
}

/// A frame as agents send them.
fn likely_frame() -> impl Strategy<Value = ToolFrame> {
    let content =
        |text: String| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let status = || prop::sample::select(vec!["in_progress", "completed", "failed"]);
    prop_oneof![
        any_text().prop_map(|data| json!({"_meta": {"terminal_output_delta": {"data": data}}})),
        any_text().prop_map(|data| json!({"_meta": {"terminal_output": {"data": data}}})),
        any_text().prop_map(move |text| json!({"content": content(text)})),
        (status(), any_text()).prop_map(|(s, text)| json!({"status": s, "rawOutput": text})),
        (status(), any_text(), any_text(), any_code()).prop_map(|(s, out, err, code)| json!({
            "status": s, "rawOutput": {"stdout": out, "stderr": err, "exit_code": code}
        })),
        any_text()
            .prop_map(|out| json!({"_meta": {"claudeCode": {"toolResponse": {"stdout": out}}}})),
        any_code().prop_map(|code| json!({"_meta": {"terminal_exit": {"exit_code": code}}})),
        Just(json!({"_meta": {"claudeCode": {"nonExecutionKind": "user-rejected"}}})),
        Just(json!({"rawInput": {"command": "ls"}})),
    ]
    .prop_map(update)
}

/// `whole` in pieces, cut at these places.
fn pieces<'a>(whole: &'a str, cuts: &[prop::sample::Index]) -> Vec<&'a str> {
    let mut places: Vec<_> =
        cuts.iter().map(|cut| whole.floor_char_boundary(cut.index(whole.len() + 1))).collect();
    places.extend([0, whole.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect()
}

proptest! {
    #[test]
    fn s_016_any_split_into_deltas_is_the_whole(
        agent in any_agent(), whole in any_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)
    ) {
        let delta = |data: &str| json!({"_meta": {"terminal_output_delta": {"data": data}}});
        let begun = || json!({"status": "in_progress", "rawInput": {"command": "ls"}});
        let at_once = after(agent, [begun(), delta(&whole)]);
        let in_pieces = pieces(&whole, &cuts).into_iter().map(delta);
        let bit_by_bit = after(agent, std::iter::once(begun()).chain(in_pieces));
        prop_assert_eq!(at_once.stdout(), bit_by_bit.stdout());
        prop_assert_eq!(at_once.exec(), bit_by_bit.exec());
    }

    #[test]
    fn s_012_growing_cumulative_text_is_its_last_value(
        agent in prop::sample::select(vec![AgentKind::OpenCode, AgentKind::Claude, AgentKind::Generic]),
        whole in any_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)
    ) {
        let mut shown = 0;
        let mut so_far = |piece: &str| {
            shown += piece.len();
            json!({"_meta": {"terminal_output": {"data": &whole[..shown]}}})
        };
        let updates: Vec<_> = pieces(&whole, &cuts).into_iter().map(&mut so_far).collect();
        let newest = whole.ceil_char_boundary(whole.len().saturating_sub(STREAM_LIMIT_BYTES));
        let call = after(agent, updates);
        prop_assert_eq!(call.stdout(), Some(&whole[newest..]));
    }

    #[test]
    fn s_013_an_unknown_exit_never_becomes_0(
        agent in any_agent(), departures in any_departures(),
        value in any_json().prop_filter("unknown", |value| {
            !value.is_i64() && value.as_str().is_none_or(|text| text.trim().parse::<i64>().is_err())
        })
    ) {
        let mut call = ShellCall::new(Dialect::new(agent, &departures));
        let _ = call.apply(&update(json!({
            "status": "completed",
            "rawOutput": {"output": "text", "exit_code": value, "metadata": {"exit": value}},
            "_meta": {"terminal_exit": {"exit_code": value}}
        })));
        prop_assert_eq!(exit_code(&call), None);
    }

    #[test]
    fn s_017_no_frame_panics_and_bodies_stay_bounded_and_replay(
        agent in any_agent(), departures in any_departures(),
        frames in prop::collection::vec(prop_oneof![any_frame(), likely_frame()], 1..10),
        cancel in prop::option::of((0..10_usize, any::<bool>()))
    ) {
        let mut call = ShellCall::new(Dialect::new(agent, &departures));
        let mut store = BodyStore::default();
        for (at, frame) in frames.iter().enumerate() {
            if let Some((_, by_user)) = cancel.filter(|(when, _)| *when == at) {
                let _ = call.cancel(if by_user { CancelReason::User } else { CancelReason::Sweep });
            }
            let before = (call.exec(), call.status(), call.title().to_owned());
            let texts = (call.stdout().map(str::to_owned), call.stderr().map(str::to_owned));
            if !call.apply(frame).changed {
                prop_assert_eq!(before, (call.exec(), call.status(), call.title().to_owned()));
                prop_assert_eq!(texts.0.as_deref(), call.stdout());
                prop_assert_eq!(texts.1.as_deref(), call.stderr());
            }
            for text in [call.stdout(), call.stderr()].into_iter().flatten() {
                prop_assert!(text.len() <= STREAM_LIMIT_BYTES);
            }
            if at % 2 == 0 {
                store.follow(&mut call);
            }
        }
        store.follow(&mut call);
    }

    #[test]
    fn s_021_s_025_nothing_revives_a_call(
        agent in any_agent(), departures in any_departures(),
        frames in prop::collection::vec(prop_oneof![any_frame(), likely_frame()], 1..10),
        cancel in prop::option::of((0..10_usize, any::<bool>()))
    ) {
        let mut call = ShellCall::new(Dialect::new(agent, &departures));
        let mut has_ended = false;
        for (at, frame) in frames.iter().enumerate() {
            if let Some((_, by_user)) = cancel.filter(|(when, _)| *when == at) {
                let _ = call.cancel(if by_user { CancelReason::User } else { CancelReason::Sweep });
            }
            let _ = call.apply(frame);
            prop_assert!(!has_ended || call.status().is_terminal(), "after frame {at}");
            has_ended = call.status().is_terminal();
        }
    }

    #[test]
    fn s_025_a_sweep_changes_nothing_about_a_call_that_its_agent_ends(
        agent in any_agent(), departures in any_departures(),
        frames in prop::collection::vec(likely_frame(), 1..8), sweep: prop::sample::Index
    ) {
        let played = |sweep: Option<usize>| {
            let mut call = ShellCall::new(Dialect::new(agent, &departures));
            for (at, frame) in frames.iter().enumerate() {
                if sweep == Some(at) {
                    let _ = call.cancel(CancelReason::Sweep);
                }
                let _ = call.apply(frame);
            }
            call
        };
        let calm = played(None);
        prop_assume!(calm.status().is_terminal());
        let swept = played(Some(sweep.index(frames.len())));
        prop_assert_eq!(swept.status(), calm.status());
        prop_assert_eq!(swept.exec(), calm.exec());
        prop_assert_eq!((swept.stdout(), swept.stderr()), (calm.stdout(), calm.stderr()));
    }

    #[test]
    fn s_009_an_echo_is_removed_at_most_once(
        agent in prop::sample::select(vec![AgentKind::Omp, AgentKind::Generic]),
        echoes in 0..4_usize, rest in "[a-z \n]{0,20}", is_final: bool,
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8)
    ) {
        let whole = format!("{}{rest}", "$ ls\n".repeat(echoes));
        let mut shown = 0;
        let mut so_far = |piece: &str| {
            shown += piece.len();
            let text = json!({"type": "content", "content": {"type": "text", "text": &whole[..shown]}});
            json!({"rawInput": {"command": "ls"}, "content": [text]})
        };
        let mut updates: Vec<_> = pieces(&whole, &cuts).into_iter().map(&mut so_far).collect();
        updates.push(json!({"status": if is_final { "completed" } else { "in_progress" }}));
        let expected = whole.strip_prefix("$ ls\n").unwrap_or(&whole);
        let call = after(agent, updates);
        prop_assert_eq!(call.stdout().unwrap_or_default(), expected);
    }

    #[test]
    fn s_017_any_value_is_a_frame_or_none(value in any_json()) {
        let frame = ToolFrame::parse(FrameOrigin::Update, &value);
        prop_assert_eq!(frame.is_some(), value.get("toolCallId").is_some_and(Value::is_string));
    }
}

#[test]
fn output_that_outgrows_its_limit_is_handed_out_as_appends() {
    let mut call = after(AgentKind::Codex, []);
    let mut store = BodyStore::default();
    let mut whole = String::new();
    for line in 0..1000 {
        let data = format!("line {line} {}\n", "\u{2603}".repeat(300));
        let _ = call.apply(&update(json!({"_meta": {"terminal_output": {"data": data}}})));
        whole.push_str(&data);
        let changes = call.take_body_changes();
        assert!(matches!(&changes[..], [(_, BodyChange::Append { text, .. })] if *text == data));
        store.take(changes);
        assert_eq!(store.stdout(), call.stdout().unwrap());
    }
    store.follow(&mut call);
    assert!(whole.len() > 3 * STREAM_LIMIT_BYTES && whole.ends_with(store.stdout()));
}
