//! What can go wrong between us and an agent.

use std::{io, path::PathBuf};

use serde_json::Value;

/// JSON-RPC: the method does not exist or is not available.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC: the parameters do not fit the method.
pub(crate) const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC: the request cannot be taken.
pub(crate) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: something went wrong inside.
const INTERNAL_ERROR: i64 = -32603;

/// The most of an agent's error message that is kept, in characters.
const MESSAGE_CHARS: usize = 2000;

/// Why no agent was started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program is neither on the PATH nor a file that can be run.
    #[error("cannot find the program {program:?}: install it, or give its absolute path")]
    NotFound {
        /// The program, as the launch command names it.
        program: String,
    },
    /// The folder to work in is not there or is no folder.
    #[error("cannot work in {}: {source}", path.display())]
    WorkDir {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot start {program:?}: {source}")]
    Io {
        /// The program, as the launch command names it.
        program: String,
        /// What the system says.
        source: io::Error,
    },
}

/// The message was not handed to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Closed {
    /// It has ended, or is being ended.
    #[error("the agent has ended")]
    Ended,
    /// It has not read its input for so long that no more fits.
    #[error("the agent does not read its input")]
    Stalled,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// The agent's JSON-RPC code; -32603 where the failure is not the agent's answer.
    pub code: i64,
    /// One sentence; the agent's own words where it answered, at most 2000 characters.
    pub message: String,
    /// What the agent added, as it came.
    pub data: Option<Value>,
    /// Whose failure it is.
    pub kind: RpcErrorKind,
}

/// Where an [`RpcError`] comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcErrorKind {
    /// The agent answered with an error.
    Answered,
    /// The agent ended, or closed its output, before it answered.
    Ended,
    /// The agent does not read what we send.
    Stalled,
    /// The answer is longer than a line may be.
    TooLarge,
    /// The answer is not what the protocol says.
    Malformed,
}

impl RpcError {
    /// The `error` member of a response.
    pub(crate) fn answered(error: &Value) -> Self {
        let data = error.get("data").filter(|data| !data.is_null()).cloned();
        let said = match error.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => error.as_str().unwrap_or("the agent failed without a message").to_owned(),
        };
        let message = match data.as_ref().and_then(detail) {
            Some(detail) if !said.contains(detail) => format!("{said}: {detail}"),
            _ => said,
        };
        Self {
            code: error.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL_ERROR),
            message: message.chars().take(MESSAGE_CHARS).collect(),
            data,
            kind: RpcErrorKind::Answered,
        }
    }

    pub(crate) fn ended(method: &str) -> Self {
        let message = format!("the agent ended before it answered {method}");
        Self::ours(RpcErrorKind::Ended, message)
    }

    pub(crate) fn too_large(method: &str, bytes: u64) -> Self {
        let message = format!("the agent's answer to {method} is too large ({bytes} bytes)");
        Self::ours(RpcErrorKind::TooLarge, message)
    }

    pub(crate) fn malformed(method: &str, reason: &str) -> Self {
        let message = format!("the agent's answer to {method} cannot be used: {reason}");
        Self::ours(RpcErrorKind::Malformed, message)
    }

    const fn ours(kind: RpcErrorKind, message: String) -> Self {
        Self { code: INTERNAL_ERROR, message, data: None, kind }
    }
}

impl From<Closed> for RpcError {
    fn from(closed: Closed) -> Self {
        let kind = match closed {
            Closed::Ended => RpcErrorKind::Ended,
            Closed::Stalled => RpcErrorKind::Stalled,
        };
        Self::ours(kind, closed.to_string())
    }
}

/// The sentence in an error's data, which "Internal error" alone leaves out.
fn detail(data: &Value) -> Option<&str> {
    let text = data
        .as_str()
        .or_else(|| ["details", "message"].into_iter().find_map(|name| data.get(name)?.as_str()))?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_detail_completes_a_general_message_once() {
        let message = |error| RpcError::answered(&error).message;
        assert_eq!(
            message(
                json!({"code": -32603, "message": "Internal error", "data": {"details": "no key"}})
            ),
            "Internal error: no key"
        );
        assert_eq!(
            message(json!({"code": 1, "message": "bad key", "data": {"message": "bad key"}})),
            "bad key"
        );
    }

    #[test]
    fn s_017_an_error_of_any_shape_is_still_an_error() {
        for error in [json!(null), json!("boom"), json!([]), json!({"code": "x", "message": 5})] {
            let error = RpcError::answered(&error);
            assert_eq!((error.code, error.kind), (INTERNAL_ERROR, RpcErrorKind::Answered));
            assert!(!error.message.is_empty());
        }
    }
}
