//! What an agent repeats when it takes up a session (S-026).

use super::*;

/// A session that lost the first line of a command, and whose agent was started again.
async fn lossy(exit: Option<i64>) -> Result<Bench> {
    let mut bench = Bench::new(AgentKind::Codex).await?;
    let begun = json!({"toolCallId": "a", "kind": "execute", "title": "make",
        "status": "in_progress", "rawInput": {"command": "make", "cwd": "/d"}});
    bench.call(&begun).await?;
    let two = json!({"toolCallId": "a", "_meta": {"terminal_output": {"data": "two\n"}}});
    bench.update(&two).await?;
    if let Some(exit) = exit {
        let end = json!({"toolCallId": "a", "status": "completed",
            "_meta": {"terminal_exit": {"exit_code": exit}}});
        bench.update(&end).await?;
    }
    bench.end_turn().await?;
    bench.restart(true).await?;
    Ok(bench)
}

/// The frames with which the agent repeats the command, with all that it printed.
fn repeated(text: &str, exit: Option<i64>) -> [Value; 2] {
    let status = if exit == Some(0) { "completed" } else { "failed" };
    [
        json!({"toolCallId": "a", "kind": "execute", "title": "make", "status": status,
            "rawInput": {"command": "make", "cwd": "/d"}}),
        json!({"toolCallId": "a", "_meta": {"terminal_output": {"data": text},
            "terminal_exit": {"exit_code": exit}}}),
    ]
}

async fn repeat(bench: &mut Bench, frames: &[Value]) -> Result<Vec<Changes>> {
    let mut changes = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let origin = if at == 0 { FrameOrigin::Call } else { FrameOrigin::Update };
        changes.push(bench.history(origin, frame).await?);
    }
    Ok(changes)
}

#[tokio::test]
async fn s_026_a_repeated_command_repairs_what_the_live_stream_lost() -> Result<()> {
    let mut bench = lossy(Some(4)).await?;
    let rows = bench.rows()?;
    assert_eq!(bench.end_of("a")?.2.as_deref(), Some("two\n"));
    let changes = repeat(&mut bench, &repeated("one\ntwo\n", Some(4))).await?;
    let changed: Vec<_> = changes.iter().flat_map(|changes| &changes.messages).collect();
    assert!(matches!(changed[..], [row] if !row.added), "{changed:?}");
    assert!(changes.iter().all(|changes| changes.session.is_none() && changes.turn.is_none()));
    let expected = (Some(ToolStatus::Error), Some(4), Some("one\ntwo\n".to_owned()));
    assert_eq!(bench.end_of("a")?, expected);
    assert_eq!(bench.rows()?, rows);

    // The same again is nothing new, and what comes later follows the full text.
    let changes = repeat(&mut bench, &repeated("one\ntwo\n", Some(4))).await?;
    assert!(changes.iter().all(|changes| changes.messages.is_empty()));
    let more = json!({"toolCallId": "a", "_meta": {"terminal_output": {"data": "three\n"}}});
    bench.update(&more).await?;
    assert_eq!(bench.end_of("a")?.2.as_deref(), Some("one\ntwo\nthree\n"));
    Ok(())
}

#[tokio::test]
async fn s_026_an_end_that_nobody_saw_is_filled_in() -> Result<()> {
    let mut bench = lossy(None).await?;
    assert_eq!(bench.end_of("a")?.0, Some(ToolStatus::Cancelled));
    repeat(&mut bench, &repeated("one\ntwo\n", Some(0))).await?;
    let expected = (Some(ToolStatus::Complete), Some(0), Some("one\ntwo\n".to_owned()));
    assert_eq!(bench.end_of("a")?, expected);
    Ok(())
}

#[tokio::test]
async fn s_026_what_a_person_stopped_stays_stopped() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Codex).await?;
    bench.call(&running("a")).await?;
    bench.machine.cancel(stamp());
    bench.end_turn().await?;
    bench.restart(true).await?;
    repeat(&mut bench, &repeated("zero\none\n", Some(0))).await?;
    let expected = (Some(ToolStatus::Cancelled), None, Some("zero\none\n".to_owned()));
    assert_eq!(bench.end_of("a")?, expected);
    Ok(())
}

#[tokio::test]
async fn s_026_text_that_does_not_end_alike_or_is_not_of_a_command_repairs_nothing() -> Result<()> {
    let shorter = repeated("wo\n", Some(4));
    let other = repeated("one\ntwo\nthree\n", Some(4));
    let unfinished = [json!({"toolCallId": "a", "kind": "execute", "status": "in_progress",
        "_meta": {"terminal_output": {"data": "one\ntwo\n"}}})];
    let kindless = [json!({"toolCallId": "a", "title": "exec_command", "status": "completed",
        "rawOutput": "Chunk ID: 1\nProcess exited with code 4\nOutput:\none\ntwo\n"})];
    for frames in [&shorter[..], &other, &unfinished, &kindless] {
        let mut bench = lossy(Some(4)).await?;
        let before = bench.row("a")?;
        let changes = repeat(&mut bench, frames).await?;
        assert!(changes.iter().all(|changes| changes.messages.is_empty()), "{frames:?}");
        assert_eq!(bench.row("a")?, before);
    }
    Ok(())
}

#[tokio::test]
async fn s_026_a_refusal_is_not_taken_for_lost_output() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Codex).await?;
    let begun = json!({"toolCallId": "a", "kind": "execute", "title": "make",
        "rawInput": {"command": "make"}});
    bench.call(&begun).await?;
    bench.update(&json!({"toolCallId": "a", "status": "failed"})).await?;
    bench.restart(true).await?;
    repeat(&mut bench, &repeated("The user refused.", None)).await?;
    assert_eq!(bench.end_of("a")?, (Some(ToolStatus::Error), None, None));
    // Of a command that is known to have run, all of the output may be what was lost.
    repeat(&mut bench, &repeated("", Some(1))).await?;
    assert_eq!(bench.end_of("a")?.1, Some(1));
    Ok(())
}

#[tokio::test]
async fn s_026_a_long_history_of_other_calls_leaves_nothing_and_holds_few() -> Result<()> {
    let mut bench = lossy(Some(4)).await?;
    let rows = bench.rows()?;
    for n in 0..300 {
        let frames = repeated("one\ntwo\n", Some(0)).map(|mut frame| {
            frame["toolCallId"] = format!("h{n}").into();
            frame
        });
        let changes = repeat(&mut bench, &frames).await?;
        assert!(changes.iter().all(|changes| changes.messages.is_empty()));
        assert!(bench.machine.transcript().held() < 5);
    }
    assert_eq!(bench.rows()?, rows);
    Ok(())
}

#[tokio::test]
async fn s_026_an_agent_that_remembers_is_not_said_to_have_forgotten() -> Result<()> {
    for (resumes, notes) in [(true, 0), (false, 1)] {
        let mut bench = Bench::new(AgentKind::Generic).await?;
        bench.end_turn().await?;
        bench.restart(resumes).await?;
        let session_id = bench.machine.session().id;
        let (messages, _) = bench.store.read(|reader| reader.messages(session_id, None, 100))?;
        let said = messages.iter().filter(|message| message.kind == MessageKind::Status).count();
        assert_eq!(said, notes);
    }
    Ok(())
}
