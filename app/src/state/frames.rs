//! The frames of `/ws` as this end writes and reads them.

use model::{
    ApiError, ErrorCode,
    wire::{Frame, FrameType, Notification, Request},
};
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
    let Frame { id, kind, action, payload, .. } = serde_json::from_str(text).ok()?;
    let id = id.and_then(|id| id.parse().ok());
    match kind {
        FrameType::Response => Some(Incoming::Answer { id: id?, result: Ok(payload) }),
        FrameType::Error => Some(Incoming::Answer { id: id?, result: Err(api_error(payload)) }),
        FrameType::Notification => {
            let tagged = serde_json::json!({ "action": action, "payload": payload });
            serde_json::from_value(tagged).ok().map(|news| Incoming::News(Box::new(news)))
        }
        FrameType::Request => None,
    }
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
    use model::SessionId;
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
