//! Server functions: the forms. Each calls the engine's command of the same name, and nothing else.

use leptos::{
    prelude::*,
    server_fn::{
        codec::JsonEncoding,
        error::{FromServerFnError, ServerFnErrorErr},
    },
};
use model::{ApiError, ErrorCode, TaskId, wire::NewTask};
use serde::{Deserialize, Serialize};

/// Why a form was refused: the engine's own error, so that a field can say what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(transparent)]
#[error(transparent)]
pub struct FormError(pub ApiError);

impl FromServerFnError for FormError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let (code, message, hint) = match error {
            ServerFnErrorErr::Request(_) => (
                ErrorCode::InternalError,
                "Kandev cannot be reached.",
                "Your text is kept. Try again when it runs.",
            ),
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => (
                ErrorCode::BadRequest,
                "The form cannot be read.",
                "Reload the page: Kandev may have been updated.",
            ),
            _ => (
                ErrorCode::InternalError,
                "The answer cannot be read.",
                "Reload the page: Kandev may have been updated.",
            ),
        };
        Self(ApiError::new(code, message).with_hint(hint))
    }
}

/// A task that was made. The task itself comes to every page by its connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedTask {
    /// Its id.
    pub id: TaskId,
}

/// Creates a task, and starts its agent if that is asked for.
///
/// # Errors
///
/// What the engine says, with the field it is about.
#[server(prefix = "/fn", endpoint = "create_task", input = leptos::server_fn::codec::Json)]
pub async fn create_task(task: NewTask) -> Result<CreatedTask, FormError> {
    let engine: engine::Engine = expect_context();
    let card = engine.create_task(task).await.map_err(refuse)?;
    Ok(CreatedTask { id: card.id })
}

/// Gives the answer the status that fits its error.
#[cfg(feature = "ssr")]
fn refuse(error: ApiError) -> FormError {
    let status = http::StatusCode::from_u16(error.code.http_status());
    if let (Some(response), Ok(status)) = (use_context::<leptos_axum::ResponseOptions>(), status) {
        response.set_status(status);
    }
    FormError(error)
}
