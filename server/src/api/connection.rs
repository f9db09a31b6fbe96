//! What one WebSocket follows and asks, without the socket: frames in, frames out.

use std::{collections::HashSet, sync::Arc};

use engine::Engine;
use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use model::{
    ApiError, ErrorCode, SessionId,
    wire::{Frame, FrameType, MessageAdded, Notification, Request},
};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::{self, error::RecvError};

/// The most sessions that one connection follows.
const MAX_SESSIONS: usize = 64;
/// Requests of one connection that are worked on at once.
const MAX_PENDING: usize = 32;

/// What there is to say to one client: answers, and news of what it follows.
pub(super) struct Conversation {
    engine: Engine,
    told: broadcast::Receiver<Arc<Notification>>,
    following: Following,
    /// Subscribes whose answer is not there yet. News waits for them: a snapshot is as old as its
    /// revision, and after something newer it would undo it.
    subscribing: Answers,
    /// All other requests under way.
    pending: Answers,
}

type Answers = FuturesUnordered<BoxFuture<'static, Frame>>;

impl Conversation {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            told: engine.subscribe(),
            engine,
            following: Following::default(),
            subscribing: Answers::new(),
            pending: Answers::new(),
        }
    }

    /// Whether another request can be taken up.
    pub(super) fn has_room(&self) -> bool {
        self.subscribing.len() + self.pending.len() < MAX_PENDING
    }

    /// Takes up what a frame asks; the answer, if it is refused.
    pub(super) fn take_up(&mut self, text: &str) -> Result<(), Box<Frame>> {
        let asked = read(text)?;
        if let Err(error) = self.following.note(&asked.request) {
            return Err(Box::new(failure(asked.id, asked.action, &error)));
        }
        let answers = match asked.request {
            Request::BoardSubscribe { .. } | Request::SessionSubscribe { .. } => &self.subscribing,
            _ => &self.pending,
        };
        answers.push(Box::pin(answer(self.engine.clone(), asked)));
        Ok(())
    }

    /// The next frame to send; none when the engine has ended. Nothing is lost when this is
    /// dropped, but the frame has to be sent before it is called again.
    pub(super) async fn next(&mut self) -> Option<Frame> {
        loop {
            let told = tokio::select! {
                Some(frame) = self.subscribing.next() => return Some(frame),
                Some(frame) = self.pending.next() => return Some(frame),
                told = self.told.recv(), if self.subscribing.is_empty() => told,
            };
            match told {
                Ok(told) if self.following.wants(&told) => return Some(notification(&told)),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "web socket fell behind");
                    return Some(notification(&Notification::Resync { rev: self.engine.rev() }));
                }
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// What a connection follows.
#[derive(Debug, Default)]
struct Following {
    board: bool,
    sessions: HashSet<SessionId>,
}

impl Following {
    /// Notes what a request changes. Done before the request's answer is read from the store, so
    /// that nothing falls between the answer and what is told later.
    fn note(&mut self, request: &Request) -> Result<(), ApiError> {
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
    fn wants(&self, notification: &Notification) -> bool {
        match notification.session_id() {
            Some(session_id) => self.sessions.contains(&session_id),
            None => self.board,
        }
    }
}

/// A request with what ties its answer to it.
struct Asked {
    id: Option<String>,
    action: String,
    request: Request,
}

/// Reads a frame; what cannot be read is answered by the frame in `Err`.
fn read(text: &str) -> Result<Asked, Box<Frame>> {
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

/// Does what is asked; the answer's frame.
async fn answer(engine: Engine, asked: Asked) -> Frame {
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
        Request::DraftSet { session_id, text } => {
            engine.set_draft(session_id, text).await?;
            Ok(json!({}))
        }
        Request::AgentCancel { session_id } => {
            engine.cancel(session_id).await?;
            Ok(json!({}))
        }
        Request::CommandEnd { session_id, message_id } => {
            engine.end_command(session_id, message_id).await?;
            Ok(json!({}))
        }
        Request::PermissionRespond { session_id, message_id, option_id } => {
            engine.answer_permission(session_id, message_id, option_id).await?;
            Ok(json!({}))
        }
        Request::OptionSet { session_id, kind, id, value } => {
            engine.choose(session_id, kind, id, value).await?;
            Ok(json!({}))
        }
        Request::QueueRemove { session_id, message_id } => {
            payload(&engine.unqueue(session_id, message_id).await?)
        }
        Request::QueueSend { session_id, message_id } => {
            let message_id = engine.send_queued(session_id, message_id).await?;
            payload(&MessageAdded { message_id })
        }
        Request::SessionStart { session_id } => {
            let message_id = engine.start_session(session_id).await?;
            payload(&MessageAdded { message_id })
        }
        Request::AgentsList {} => payload(&engine.agents()),
        Request::AgentsScan {} => payload(&engine.scan_agents().await?),
        Request::AgentInstall { key } => {
            engine.install_agent(&key).await?;
            Ok(json!({}))
        }
        Request::AgentInstallCancel { key } => {
            engine.cancel_install(&key)?;
            Ok(json!({}))
        }
        Request::ProfileTry { profile_id } => payload(&engine.try_profile(profile_id).await?),
        Request::ProfileSave { profile_id, profile } => {
            payload(&engine.save_profile(profile_id, profile).await?)
        }
        Request::ProfileDelete { profile_id } => {
            engine.delete_profile(profile_id).await?;
            Ok(json!({}))
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
fn notification(notification: &Notification) -> Frame {
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
    use model::wire::{CustomCommand, NewTask, NewTaskAgent};

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

    #[tokio::test]
    async fn news_waits_for_the_snapshot_that_is_older() {
        let dir = tempfile::tempdir().unwrap();
        let store = store::Store::open(&dir.path().join("s"), &store::Options::default()).unwrap();
        let engine = Engine::start(store).await.unwrap();
        let mut conversation = Conversation::new(engine.clone());
        conversation
            .take_up(r#"{"id":"1","type":"request","action":"board.subscribe","payload":{}}"#)
            .unwrap();
        // The snapshot's revision is taken here, before the change.
        assert!(futures::poll!(std::pin::pin!(conversation.next())).is_pending());
        let command = CustomCommand { command_line: "true".into(), ..CustomCommand::default() };
        let new = NewTask {
            title: String::new(),
            prompt: "x".into(),
            folder: dir.path().display().to_string(),
            agent: NewTaskAgent::Custom(command),
            start: false,
        };
        engine.create_task(new).await.unwrap();

        let answer = conversation.next().await.unwrap();
        assert_eq!((answer.kind, answer.id), (FrameType::Response, Some("1".into())));
        let news = conversation.next().await.unwrap();
        assert_eq!((news.kind, news.action.as_str()), (FrameType::Notification, "task.created"));
        assert!(answer.payload["rev"].as_u64() < news.payload["rev"].as_u64());
        engine.shutdown().await;
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
