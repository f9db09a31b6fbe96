//! Permission requests: shown, answered once, void with their turn.

use anyhow::{Context as _, Result};
use model::{ErrorCode, MessageKind, MessageView, PermissionAnswer, SessionId, SessionState};

use crate::support::Bench;

async fn asked(bench: &mut Bench) -> Result<(SessionId, MessageView)> {
    let (_, session_id) = bench.task("ask git push").await?;
    let message = bench.until_message(|m| m.kind == MessageKind::PermissionRequest).await?;
    Ok((session_id, message))
}

fn answer_of(message: &MessageView) -> Option<PermissionAnswer> {
    message.metadata.permission.as_ref()?.answer.clone()
}

#[tokio::test]
async fn a_request_shows_the_command_and_its_answer_reaches_the_agent() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (session_id, message) = asked(&mut bench).await?;
    let ask = message.metadata.permission.clone().context("no request")?;
    assert_eq!((ask.subject.as_str(), ask.is_command), ("git push", true));
    let option = ask.options.iter().find(|option| option.allows()).context("nothing allows")?;

    let wrong = bench.engine.answer_permission(session_id, message.id, "no-such".into()).await;
    assert_eq!(wrong.unwrap_err().code, ErrorCode::ValidationError);
    bench.engine.answer_permission(session_id, message.id, option.id.clone()).await?;
    let again = bench.engine.answer_permission(session_id, message.id, option.id.clone()).await;
    assert_eq!(again.unwrap_err().code, ErrorCode::NotFound);

    bench.until_message(|m| m.content.contains(&option.kind)).await?;
    bench.until_state(SessionState::WaitingForInput).await
}

#[tokio::test]
async fn the_board_says_that_a_session_asks_until_it_is_answered() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (session_id, message) = asked(&mut bench).await?;
    let ask = bench
        .until(|told| match told {
            model::wire::Notification::TaskUpdated { task, .. } => {
                task.session.as_ref()?.ask.clone()
            }
            _ => None,
        })
        .await?;
    assert_eq!(ask.0, message.id);
    bench.engine.cancel(session_id).await?;
    let closed = bench.until_message(|m| m.id == message.id && answer_of(m).is_some()).await?;
    assert_eq!(answer_of(&closed), Some(PermissionAnswer::Cancelled));
    bench
        .until(|told| match told {
            model::wire::Notification::TaskUpdated { task, .. } => {
                task.session.as_ref().is_some_and(|session| session.ask.is_none()).then_some(())
            }
            _ => None,
        })
        .await
}
