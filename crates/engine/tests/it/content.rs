//! What tool calls that are no commands have to show, and where it is kept.

use anyhow::{Context as _, Result};
use model::{ContentPart, ContentSummary, ErrorCode, SessionState, ToolStatus};
use serde_json::{Value, json};
use store::Store;

use crate::support::Bench;

fn edit(id: &str, fields: &Value) -> String {
    let mut frame = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "kind": "edit"});
    for (name, value) in fields.as_object().into_iter().flatten() {
        frame[name] = value.clone();
    }
    format!("update {frame}\n")
}

fn diff(new: &str) -> Value {
    json!([{"type": "diff", "path": "a.rs", "oldText": "one\n", "newText": new}])
}

#[tokio::test]
async fn s_031_a_diff_is_in_no_list_and_is_there_when_it_is_asked_for() -> Result<()> {
    let mut bench = Bench::new().await?;
    let prompt = edit("e1", &json!({"title": "Edit", "content": diff("SENTINEL\n")}))
        + &edit("e1", &json!({"status": "completed"}));
    let card = bench.task(&prompt).await?.0;
    let row = bench.until_tool(ToolStatus::Complete).await?;
    let summary = ContentSummary { files: 1, added: 1, removed: 1, ..ContentSummary::default() };
    assert_eq!(row.metadata.content, Some(summary));
    bench.until_state(SessionState::WaitingForInput).await?;
    let page = bench.page(&card).await?;
    let lists = serde_json::to_string(&page.messages[1..])? + &serde_json::to_string(&row)?;
    assert!(!lists.contains("SENTINEL"), "{lists}");

    let content = bench.engine.tool_content(row.session_id, row.id).await?;
    let [ContentPart::Diff(diff)] = &content.parts[..] else { panic!("{content:?}") };
    assert_eq!(diff.hunks[0].lines[1].text, "SENTINEL");
    let prompt = page.messages.first().context("no prompt")?.id;
    let none = bench.engine.tool_content(row.session_id, prompt).await;
    assert_eq!(none.err().map(|err| err.code), Some(ErrorCode::NotFound));
    Ok(())
}

#[tokio::test]
async fn s_024_what_an_agent_says_of_an_edit_long_after_keeps_its_diff() -> Result<()> {
    let mut bench = Bench::new().await?;
    let first =
        edit("e1", &json!({"title": "Edit", "content": diff("two\n"), "status": "completed"}));
    let (card, session_id) = bench.task(&first).await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let text = json!([{"type": "content", "content": {"type": "text", "text": "Done."}}]);
    let others: String =
        (0..8).map(|n| edit(&format!("x{n}"), &json!({"status": "completed"}))).collect();
    let late = others + &edit("e1", &json!({"content": text}));
    bench.engine.prompt(card.id, session_id, late, None).await?;
    let row = bench
        .until_message(|row| row.metadata.content.as_ref().is_some_and(|content| content.bytes > 0))
        .await?;
    let content = bench.engine.tool_content(session_id, row.id).await?;
    assert!(matches!(content.parts[..], [ContentPart::Diff(_), ContentPart::Text { .. }]));
    Ok(())
}

#[tokio::test]
async fn a_draft_outlives_the_server_and_ends_with_the_prompt_that_it_becomes() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let open = || Store::open(&dir.path().join("store"), &store::Options::default());
    let mut bench = Bench::on(open()?).await?;
    let (card, session_id) = bench.task("say one").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    bench.engine.set_draft(session_id, "say tw".into()).await?;
    bench.engine.shutdown().await;
    drop(bench);

    let bench = Bench::on(open()?).await?;
    assert_eq!(bench.page(&card).await?.draft, "say tw");
    let snapshot = bench.engine.session_snapshot(session_id, None).await?;
    assert_eq!(snapshot.draft.as_deref(), Some("say tw"));
    bench.engine.prompt(card.id, session_id, "other words".into(), None).await?;
    assert_eq!(bench.page(&card).await?.draft, "say tw", "it is not what was sent");
    bench.engine.prompt(card.id, session_id, "say two".into(), None).await?;
    assert_eq!(bench.page(&card).await?.draft, "");

    let gone = bench.engine.set_draft(model::SessionId::from_bytes([9; 16]), "x".into()).await;
    assert_eq!(gone.err().map(|err| err.code), Some(ErrorCode::NotFound));
    let long = bench.engine.set_draft(session_id, "x".repeat(600 * 1024)).await;
    assert_eq!(long.err().map(|err| err.code), Some(ErrorCode::ValidationError));
    Ok(())
}
