//! The state of one connection: who waits for which answer, and what each frame means for it.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use shell_output::{FrameOrigin, ToolFrame};
use tokio::sync::{mpsc, oneshot};

use crate::{
    AgentEvent, Closed, PermissionKey, PermissionOutcome, RpcError, StopReason,
    error::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND},
    fragment::Fragment,
    frame::{self, Incoming},
    lines::Line,
    outgoing::{
        self,
        method::{CANCEL, LOAD, PROMPT},
    },
    permission, update,
};

/// One agent's connection.
pub(crate) struct Connection {
    outgoing: mpsc::Sender<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next_id: u64,
    pending: HashMap<u64, Pending>,
    /// Ids of requests for leave that have no answer yet.
    asks: HashSet<Value>,
    /// No answer will come any more.
    closed: bool,
}

/// Who waits for an answer.
enum Pending {
    Call { method: &'static str, reply: oneshot::Sender<Result<Value, RpcError>> },
    Prompt { token: u64 },
}

impl Connection {
    /// A connection that sends its lines, line feeds included, to `outgoing`.
    pub(crate) fn new(outgoing: mpsc::Sender<String>) -> Self {
        Self { outgoing, state: Mutex::default() }
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        params: &Value,
    ) -> Result<Value, RpcError> {
        let (reply, answer) = oneshot::channel();
        self.request(method, params, Pending::Call { method, reply })?;
        answer.await.unwrap_or_else(|_| Err(RpcError::ended(method)))
    }

    /// Sends a prompt; its answer is an event, so that it stays in order with the updates.
    pub(crate) fn prompt(&self, agent_session: &str, text: &str, token: u64) -> Result<(), Closed> {
        let params = outgoing::prompt(agent_session, text);
        self.request(PROMPT, &params, Pending::Prompt { token })
    }

    /// Asks to stop the turn. Every request for leave that is open is answered as cancelled, as
    /// the protocol wants.
    pub(crate) fn cancel(&self, agent_session: &str) -> Result<(), Closed> {
        let params = outgoing::cancel(agent_session);
        self.send(outgoing::notification(CANCEL, &params))?;
        let asks: Vec<_> = self.state().asks.drain().collect();
        let cancelled = PermissionOutcome::Cancelled.into_result();
        asks.iter().try_for_each(|ask| self.send(outgoing::result(ask, &cancelled)))
    }

    /// Answers a request for leave; one that has its answer keeps it.
    pub(crate) fn respond(
        &self,
        PermissionKey(id): PermissionKey,
        outcome: PermissionOutcome,
    ) -> Result<(), Closed> {
        if !self.state().asks.remove(&id) {
            return Ok(());
        }
        self.send(outgoing::result(&id, &outcome.into_result()))
    }

    /// Takes a line of the agent; what the engine has to hear of it.
    pub(crate) fn receive(&self, line: &Line) -> Vec<AgentEvent> {
        let frames = frame::read(line);
        if frames.is_empty() {
            tracing::debug!("an agent's line is no JSON-RPC");
        }
        frames.into_iter().filter_map(|frame| self.take(frame)).collect()
    }

    /// No answer will come any more: fails what waits for one.
    pub(crate) fn close(&self) -> Vec<AgentEvent> {
        let mut state = self.state();
        state.closed = true;
        let ended = |pending| match pending {
            // The caller sees that its answer was dropped.
            Pending::Call { .. } => None,
            Pending::Prompt { token } => {
                Some(AgentEvent::PromptEnded { token, result: Err(RpcError::ended(PROMPT)) })
            }
        };
        state.pending.drain().filter_map(|(_, pending)| ended(pending)).collect()
    }

    fn take(&self, frame: Incoming) -> Option<AgentEvent> {
        match frame {
            Incoming::Response { id, result } => {
                self.settle(&id, |_| result.map_err(|error| RpcError::answered(&error)))
            }
            Incoming::Request { id, method, params } => self.asked(id, &method, &params),
            Incoming::Notification { method, params } => {
                let event = told(&method, params)?;
                if self.is_told_again() { update::history(event) } else { Some(event) }
            }
            Incoming::Oversized { frame, bytes } => self.oversized(frame, bytes),
        }
    }

    /// Hands an answer to whom it belongs; `answer` is given the method.
    fn settle(
        &self,
        id: &Value,
        answer: impl FnOnce(&str) -> Result<Value, RpcError>,
    ) -> Option<AgentEvent> {
        let number = id.as_u64().or_else(|| id.as_str()?.parse().ok());
        let pending = number.and_then(|number| self.state().pending.remove(&number));
        match pending {
            Some(Pending::Call { method, reply }) => {
                // The caller may have given up waiting.
                reply.send(answer(method)).ok();
                None
            }
            Some(Pending::Prompt { token }) => {
                let result = answer(PROMPT).map(|result| stop_reason(&result));
                Some(AgentEvent::PromptEnded { token, result })
            }
            None => {
                tracing::warn!("an agent answered what nobody asked");
                None
            }
        }
    }

