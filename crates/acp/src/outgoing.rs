//! The frames that we send, as lines of JSON.

use std::path::Path;

use model::OptionKind;
use serde_json::{Value, json};

/// The parameters of `initialize`: no client terminals, no file access (S-002).
pub(crate) fn initialize() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
            "_meta": {"terminal_output": true},
        },
        "clientInfo": {
            "name": "kandev",
            "title": "Kandev",
            "version": env!("CARGO_PKG_VERSION"),
        },
    })
}

/// The one version that is spoken.
pub(crate) const PROTOCOL_VERSION: u64 = 1;

/// The names of what we send.
pub(crate) mod method {
    pub(crate) const INITIALIZE: &str = "initialize";
    pub(crate) const NEW: &str = "session/new";
    pub(crate) const LOAD: &str = "session/load";
    pub(crate) const RESUME: &str = "session/resume";
    pub(crate) const PROMPT: &str = "session/prompt";
    pub(crate) const CANCEL: &str = "session/cancel";
}

/// The parameters of `session/load` and of `session/resume`.
pub(crate) fn old_session(agent_session: &str, cwd: &Path) -> Value {
    json!({"sessionId": agent_session, "cwd": cwd.to_string_lossy(), "mcpServers": []})
}

pub(crate) fn new_session(cwd: &Path) -> Value {
    json!({"cwd": cwd.to_string_lossy(), "mcpServers": []})
}

/// The method that sets an option, and its parameters.
pub(crate) fn set_option(
    agent_session: &str,
    kind: OptionKind,
    id: &str,
    value: &str,
) -> (&'static str, Value) {
    match kind {
        OptionKind::Mode => {
            ("session/set_mode", json!({"sessionId": agent_session, "modeId": value}))
        }
        OptionKind::Model => {
            ("session/set_model", json!({"sessionId": agent_session, "modelId": value}))
        }
        OptionKind::Config => (
            "session/set_config_option",
            json!({"sessionId": agent_session, "configId": id, "value": value}),
        ),
    }
}

pub(crate) fn prompt(agent_session: &str, text: &str) -> Value {
    json!({"sessionId": agent_session, "prompt": [{"type": "text", "text": text}]})
}

pub(crate) fn cancel(agent_session: &str) -> Value {
    json!({"sessionId": agent_session})
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(crate) fn notification(method: &str, params: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

pub(crate) fn result(id: &Value, result: &Value) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> String {
    line(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

fn line(frame: &Value) -> String {
    let mut line = frame.to_string();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_client_protocol_schema::v1;

    #[test]
    fn every_frame_is_one_line() {
        let frame = notification("session/cancel", &prompt("s", "a\nb\r\nc"));
        assert_eq!(frame.matches('\n').count(), 1);
        assert!(frame.ends_with('\n'));
    }

    #[test]
    fn s_002_the_schema_reads_what_we_send() {
        let init: v1::InitializeRequest = serde_json::from_value(initialize()).unwrap();
        assert!(!init.client_capabilities.terminal);
        let new: v1::NewSessionRequest =
            serde_json::from_value(new_session(Path::new("/tmp/x"))).unwrap();
        assert_eq!(new.cwd, Path::new("/tmp/x"));
        let prompt: v1::PromptRequest = serde_json::from_value(prompt("s", "hi")).unwrap();
        assert_eq!(prompt.prompt.len(), 1);
        let outcome = crate::PermissionOutcome::Selected { option_id: "once".into() };
        let answer: v1::RequestPermissionResponse =
            serde_json::from_value(outcome.into_result()).unwrap();
        assert!(matches!(answer.outcome, v1::RequestPermissionOutcome::Selected(_)));
    }
}
