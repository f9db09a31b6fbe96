//! `session/update` -> event. Lenient: a field that cannot be read is as if it were not there.

use model::PlanEntry;
use serde_json::Value;
use shell_output::{FrameOrigin, ToolFrame};

use crate::{AgentEvent, offers};

/// The event in the parameters of a `session/update`; `None` when there is nothing to be read.
pub(crate) fn event(mut params: Value) -> Option<AgentEvent> {
    let update = params.get_mut("update")?.take();
    let kind = update.get("sessionUpdate")?.as_str()?;
    match kind {
        "agent_message_chunk" => text(&update).map(AgentEvent::Text),
        "agent_thought_chunk" => text(&update).map(AgentEvent::Thought),
        "user_message_chunk" => text(&update).map(AgentEvent::UserText),
        "tool_call" => ToolFrame::take(FrameOrigin::Call, update).map(AgentEvent::Tool),
        "tool_call_update" => ToolFrame::take(FrameOrigin::Update, update).map(AgentEvent::Tool),
        "plan" => Some(AgentEvent::Plan(plan(&update))),
        "available_commands_update" => Some(AgentEvent::Commands(offers::commands(&update))),
        "config_option_update" => Some(AgentEvent::Options(offers::config_options(&update))),
        "current_mode_update" => offers::current_mode(&update).map(AgentEvent::Mode),
        "usage_update" => offers::usage(&update).map(AgentEvent::Usage),
        other => Some(AgentEvent::Other { kind: other.to_owned() }),
    }
}

/// What an event is while a session is loaded: of what it tells again, only tool calls matter.
pub(crate) fn history(event: AgentEvent) -> Option<AgentEvent> {
    match event {
        AgentEvent::Tool(frame) => Some(AgentEvent::History(frame)),
        AgentEvent::Text(_)
        | AgentEvent::Thought(_)
        | AgentEvent::UserText(_)
        | AgentEvent::Plan(_) => None,
        other => Some(other),
    }
}

/// The text of a chunk; of a link its address; of a picture or a sound, that there is one.
fn text(update: &Value) -> Option<String> {
    let content = update.get("content")?;
    let field = |name: &str| content.get(name).and_then(Value::as_str);
    match field("type") {
        Some("text") | None => content.as_str().or_else(|| field("text")).map(str::to_owned),
        Some("resource_link") => field("uri").map(str::to_owned),
        Some("resource") => content.pointer("/resource/text")?.as_str().map(str::to_owned),
        Some(other) => Some(format!("[{other}]")),
    }
}

fn plan(update: &Value) -> Vec<PlanEntry> {
    let entries = update.get("entries").and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(plan_entry).collect()
}

fn plan_entry(entry: &Value) -> Option<PlanEntry> {
    let text = |name: &str| entry.get(name).and_then(Value::as_str);
    Some(PlanEntry {
        content: text("content")?.to_owned(),
        status: text("status").unwrap_or("pending").to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(update: &Value) -> Option<AgentEvent> {
        event(json!({"sessionId": "s", "update": update}))
    }

    #[test]
    fn chunks_are_told_apart_by_who_speaks() {
        let chunk = |kind: &str| {
            of(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": "hi"}}))
        };
        assert!(matches!(chunk("agent_message_chunk"), Some(AgentEvent::Text(t)) if t == "hi"));
        assert!(matches!(chunk("agent_thought_chunk"), Some(AgentEvent::Thought(t)) if t == "hi"));
        assert!(matches!(chunk("user_message_chunk"), Some(AgentEvent::UserText(t)) if t == "hi"));
    }

    #[test]
    fn a_plan_keeps_the_entries_that_can_be_read() {
        let update = json!({"sessionUpdate": "plan", "entries": [
            {"content": "one", "status": "completed", "priority": "high"},
            {"status": "x"}, {"content": "two"}
        ]});
        let Some(AgentEvent::Plan(entries)) = of(&update) else { panic!("no plan") };
        let lines: Vec<_> =
            entries.iter().map(|e| (e.content.as_str(), e.status.as_str())).collect();
        assert_eq!(lines, [("one", "completed"), ("two", "pending")]);
    }

    #[test]
    fn s_017_malformed_updates_are_nothing_and_unknown_ones_are_named() {
        for update in [
            json!(null),
            json!({"sessionUpdate": 7}),
            json!({"sessionUpdate": "agent_message_chunk"}),
            json!({"sessionUpdate": "agent_message_chunk", "content": {"text": []}}),
            json!({"sessionUpdate": "tool_call", "toolCallId": {}}),
        ] {
            assert!(of(&update).is_none(), "{update}");
        }
        let unknown = of(&json!({"sessionUpdate": "telepathy"}));
        assert!(matches!(unknown, Some(AgentEvent::Other { kind }) if kind == "telepathy"));
    }
}
