//! What one WebSocket follows and asks, without the socket: frames in, frames out.

use std::collections::HashSet;

use engine::Engine;
use model::{
    ApiError, ErrorCode, SessionId,
    wire::{Frame, FrameType, MessageAdded, Notification, Request},
};
use serde::Serialize;
use serde_json::{Value, json};

/// The most sessions that one connection follows.
const MAX_SESSIONS: usize = 64;

/// What a connection follows.
#[derive(Debug, Default)]
pub(super) struct Following {
    board: bool,
    sessions: HashSet<SessionId>,
}

impl Following {
    /// Notes what a request changes. Done before the request's answer is read from the store, so
    /// that nothing falls between the answer and what is told later.
    pub(super) fn note(&mut self, request: &Request) -> Result<(), ApiError> {
        match request {
            Request::BoardSubscribe { .. } => self.board = true,
            Request::SessionSubscribe { session_id, .. } => {
                if self.sessions.len() >= MAX_SESSIONS && !self.sessions.contains(session_id) {
                    let message =
                        format!("One connection follows at most {MAX_SESSIONS} sessions.");
                    return Err(ApiError::new(ErrorCode::Conflict, message));
                }
                self.sessions.insert(*session_id);
            }
            Request::SessionUnsubscribe { session_id } => {
                self.sessions.remove(session_id);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether this connection wants to hear it.
    pub(super) fn wants(&self, notification: &Notification) -> bool {
        match notification.session_id() {
            Some(session_id) => self.sessions.contains(&session_id),
            None => self.board,
        }
    }
}

/// A request with what ties its answer to it.
pub(super) struct Asked {
    pub(super) id: Option<String>,
    pub(super) action: String,
    pub(super) request: Request,
}

/// Reads a frame; what cannot be read is answered by the frame in `Err`.
pub(super) fn read(text: &str) -> Result<Asked, Box<Frame>> {
    let frame: Frame = serde_json::from_str(text).map_err(|err| {
        let error = ApiError::new(ErrorCode::BadRequest, format!("not a frame: {err}"));
        Box::new(failure(None, String::new(), &error))
    })?;
    let Frame { id, kind, action, payload, .. } = frame;
    if kind != FrameType::Request {
        let error = ApiError::new(ErrorCode::BadRequest, "Only requests are taken here.");
        return Err(Box::new(failure(id, action, &error)));
    }
    match Request::from_frame(&action, &payload) {
        Ok(request) => Ok(Asked { id, action, request }),
        Err(error) => Err(Box::new(failure(id, action, &error))),
    }
}

/// The answer to a request that is not taken up.
pub(super) fn refusal(asked: Asked, error: &ApiError) -> Frame {
    failure(asked.id, asked.action, error)
}

/// Does what is asked; the answer's frame.
pub(super) async fn answer(engine: Engine, asked: Asked) -> Frame {
    let Asked { id, action, request } = asked;
    match perform(&engine, request).await {
        Ok(payload) => Frame { id, kind: FrameType::Response, action, payload, timestamp: None },
        Err(error) => failure(id, action, &error),
    }
}

async fn perform(engine: &Engine, request: Request) -> Result<Value, ApiError> {
    match request {
        Request::BoardSubscribe { since } => payload(&engine.board_snapshot(since.as_ref()).await?),
        Request::SessionSubscribe { session_id, since } => {
            payload(&engine.session_snapshot(session_id, since.as_ref()).await?)
        }
        Request::SessionUnsubscribe { .. } => Ok(json!({})),
        Request::MessageList { session_id, before, limit } => {
            payload(&engine.messages(session_id, before, limit).await?)
        }
        Request::MessageAdd { task_id, session_id, content, client_message_id } => {
            let message_id = engine.prompt(task_id, session_id, content, client_message_id).await?;
            payload(&MessageAdded { message_id })
        }
        Request::AgentCancel { session_id } => {
            engine.cancel(session_id).await?;
            Ok(json!({}))
        }
        Request::PermissionRespond { session_id, message_id, option_id } => {
            engine.answer_permission(session_id, message_id, option_id).await?;
            Ok(json!({}))
        }
        Request::SessionStart { session_id } => {
            let message_id = engine.start_session(session_id).await?;
            payload(&MessageAdded { message_id })
        }
        Request::TaskCreate(new) => payload(&engine.create_task(new).await?),
        Request::TaskMove { task_id, step_id } => {
            payload(&engine.move_task(task_id, step_id).await?)
        }
        Request::TaskDelete { task_id } => {
            engine.delete_task(task_id).await?;
            Ok(json!({}))
        }
    }
}

/// The frame of a notification.
pub(super) fn notification(notification: &Notification) -> Frame {
    let tagged = serde_json::to_value(notification).unwrap_or_default();
    let action = tagged["action"].as_str().unwrap_or_default().to_owned();
    let payload = tagged.get("payload").cloned().unwrap_or_default();
    Frame { id: None, kind: FrameType::Notification, action, payload, timestamp: None }
}

fn failure(id: Option<String>, action: String, error: &ApiError) -> Frame {
    let payload = serde_json::to_value(error).unwrap_or_default();
    Frame { id, kind: FrameType::Error, action, payload, timestamp: None }
}

fn payload<T: Serialize>(value: &T) -> Result<Value, ApiError> {
    serde_json::to_value(value).map_err(|err| {
        tracing::error!(%err, "cannot write an answer");
        ApiError::new(ErrorCode::InternalError, "Something failed in the server.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (Option<String>, Value) {
        let frame = read(text).map(|_| ()).unwrap_err();
        (frame.id.clone(), frame.payload["code"].clone())
    }

    #[test]
    fn what_cannot_be_read_is_answered_with_its_id_where_it_has_one() {
        assert_eq!(code("{"), (None, json!("BAD_REQUEST")));
        assert_eq!(code("[]"), (None, json!("BAD_REQUEST")));
        let unknown = r#"{"id":"7","type":"request","action":"x.y","payload":{}}"#;
        assert_eq!(code(unknown), (Some("7".into()), json!("UNKNOWN_ACTION")));
        let unasked = r#"{"id":"8","type":"notification","action":"board.subscribe"}"#;
        assert_eq!(code(unasked), (Some("8".into()), json!("BAD_REQUEST")));
        let malformed =
            r#"{"id":"9","type":"request","action":"agent.cancel","payload":{"session_id":"1"}}"#;
        assert_eq!(code(malformed), (Some("9".into()), json!("NOT_FOUND")));
    }

    #[test]
    fn a_connection_hears_only_what_it_follows() {
        let session_id = SessionId::from_bytes([1; 16]);
        let mut following = Following::default();
        let board = Notification::Resync { rev: 1 };
        assert!(!following.wants(&board));
        following.note(&Request::BoardSubscribe { since: None }).unwrap();
        assert!(following.wants(&board));
        following.note(&Request::SessionSubscribe { session_id, since: None }).unwrap();
        assert!(following.sessions.contains(&session_id));
        following.note(&Request::SessionUnsubscribe { session_id }).unwrap();
        assert!(following.sessions.is_empty());
    }

    #[test]
    fn a_connection_follows_a_bounded_number_of_sessions() {
        let mut following = Following::default();
        let subscribe = |n: u8| Request::SessionSubscribe {
            session_id: SessionId::from_bytes([n; 16]),
            since: None,
        };
        for n in 0..64 {
            following.note(&subscribe(n)).unwrap();
        }
        assert_eq!(following.note(&subscribe(64)).unwrap_err().code, ErrorCode::Conflict);
        following.note(&subscribe(3)).unwrap();
    }
}
