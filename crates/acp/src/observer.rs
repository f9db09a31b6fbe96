//! A connection of the past: what its frames meant, read as the live connection reads them.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    AgentEvent, Initialized, NewSession, PermissionKey, RpcError,
    agent::initialized,
    connection::{permission_request, stop_reason, told},
    frame::{self, Incoming},
    outgoing::method,
    update,
};

/// Follows a recorded conversation, frame by frame, in the order in which they passed.
#[derive(Debug, Default)]
pub struct Observer {
    /// The client's requests that have no answer yet, by their ids as JSON.
    asked: HashMap<String, Asked>,
    next_token: u64,
}

#[derive(Debug)]
enum Asked {
    Initialize,
    /// A session that is new, or that of this id, told again or not.
    Session {
        id: Option<String>,
        tells_history: bool,
    },
    Prompt {
        token: u64,
    },
}

/// What a frame meant.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "each is taken apart at once, and none is kept")]
pub enum Observed {
    /// The agent said who it is.
    Initialized(Initialized),
    /// The client asked to go on with this session.
    Resuming {
        /// The agent's id of it.
        agent_session: String,
    },
    /// The agent takes prompts.
    Opened(NewSession),
    /// The client sent a prompt; its end has the same token.
    Prompted {
        /// Counts from 0.
        token: u64,
        /// Its text blocks.
        text: String,
    },
    /// The client asked to stop the turn.
    Cancelled,
    /// The client answered a request for leave; without an option it was cancelled.
    Answered {
        /// Names the request.
        key: PermissionKey,
        /// The option that was chosen.
        option_id: Option<String>,
    },
    /// The agent said or did something.
    Event(AgentEvent),
}

impl Observer {
    /// A conversation of which nothing has passed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what the client sent. Frames without a meaning here are passed over.
    pub fn sent(&mut self, value: Value) -> Vec<Observed> {
        frame::frames(value).into_iter().filter_map(|frame| self.take_sent(frame)).collect()
    }

    /// Takes what the agent sent.
    pub fn received(&mut self, value: Value) -> Vec<Observed> {
        frame::frames(value).into_iter().filter_map(|frame| self.take_received(frame)).collect()
    }

    fn take_sent(&mut self, frame: Incoming) -> Option<Observed> {
        match frame {
            Incoming::Request { id, method, params } => self.asks(&id, &method, &params),
            Incoming::Notification { method, .. } if method == method::CANCEL => {
                Some(Observed::Cancelled)
            }
            Incoming::Response { id, result: Ok(result) } => {
                let outcome = result.get("outcome")?;
                let option_id = outcome.get("optionId").and_then(Value::as_str).map(str::to_owned);
                Some(Observed::Answered { key: PermissionKey(id), option_id })
            }
            _ => None,
        }
    }

    fn asks(&mut self, id: &Value, method: &str, params: &Value) -> Option<Observed> {
        let mut meant = None;
        let asked = match method {
            method::INITIALIZE => Asked::Initialize,
            method::NEW => Asked::Session { id: None, tells_history: false },
            method::LOAD | method::RESUME => {
                let id = params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
                meant = id.clone().map(|agent_session| Observed::Resuming { agent_session });
                Asked::Session { id, tells_history: method == method::LOAD }
            }
            method::PROMPT => {
                let token = self.next_token;
                self.next_token += 1;
                meant = Some(Observed::Prompted { token, text: prompt_text(params) });
                Asked::Prompt { token }
            }
            _ => return None,
        };
        self.asked.insert(id.to_string(), asked);
        meant
    }

    fn take_received(&mut self, frame: Incoming) -> Option<Observed> {
        match frame {
            Incoming::Response { id, result } => {
                let asked = self.asked.remove(&id.to_string())?;
                answer(asked, result.map_err(|error| RpcError::answered(&error)))
            }
            Incoming::Request { id, method, params } => {
                permission_request(&id, &method, &params).map(Observed::Event)
            }
            Incoming::Notification { method, params } => {
                let event = told(&method, params)?;
                let event = if self.is_told_again() { update::history(event)? } else { event };
                Some(Observed::Event(event))
            }
            Incoming::Oversized { .. } => None,
        }
    }

