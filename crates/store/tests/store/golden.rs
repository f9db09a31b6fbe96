//! Records as earlier versions wrote them: they must be read for ever.

use anyhow::{Context, Result};
use model::{AgentProcess, AgentProfile, Session, StoredMessage, Task, Turn, Workflow, Workspace};
use serde::{Serialize, de::DeserializeOwned};
use store::BrowserSession;

/// A golden file holds records of one kind: what they were written as, and, where fields were
/// added since, what that is now.
fn reads<T: Serialize + DeserializeOwned>(golden: &str) -> Result<()> {
    let records: Vec<serde_json::Value> = serde_json::from_str(golden)?;
    assert!(!records.is_empty());
    for written in records {
        let record: T = serde_json::from_value(written.clone())
            .with_context(|| format!("this record was written once: {written}"))?;
        let again = serde_json::to_value(record)?;
        assert_contains(&again, &written);
    }
    Ok(())
}

/// Everything that was written is still there; there may be more.
fn assert_contains(now: &serde_json::Value, written: &serde_json::Value) {
    match (now, written) {
        (serde_json::Value::Object(now), serde_json::Value::Object(written)) => {
            for (name, written) in written {
                assert_contains(now.get(name).unwrap_or(&serde_json::Value::Null), written);
            }
        }
        (now, written) => assert_eq!(now, written),
    }
}

#[test]
fn records_of_schema_1_are_read() -> Result<()> {
    reads::<Workspace>(include_str!("../golden/v1/workspace.json"))?;
    reads::<Workflow>(include_str!("../golden/v1/workflow.json"))?;
    reads::<Task>(include_str!("../golden/v1/task.json"))?;
    reads::<Session>(include_str!("../golden/v1/session.json"))?;
    reads::<Turn>(include_str!("../golden/v1/turn.json"))?;
    reads::<StoredMessage>(include_str!("../golden/v1/message.json"))?;
    reads::<AgentProfile>(include_str!("../golden/v1/profile.json"))?;
    reads::<AgentProcess>(include_str!("../golden/v1/process.json"))?;
    reads::<BrowserSession>(include_str!("../golden/v1/browser_session.json"))?;
    Ok(())
}