    fn asked(&self, id: Value, method: &str, params: &Value) -> Option<AgentEvent> {
        let event = permission_request(&id, method, params);
        match &event {
            Some(_) => {
                self.state().asks.insert(id);
            }
            None if method == REQUEST_PERMISSION => {
                tracing::warn!("an agent asks leave without a possible answer");
                self.refuse(&id, INVALID_PARAMS, "no options");
            }
            None => {
                tracing::debug!(method, "an agent asks for what is not offered");
                self.refuse(&id, METHOD_NOT_FOUND, "method not found");
            }
        }
        event
    }

    /// Whether the agent tells a session again: until its load is answered.
    fn is_told_again(&self) -> bool {
        let loads = |pending: &Pending| matches!(pending, Pending::Call { method: LOAD, .. });
        self.state().pending.values().any(loads)
    }

    fn oversized(&self, frame: Fragment, bytes: u64) -> Option<AgentEvent> {
        tracing::warn!(bytes, "an agent's line is too long to be read");
        match (frame.id, frame.has_method) {
            (Some(id), false) => self.settle(&id, |method| Err(RpcError::too_large(method, bytes))),
            (Some(id), true) => {
                self.refuse(&id, INVALID_REQUEST, "the request is too large");
                None
            }
            (None, _) => None,
        }
    }

    fn request(&self, method: &str, params: &Value, pending: Pending) -> Result<(), Closed> {
        let id = {
            let mut state = self.state();
            if state.closed {
                return Err(Closed::Ended);
            }
            let id = state.next_id;
            state.next_id += 1;
            state.pending.insert(id, pending);
            id
        };
        self.send(outgoing::request(id, method, params)).inspect_err(|_| {
            self.state().pending.remove(&id);
        })
    }

    fn refuse(&self, id: &Value, code: i64, message: &str) {
        if let Err(err) = self.send(outgoing::error(id, code, message)) {
            tracing::warn!(%err, "an agent's request stays without an answer");
        }
    }

