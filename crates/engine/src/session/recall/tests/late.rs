//! What an agent says about calls that ended long ago (S-024, S-025).

use super::*;

/// Nothing but one row changed.
fn only_row(changes: &Changes) -> Option<&model::StoredMessage> {
    match &changes.messages[..] {
        [changed] if changes.session.is_none() && changes.turn.is_none() && !changed.added => {
            Some(&changed.message)
        }
        _ => None,
    }
}

/// Many calls, so that earlier ones are no longer held.
async fn others(bench: &mut Bench) -> Result<()> {
    for n in 0..9 {
        let id = format!("other-{n}");
        bench.call(&running(&id)).await?;
        bench.update(&json!({"toolCallId": id, "status": "completed"})).await?;
    }
    Ok(())
}

fn end(id: &str) -> Value {
    json!({"toolCallId": id, "status": "completed",
        "rawOutput": {"stdout": "one\ntwo\n", "exit_code": 4}})
}

#[tokio::test]
async fn s_024_s_025_an_end_of_an_earlier_turn_changes_its_row_and_nothing_else() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    bench.end_turn().await?;
    bench.prompt().await?;
    others(&mut bench).await?;
    bench.end_turn().await?;
    let (status, exit, stdout) = bench.end_of("a")?;
    assert_eq!(
        (status, exit, stdout.as_deref()),
        (Some(ToolStatus::Cancelled), None, Some("one\n"))
    );
    let (before, rows) = (bench.row("a")?, bench.rows()?);

    let changes = bench.update(&end("a")).await?;
    let row = only_row(&changes).context("something else changed")?;
    assert_eq!((row.id, row.turn_id, row.seq), (before.id, before.turn_id, before.seq));
    assert_eq!(bench.machine.take_effects(), []);
    assert_eq!(bench.machine.session().state, SessionState::WaitingForInput);
    let (status, exit, stdout) = bench.end_of("a")?;
    let expected = (Some(ToolStatus::Error), Some(4), Some("one\ntwo\n"));
    assert_eq!((status, exit, stdout.as_deref()), expected);
    let exec = bench.row("a")?.shell_exec().cloned().context("no command")?;
    assert_eq!((exec.command.as_str(), exec.work_dir.as_deref()), ("make", Some("/d")));
    assert_eq!(bench.rows()?, rows);
    Ok(())
}

#[tokio::test]
async fn s_024_within_a_later_turn_it_is_still_the_earlier_row() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    bench.end_turn().await?;
    bench.prompt().await?;
    let turn = bench.machine.turn().map(|turn| turn.id);
    // A second `tool_call` with the same id is an update, too.
    let changes = bench.call(&end("a")).await?;
    let row = only_row(&changes).context("something else changed")?;
    assert_ne!(row.turn_id, turn);
    assert_eq!(bench.end_of("a")?.0, Some(ToolStatus::Error));
    assert_eq!(bench.machine.transcript().activity(), None, "what it does now is something else");
    Ok(())
}

#[tokio::test]
async fn s_024_a_call_that_nobody_knows_makes_nothing_outside_a_turn() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.end_turn().await?;
    for frame in [end("x"), running("y"), json!({"toolCallId": "z", "kind": "read", "title": "z"})]
    {
        let changes = bench.update(&frame).await?;
        assert!(changes.messages.is_empty() && changes.session.is_none(), "{frame}");
        let changes = bench.call(&frame).await?;
        assert!(changes.messages.is_empty() && changes.turn.is_none(), "{frame}");
    }
    assert_eq!(bench.rows()?, 0);
    Ok(())
}

#[tokio::test]
async fn s_025_a_late_update_that_ends_nothing_brings_output_and_leaves_the_status() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    bench.end_turn().await?;
    bench.prompt().await?;
    others(&mut bench).await?;
    for data in ["two\n", "three\n"] {
        let more = json!({"toolCallId": "a", "status": "in_progress",
            "_meta": {"terminal_output_delta": {"data": data}}});
        assert!(only_row(&bench.update(&more).await?).is_some());
    }
    let (status, _, stdout) = bench.end_of("a")?;
    assert_eq!(status, Some(ToolStatus::Cancelled));
    assert_eq!(stdout.as_deref(), Some("one\ntwo\nthree\n"));
    Ok(())
}

/// A command that was open when its turn ended, gets this end much later: where it then stands.
async fn ended_late(person_stopped: bool, end: &Value) -> Result<Option<ToolStatus>> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    if person_stopped {
        bench.machine.cancel(stamp());
        bench.keep().await?;
    }
    bench.end_turn().await?;
    bench.prompt().await?;
    others(&mut bench).await?;
    bench.update(end).await?;
    Ok(bench.end_of("a")?.0)
}

#[tokio::test]
async fn s_022_s_025_the_persons_cancel_gives_way_to_a_code_alone_and_the_sweeps_to_any_end()
-> Result<()> {
    use ToolStatus::{Cancelled, Complete, Error};
    let completed = json!({"toolCallId": "a", "status": "completed"});
    let failed = json!({"toolCallId": "a", "status": "failed"});
    let exited = json!({"toolCallId": "a", "status": "completed",
        "_meta": {"terminal_exit": {"exit_code": 0}}});
    let after_sweep = [(&completed, Complete), (&failed, Error), (&exited, Complete)];
    let after_cancel = [(&completed, Cancelled), (&failed, Cancelled), (&exited, Complete)];
    for (end, expected) in after_sweep {
        assert_eq!(ended_late(false, end).await?, Some(expected), "{end}");
    }
    for (end, expected) in after_cancel {
        assert_eq!(ended_late(true, end).await?, Some(expected), "{end}");
    }
    Ok(())
}

