//! What the command line asks of a running server.

use std::path::PathBuf;

use axum::{
    Extension, Json, Router,
    extract::{State, rejection::JsonRejection},
    routing,
};
use model::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

use crate::{AppState, Problem, auth::Caller};

/// Where to put a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BackupRequest {
    /// Absolute; nothing is there yet.
    pub(crate) path: PathBuf,
}

pub(crate) fn routes() -> Router<AppState> {
    Router::new().route("/api/v1/admin/backup", routing::post(backup))
}

/// Writes a file anywhere this user may: for this user's own programs only.
async fn backup(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    body: Result<Json<BackupRequest>, JsonRejection>,
) -> Result<Json<BackupRequest>, Problem> {
    caller.require_script()?;
    let Json(BackupRequest { path }) = body?;
    if !path.is_absolute() || path.exists() {
        let message = "A backup needs an absolute path where nothing is yet.";
        return Err(ApiError::new(ErrorCode::ValidationError, message).about("path").into());
    }
    let (store, target) = (state.engine.store().clone(), path.clone());
    tokio::task::spawn_blocking(move || store.backup_to(&target))
        .await
        .map_err(|err| Problem::internal(&err))?
        .map_err(|err| Problem::from(ApiError::new(ErrorCode::Conflict, err.to_string())))?;
    Ok(Json(BackupRequest { path }))
}
