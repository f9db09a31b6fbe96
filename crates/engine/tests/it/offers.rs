//! What an agent offers, and what a person chooses of it.

use anyhow::{Context as _, Result};
use model::{ErrorCode, Offers, OptionKind, SessionState, TaskCard, Usage, wire::Notification};
use serde_json::json;

use crate::support::Bench;

async fn offers(bench: &Bench, card: &TaskCard) -> Result<Offers> {
    Ok(bench.page(card).await?.session.context("no session")?.offers)
}

fn told(notification: &Notification) -> Option<Offers> {
    match notification {
        Notification::SessionStateChanged { session, .. }
        | Notification::TurnStarted { session, .. }
        | Notification::TurnCompleted { session, .. } => Some(session.offers.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn k_042_a_mode_that_is_chosen_is_the_agents_and_is_shown() -> Result<()> {
    let mut bench = Bench::new().await?;
    let (card, session_id) = bench.task("say one").await?;
    bench.until_state(SessionState::WaitingForInput).await?;
    let before = offers(&bench, &card).await?;
    let mode = before.option(OptionKind::Mode, "mode").context("no modes")?;
    let other = mode.choices.iter().find(|choice| choice.value != mode.value).context("one")?;
    let choose = |value: &str| {
        bench.engine.choose(session_id, OptionKind::Mode, "mode".into(), value.into())
    };
    let refused = choose("telepathy").await;
    assert_eq!(refused.err().map(|err| err.code), Some(ErrorCode::ValidationError));
    choose(&other.value).await?;
    let is_other = |offers: &Offers| {
        offers.option(OptionKind::Mode, "mode").is_some_and(|mode| mode.value == other.value)
    };
    bench.until(|heard| told(heard).filter(is_other)).await?;
    assert!(is_other(&offers(&bench, &card).await?));
    bench.engine.prompt(card.id, session_id, "mode".into(), None).await?;
    let said = format!("Mode: {}\n", other.value);
    bench.until_message(|message| message.content == said).await?;
    Ok(())
}

#[tokio::test]
async fn k_042_k_043_what_an_agent_offers_comes_and_goes_with_it() -> Result<()> {
    let mut bench = Bench::new().await?;
    let commands = json!({"sessionUpdate": "available_commands_update", "availableCommands": [
        {"name": "plan", "description": "Plans", "input": {"hint": "what"}}]});
    let usage = json!({"sessionUpdate": "usage_update", "used": 5, "size": 10});
    let options = json!({"sessionUpdate": "config_option_update", "configOptions": [
        {"id": "effort", "name": "Effort", "type": "select", "currentValue": "low",
            "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]});
    let prompt = format!("update {commands}\nupdate {usage}\nupdate {options}\nsay one");
    let (card, session_id) = bench.task(&prompt).await?;
    let has_all = |offers: &Offers| {
        !offers.commands.is_empty() && offers.usage.is_some() && offers.options.len() == 2
    };
    let found = bench.until(|heard| told(heard).filter(has_all)).await?;
    assert_eq!(
        (&*found.commands[0].name, found.usage),
        ("plan", Some(Usage { used: 5, size: 10 }))
    );
    assert_eq!(found.options[0].id, "effort");
    bench.engine.prompt(card.id, session_id, "crash".into(), None).await?;
    bench.until_state(SessionState::Failed).await?;
    assert!(offers(&bench, &card).await?.is_empty());
    let choice =
        bench.engine.choose(session_id, OptionKind::Config, "effort".into(), "high".into());
    assert_eq!(choice.await.err().map(|err| err.code), Some(ErrorCode::Conflict));
    Ok(())
}
