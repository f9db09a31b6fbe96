//! The frames of `/ws` as this end writes and reads them.

use model::{
    ApiError, ErrorCode,
    wire::{Frame, FrameType, Notification, Request},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What came from the server.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// The answer to the request of this id.
    Answer {
        /// The request's id.
        id: u64,
        /// Its payload, or why there is none.
        result: Result<Value, ApiError>,
    },
    /// Something that nobody asked for.
    News(Box<Notification>),
}

/// The text of a request.
pub fn write(id: u64, request: &Request) -> String {
    let mut frame = serde_json::to_value(request).unwrap_or_default();
    if let Value::Object(fields) = &mut frame {
        fields.insert("id".into(), id.to_string().into());
        fields.insert("type".into(), "request".into());
    }
    frame.to_string()
}

/// Reads a frame; none for one that an older page cannot understand.
pub fn read(text: &str) -> Option<Incoming> {
    let Frame { id, kind, action, payload, .. } = parse(text)?;
    let id = id.and_then(|id| id.parse().ok());
    match kind {
        FrameType::Response => Some(Incoming::Answer { id: id?, result: Ok(payload) }),
        FrameType::Error => Some(Incoming::Answer { id: id?, result: Err(api_error(payload)) }),
        FrameType::Notification => notification(&action, payload).map(Box::new).map(Incoming::News),
        FrameType::Request => None,
    }
}

/// Reads a notification by its action. The derived reader of [`Notification`] does the same, by way
/// of a second copy of everything it may hold: a tenth of what a phone would have to load.
fn notification(action: &str, mut payload: Value) -> Option<Notification> {
    let rev = payload.get("rev")?.as_u64()?;
    let part = &mut payload;
    Some(match action {
        "session.message.added" => {
            Notification::MessageAdded { rev, message: take(part, "message")? }
        }
        "session.message.updated" => {
            Notification::MessageUpdated { rev, message: take(part, "message")? }
        }
        "session.state_changed" => {
            Notification::SessionStateChanged { rev, session: take(part, "session")? }
        }
        "session.draft.changed" => Notification::DraftChanged {
            rev,
            session_id: take(part, "session_id")?,
            text: take(part, "text")?,
        },
        "session.turn.started" => {
            Notification::TurnStarted { rev, session: take(part, "session")? }
        }
        "session.turn.completed" => {
            Notification::TurnCompleted { rev, session: take(part, "session")? }
        }
        "task.created" => Notification::TaskCreated { rev, task: take(part, "task")? },
        "task.updated" => Notification::TaskUpdated { rev, task: take(part, "task")? },
        "task.deleted" => Notification::TaskDeleted { rev, task_id: take(part, "task_id")? },
        "agent.updated" => Notification::AgentUpdated { rev, agent: take(part, "agent")? },
        "profiles.changed" => {
            Notification::ProfilesChanged { rev, profiles: take(part, "profiles")? }
        }
        "resync" => Notification::Resync { rev },
        _ => return None,
    })
}

fn take<T: DeserializeOwned>(payload: &mut Value, name: &str) -> Option<T> {
    serde_json::from_value(payload.get_mut(name)?.take()).ok()
}

/// Parses JSON, always by way of a [`Value`], so that there is one reader for each type.
pub fn parse<T: DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_value(serde_json::from_str(json).ok()?).ok()
}

fn api_error(payload: Value) -> ApiError {
    serde_json::from_value(payload).unwrap_or_else(|_| {
        ApiError::new(
            ErrorCode::InternalError,
            "The server refused, and its reason cannot be read.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::{SessionId, SessionState};
    use serde_json::json;

    #[test]
    fn a_request_is_one_that_the_server_reads() {
        let request = Request::AgentCancel { session_id: SessionId::from_bytes([1; 16]) };
        let frame: Frame = serde_json::from_str(&write(7, &request)).unwrap();
        assert_eq!((frame.id.as_deref(), frame.kind), (Some("7"), FrameType::Request));
        assert_eq!(Request::from_frame(&frame.action, &frame.payload).unwrap(), request);
    }

    #[test]
    fn answers_carry_their_payload_or_the_reason() {
        let frame = json!({"id": "3", "type": "response", "action": "x", "payload": {"a": 1}});
        assert_eq!(
            read(&frame.to_string()),
            Some(Incoming::Answer { id: 3, result: Ok(json!({"a": 1})) })
        );
        let error = ApiError::new(ErrorCode::Conflict, "busy");
        let frame = json!({"id": "3", "type": "error", "action": "x", "payload": error});
        assert_eq!(read(&frame.to_string()), Some(Incoming::Answer { id: 3, result: Err(error) }));
    }

    #[test]
    fn every_notification_is_read_as_it_was_written() {
        let message = samples::message(1, "text");
        let session = samples::session(SessionState::Running);
        let task = samples::card(1, "title");
        for news in [
            Notification::MessageAdded { rev: 1, message: message.clone() },
            Notification::MessageUpdated { rev: 2, message },
            Notification::SessionStateChanged { rev: 3, session: session.clone() },
            Notification::TurnStarted { rev: 4, session: session.clone() },
            Notification::DraftChanged { rev: 5, session_id: session.id, text: "half".into() },
            Notification::TurnCompleted { rev: 5, session },
            Notification::TaskCreated { rev: 6, task: task.clone() },
            Notification::TaskUpdated { rev: 7, task: task.clone() },
            Notification::TaskDeleted { rev: 8, task_id: task.id },
            Notification::AgentUpdated { rev: 8, agent: samples::agent() },
            Notification::ProfilesChanged { rev: 8, profiles: Vec::new() },
            Notification::Resync { rev: 9 },
        ] {
            // One that is new belongs in the list above.
            match &news {
                Notification::MessageAdded { .. }
                | Notification::MessageUpdated { .. }
                | Notification::SessionStateChanged { .. }
                | Notification::DraftChanged { .. }
                | Notification::TurnStarted { .. }
                | Notification::TurnCompleted { .. }
                | Notification::TaskCreated { .. }
                | Notification::TaskUpdated { .. }
                | Notification::TaskDeleted { .. }
                | Notification::AgentUpdated { .. }
                | Notification::ProfilesChanged { .. }
                | Notification::Resync { .. } => {}
            }
            let mut frame = json!(news);
            frame["type"] = json!("notification");
            assert_eq!(read(&frame.to_string()), Some(Incoming::News(Box::new(news))));
        }
    }

    #[test]
    fn notifications_are_read_and_what_is_unknown_is_passed_over() {
        let frame = json!({"type": "notification", "action": "resync", "payload": {"rev": 4}});
        assert_eq!(
            read(&frame.to_string()),
            Some(Incoming::News(Box::new(Notification::Resync { rev: 4 })))
        );
        let newer = json!({"type": "notification", "action": "task.sang", "payload": {"rev": 4}});
        assert_eq!(read(&newer.to_string()), None);
        assert_eq!(read("not json"), None);
    }
}
