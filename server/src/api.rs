//! REST under `/api/v1` and the WebSocket `/ws`: each handler is one command of the engine.

mod connection;
mod rest;
mod socket;

use axum::{Router, routing};

use crate::AppState;

/// The routes of a person's or a script's commands.
pub fn router() -> Router<AppState> {
    Router::new()
        .route("/ws", routing::get(socket::upgrade))
        .route("/api/v1/boot", routing::get(rest::boot))
        .route("/api/v1/board", routing::get(rest::board))
        .route("/api/v1/tasks", routing::post(rest::create_task))
        .route("/api/v1/tasks/{task_id}", routing::delete(rest::delete_task))
        .merge(sessions("/api/v1/task-sessions"))
        .merge(sessions("/api/v1/agent-sessions"))
}

/// A session's routes, under one of their two names.
fn sessions(base: &str) -> Router<AppState> {
    Router::new()
        .route(&format!("{base}/{{session_id}}"), routing::get(rest::session))
        .route(
            &format!("{base}/{{session_id}}/messages"),
            routing::get(rest::messages).post(rest::add_message),
        )
        .route(
            &format!("{base}/{{session_id}}/messages/{{message_id}}/shell-output"),
            routing::get(rest::shell_output),
        )
        .route(
            &format!("{base}/{{session_id}}/messages/{{message_id}}/content"),
            routing::get(rest::tool_content),
        )
        .route(&format!("{base}/{{session_id}}/cancel"), routing::post(rest::cancel))
        .route(&format!("{base}/{{session_id}}/permission"), routing::post(rest::permission))
}