#[tokio::test]
async fn s_022_while_a_cancelled_turn_still_ends_its_calls_stay_cancelled() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    others(&mut bench).await?;
    bench.machine.cancel(stamp());
    bench.keep().await?;
    others(&mut bench).await?;
    bench.update(&json!({"toolCallId": "a", "status": "completed"})).await?;
    assert_eq!(bench.end_of("a")?.0, Some(ToolStatus::Cancelled));
    Ok(())
}

#[tokio::test]
async fn s_024_rows_that_are_no_commands_are_reached_as_well() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    for (id, kind) in [("r", "read"), ("e", "edit"), ("o", "other")] {
        let begun = json!({"toolCallId": id, "kind": kind, "title": "x", "status": "in_progress",
            "locations": [{"path": "/x"}]});
        bench.call(&begun).await?;
    }
    bench.end_turn().await?;
    bench.prompt().await?;
    others(&mut bench).await?;
    bench.end_turn().await?;
    for (id, kind) in
        [("r", MessageKind::ToolRead), ("e", MessageKind::ToolEdit), ("o", MessageKind::ToolCall)]
    {
        assert_eq!(bench.row(id)?.metadata.status, Some(ToolStatus::Cancelled));
        let changes = bench.update(&json!({"toolCallId": id, "status": "completed"})).await?;
        assert!(only_row(&changes).is_some(), "{id}");
        let row = bench.row(id)?;
        assert_eq!((row.kind, row.content.as_str()), (kind, "x"));
        assert_eq!(row.metadata.status, Some(ToolStatus::Complete));
        assert_eq!(row.metadata.paths, ["/x"]);
    }
    Ok(())
}

#[tokio::test]
async fn s_019_a_call_that_was_let_go_may_still_turn_out_to_be_a_command() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&json!({"toolCallId": "a", "title": "make"})).await?;
    bench.update(&json!({"toolCallId": "a", "status": "completed"})).await?;
    others(&mut bench).await?;
    bench.update(&json!({"toolCallId": "a", "kind": "execute", "rawOutput": "done\n"})).await?;
    let row = bench.row("a")?;
    assert_eq!((row.kind, row.content.as_str()), (MessageKind::ToolExecute, "make"));
    let (status, _, stdout) = bench.end_of("a")?;
    assert_eq!((status, stdout.as_deref()), (Some(ToolStatus::Complete), Some("done\n")));
    Ok(())
}

#[tokio::test]
async fn s_024_a_request_for_leave_does_not_hide_the_row_that_it_is_about() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    bench.call(&running("a")).await?;
    let tool = ToolFrame::parse(FrameOrigin::Permission, &running("a"));
    let key = acp::PermissionKey::from(json!(1));
    bench.event(AgentEvent::Permission { key, tool, options: Vec::new() }).await?;
    bench.end_turn().await?;
    bench.prompt().await?;
    others(&mut bench).await?;
    bench.update(&end("a")).await?;
    assert_eq!(bench.end_of("a")?.1, Some(4));
    Ok(())
}

#[tokio::test]
async fn s_024_ids_of_another_session_of_the_agent_are_foreign() -> Result<()> {
    for resumes in [true, false] {
        let mut bench = Bench::new(AgentKind::Generic).await?;
        bench.call(&running("a")).await?;
        let first = bench.row("a")?;
        bench.restart(resumes).await?;
        bench.update(&end("a")).await?;
        let is_same = bench.row("a")?.id == first.id;
        assert_eq!((is_same, bench.rows()?), if resumes { (true, 1) } else { (false, 2) });
        bench.end_turn().await?;
        // Outside a turn, an id of the earlier session is one that nobody knows.
        bench.restart(false).await?;
        bench.end_turn().await?;
        assert!(bench.update(&end("a")).await?.messages.is_empty());
    }
    Ok(())
}

#[tokio::test]
async fn s_025_a_flood_of_late_updates_holds_few_calls() -> Result<()> {
    let mut bench = Bench::new(AgentKind::Generic).await?;
    for n in 0..50 {
        bench.call(&running(&format!("c{n}"))).await?;
    }
    bench.end_turn().await?;
    for _ in 0..2 {
        for n in 0..50 {
            // Nothing new, so that nothing is ever taken to be stored.
            let said = json!({"toolCallId": format!("c{n}"), "title": "make"});
            assert!(bench.machine.recall(&tool(&said)?).is_some() || n > 45);
            bench.update(&said).await?;
            assert!(bench.machine.transcript().held() < 10);
        }
    }
    Ok(())
}

fn tool(frame: &Value) -> Result<AgentEvent> {
    let frame = ToolFrame::parse(FrameOrigin::Update, frame).context("no frame")?;
    Ok(AgentEvent::Tool(frame))
}