    /// Queues a line. Never waits: the reader sends too, and must not depend on the agent reading.
    fn send(&self, line: String) -> Result<(), Closed> {
        self.outgoing.try_send(line).map_err(|err| match err {
            mpsc::error::TrySendError::Full(_) => Closed::Stalled,
            mpsc::error::TrySendError::Closed(_) => Closed::Ended,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const REQUEST_PERMISSION: &str = "session/request_permission";

/// A request for leave, if it is one and can be answered.
pub(crate) fn permission_request(id: &Value, method: &str, params: &Value) -> Option<AgentEvent> {
    if method != REQUEST_PERMISSION {
        return None;
    }
    let options = permission::options(params);
    if options.is_empty() {
        return None;
    }
    let tool_call = params.get("toolCall");
    let tool = tool_call.and_then(|call| ToolFrame::parse(FrameOrigin::Permission, call));
    Some(AgentEvent::Permission { key: PermissionKey(id.clone()), tool, options })
}

pub(crate) fn told(method: &str, params: Value) -> Option<AgentEvent> {
    if method != "session/update" {
        tracing::debug!(method, "an agent's notification has no meaning here");
        return None;
    }
    let event = update::event(params);
    if event.is_none() {
        tracing::warn!("an agent's update cannot be read");
    }
    event
}

pub(crate) fn stop_reason(result: &Value) -> StopReason {
    result.get("stopReason").and_then(Value::as_str).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn connection() -> (Connection, mpsc::Receiver<String>) {
        let (outgoing, sent) = mpsc::channel(4);
        (Connection::new(outgoing), sent)
    }

    fn receive(connection: &Connection, frame: &Value) -> Vec<AgentEvent> {
        connection.receive(&Line::Whole(frame.to_string().into_bytes()))
    }

    fn sent(queue: &mut mpsc::Receiver<String>) -> Value {
        serde_json::from_str(&queue.try_recv().unwrap()).unwrap()
    }

    fn ask(id: &Value) -> Value {
        json!({"id": id, "method": "session/request_permission", "params": {
            "sessionId": "another", "options": [{"optionId": "once", "kind": "allow_once"}]
        }})
    }

    #[test]
    fn a_prompts_answer_is_an_event_with_its_token() {
        let (connection, mut queue) = connection();
        connection.prompt("s", "hi", 42).unwrap();
        let id = sent(&mut queue)["id"].clone();
        let events = receive(&connection, &json!({"id": id, "result": {"stopReason": "refusal"}}));
        assert!(matches!(
            &events[..],
            [AgentEvent::PromptEnded { token: 42, result: Ok(StopReason::Refusal) }]
        ));
    }

    #[test]
    fn an_id_that_comes_back_as_text_is_still_ours() {
        let (connection, mut queue) = connection();
        connection.prompt("s", "hi", 1).unwrap();
        let id = sent(&mut queue)["id"].to_string();
        assert_eq!(receive(&connection, &json!({"id": id, "result": {}})).len(), 1);
    }

    #[test]
    fn a_request_for_leave_is_answered_once_whatever_its_id() {
        for id in [json!(7), json!("seven"), json!(null)] {
            let (connection, mut queue) = connection();
            let events = receive(&connection, &ask(&id));
            let [AgentEvent::Permission { key, .. }] = &events[..] else { panic!("{events:?}") };
            let outcome = PermissionOutcome::Selected { option_id: "once".into() };
            connection.respond(key.clone(), outcome.clone()).unwrap();
            connection.respond(key.clone(), outcome).unwrap();
            let answer = json!({"outcome": {"outcome": "selected", "optionId": "once"}});
            assert_eq!(sent(&mut queue), json!({"jsonrpc": "2.0", "id": id, "result": answer}));
            assert!(queue.try_recv().is_err());
        }
    }

    #[test]
    fn a_cancel_answers_what_is_open() {
        let (connection, mut queue) = connection();
        receive(&connection, &ask(&json!(7)));
        connection.cancel("s").unwrap();
        assert_eq!(sent(&mut queue)["method"], "session/cancel");
        assert_eq!(sent(&mut queue)["result"], json!({"outcome": {"outcome": "cancelled"}}));
    }

    #[test]
    fn s_002_what_is_not_offered_is_refused() {
        let methods = ["fs/read_text_file", "fs/write_text_file", "terminal/create", "x/y"];
        for method in methods {
            let (connection, mut queue) = connection();
            assert!(receive(&connection, &json!({"id": "q", "method": method})).is_empty());
            let answer = sent(&mut queue);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("q"), &json!(-32601)));
        }
    }

    #[test]
    fn s_017_a_request_for_leave_without_options_is_refused() {
        let (connection, mut queue) = connection();
        let events = receive(
            &connection,
            &json!({"id": 1, "method": "session/request_permission", "params": 5}),
        );
        assert!(events.is_empty());
        assert_eq!(sent(&mut queue)["error"]["code"], -32602);
    }

    #[test]
    fn an_answer_that_is_too_large_fails_its_request() {
        let (connection, mut queue) = connection();
        connection.prompt("s", "hi", 3).unwrap();
        let id = sent(&mut queue)["id"].clone();
        let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"a"#).into_bytes();
        let events = connection.receive(&Line::Cut { head, tail: Vec::new(), bytes: 99 });
        let [AgentEvent::PromptEnded { token: 3, result: Err(err) }] = &events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(err.kind, crate::RpcErrorKind::TooLarge);
    }

    #[test]
    fn a_full_queue_and_an_ended_agent_are_told_apart() {
        let (connection, queue) = connection();
        for token in 0..4 {
            connection.prompt("s", "hi", token).unwrap();
        }
        assert_eq!(connection.prompt("s", "hi", 4), Err(Closed::Stalled));
        assert_eq!(connection.close().len(), 4, "the one that was not sent does not wait");
        drop(queue);
        assert_eq!(connection.cancel("s"), Err(Closed::Ended));
        assert_eq!(connection.prompt("s", "hi", 5), Err(Closed::Ended));
    }

    /// A frame of each kind that an agent sends.
    fn frames() -> Vec<String> {
        let update =
            |update: Value| json!({"method": "session/update", "params": {"update": update}});
        let content = json!({"type": "text", "text": "hi SMILE"});
        let frames = [
            ask(&json!(5)),
            json!({"id": 0, "result": {"stopReason": "end_turn"}}),
            json!({"id": 0, "error": {"code": -32603, "message": "x", "data": {"details": "y"}}}),
            update(json!({"sessionUpdate": "agent_message_chunk", "content": content})),
            update(json!({"sessionUpdate": "plan", "entries": [{"content": "a"}]})),
            update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t",
                "content": [{"type": "content", "content": content}],
                "_meta": {"terminal_exit": {"exit_code": 4, "signal": null}}})),
        ];
        frames.iter().map(|frame| frame.to_string().replace("SMILE", r"\ud83d\ude00")).collect()
    }

    proptest! {
        #[test]
        fn s_017_no_bytes_panic(bytes: Vec<u8>, tail: Vec<u8>) {
            let (connection, _queue) = connection();
            connection.receive(&Line::Whole(bytes.clone()));
            connection.receive(&Line::Cut { head: bytes, tail, bytes: 1 << 30 });
        }

        #[test]
        fn s_017_no_damaged_frame_panics_or_loses_the_next(
            frame in prop::sample::select(frames()), at: prop::sample::Index,
            damage in prop::collection::vec(any::<u8>(), 0..8), removed in 0_usize..20
        ) {
            let (connection, mut queue) = connection();
            connection.prompt("s", "hi", 3).unwrap();
            let id = sent(&mut queue)["id"].clone();
            let mut bytes = frame.into_bytes();
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + removed);
            bytes.splice(at..end, damage);
            let first = connection.receive(&Line::Whole(bytes.clone()));
            let (head, tail) = bytes.split_at(at.min(bytes.len()));
            let cut = Line::Cut { head: head.to_vec(), tail: tail.to_vec(), bytes: 1 << 30 };
            let second = connection.receive(&cut);
            let third = receive(&connection, &json!({"id": id, "result": {}}));
            let ends = [first, second, third].into_iter().flatten();
            let ends = ends.filter(|event| matches!(event, AgentEvent::PromptEnded { .. }));
            prop_assert_eq!(ends.count(), 1);
        }
    }
}