    fn is_told_again(&self) -> bool {
        let tells = |asked: &Asked| matches!(asked, Asked::Session { tells_history: true, .. });
        self.asked.values().any(tells)
    }
}

fn answer(asked: Asked, result: Result<Value, RpcError>) -> Option<Observed> {
    match asked {
        Asked::Initialize => initialized(&result.ok()?).ok().map(Observed::Initialized),
        Asked::Session { id, .. } => {
            let answer = result.ok()?;
            NewSession::read(&answer, id.as_deref()).map(Observed::Opened)
        }
        Asked::Prompt { token } => {
            let result = result.map(|answer| stop_reason(&answer));
            Some(Observed::Event(AgentEvent::PromptEnded { token, result }))
        }
    }
}

fn prompt_text(params: &Value) -> String {
    let blocks = params.get("prompt").and_then(Value::as_array);
    let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StopReason;
    use serde_json::json;

    fn update(update: &Value) -> Value {
        json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
    }

    fn call() -> Value {
        update(&json!({"sessionUpdate": "tool_call", "toolCallId": "a", "kind": "execute"}))
    }

    #[test]
    fn s_026_what_is_read_before_the_answer_to_a_load_is_history() {
        let mut observer = Observer::new();
        let load = json!({"id": 1, "method": "session/load", "params": {"sessionId": "s"}});
        let resuming = observer.sent(load);
        assert!(
            matches!(&resuming[..], [Observed::Resuming { agent_session }] if agent_session == "s")
        );
        let told_again = observer.received(call());
        assert!(matches!(&told_again[..], [Observed::Event(AgentEvent::History(_))]));
        let text =
            update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"text": "x"}}));
        assert!(observer.received(text).is_empty());
        let opened = observer.received(json!({"id": 1, "result": null}));
        assert!(matches!(&opened[..], [Observed::Opened(session)] if session.id == "s"));
        assert!(matches!(&observer.received(call())[..], [Observed::Event(AgentEvent::Tool(_))]));
    }

    #[test]
    fn s_026_a_load_that_fails_tells_nothing_again() {
        let mut observer = Observer::new();
        observer.sent(json!({"id": 1, "method": "session/load", "params": {"sessionId": "s"}}));
        assert!(observer.received(json!({"id": 1, "error": {"code": -32603}})).is_empty());
        assert!(matches!(&observer.received(call())[..], [Observed::Event(AgentEvent::Tool(_))]));
    }

    #[test]
    fn a_prompt_and_its_end_have_one_token() {
        let mut observer = Observer::new();
        let prompt = json!({"id": "p", "method": "session/prompt", "params": {
            "prompt": [{"type": "text", "text": "hi"}]
        }});
        let sent = observer.sent(prompt);
        assert!(matches!(&sent[..], [Observed::Prompted { token: 0, text }] if text == "hi"));
        let ended = observer.received(json!({"id": "p", "result": {"stopReason": "end_turn"}}));
        let [Observed::Event(AgentEvent::PromptEnded { token: 0, result })] = &ended[..] else {
            panic!("{ended:?}")
        };
        assert_eq!(result.as_ref().ok(), Some(&StopReason::EndTurn));
        let cancel = observer.sent(json!({"method": "session/cancel", "params": {}}));
        assert!(matches!(&cancel[..], [Observed::Cancelled]));
    }

    #[test]
    fn s_017_frames_without_a_meaning_are_passed_over() {
        let mut observer = Observer::new();
        for frame in
            [json!(null), json!(7), json!([]), json!([1, {}]), json!({"id": 9, "result": 1})]
        {
            assert!(observer.sent(frame.clone()).is_empty(), "{frame}");
            assert!(observer.received(frame.clone()).is_empty(), "{frame}");
        }
    }
}
