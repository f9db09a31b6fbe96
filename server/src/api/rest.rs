//! REST handlers. Ids that cannot be ids are 404, like ids of nothing.

use axum::{
    Json,
    extract::{Path, Query, State, rejection::JsonRejection},
};
use http::StatusCode;
use model::{
    ApiError, Board, BootState, ErrorCode, MessageId, ShellSnapshot, TaskCard, TaskId,
    wire::{MessageAdded, MessagePage, NewTask, SessionSnapshot},
};
use serde::Deserialize;

use crate::{AppState, Problem, pages};

type Answer<T> = Result<Json<T>, Problem>;
type Body<T> = Result<Json<T>, JsonRejection>;

#[derive(Deserialize)]
pub(super) struct BootQuery {
    /// The path of the page.
    path: String,
}

/// What a page starts from, for a browser that is already here.
pub(super) async fn boot(
    State(state): State<AppState>,
    Query(query): Query<BootQuery>,
) -> Answer<BootState> {
    let route = pages::route(&query.path);
    if route == engine::Route::NotFound {
        return Err(Problem::not_found("page"));
    }
    Ok(Json(state.engine.boot(route).await?))
}

pub(super) async fn board(State(state): State<AppState>) -> Answer<Board> {
    let snapshot = state.engine.board_snapshot(None).await?;
    snapshot.board.map(Json).ok_or_else(|| Problem::not_found("board"))
}

pub(super) async fn create_task(
    State(state): State<AppState>,
    body: Body<NewTask>,
) -> Result<(StatusCode, Json<TaskCard>), Problem> {
    Ok((StatusCode::CREATED, Json(state.engine.create_task(read(body)?).await?)))
}

pub(super) async fn delete_task(
    State(state): State<AppState>,
    Path(task_id): Path<String>,
) -> Result<StatusCode, Problem> {
    state.engine.delete_task(id(&task_id, "task")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn session(
    State(state): State<AppState>,
    Path(session_id): Path<String>,
) -> Answer<SessionSnapshot> {
    Ok(Json(state.engine.session_snapshot(id(&session_id, "session")?, None).await?))
}

#[derive(Deserialize)]
pub(super) struct PageQuery {
    before: Option<u64>,
    limit: Option<u32>,
}

pub(super) async fn messages(
    State(state): State<AppState>,
    Path(session_id): Path<String>,
    Query(PageQuery { before, limit }): Query<PageQuery>,
) -> Answer<MessagePage> {
    Ok(Json(state.engine.messages(id(&session_id, "session")?, before, limit).await?))
}

#[derive(Deserialize)]
pub(super) struct AddMessage {
    task_id: TaskId,
    content: String,
    #[serde(default)]
    client_message_id: Option<String>,
}

pub(super) async fn add_message(
    State(state): State<AppState>,
    Path(session_id): Path<String>,
    body: Body<AddMessage>,
) -> Result<(StatusCode, Json<MessageAdded>), Problem> {
    let AddMessage { task_id, content, client_message_id } = read(body)?;
    let session_id = id(&session_id, "session")?;
    let message_id = state.engine.prompt(task_id, session_id, content, client_message_id).await?;
    Ok((StatusCode::CREATED, Json(MessageAdded { message_id })))
}

/// S-033. A message that is elsewhere and one that is no shell command look the same.
pub(super) async fn shell_output(
    State(state): State<AppState>,
    Path((session_id, message_id)): Path<(String, String)>,
) -> Answer<ShellSnapshot> {
    let session_id = id(&session_id, "shell output")?;
    Ok(Json(state.engine.shell_output(session_id, id(&message_id, "shell output")?).await?))
}

pub(super) async fn cancel(
    State(state): State<AppState>,
    Path(session_id): Path<String>,
) -> Result<StatusCode, Problem> {
    state.engine.cancel(id(&session_id, "session")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
pub(super) struct PermissionAnswer {
    message_id: MessageId,
    option_id: String,
}

pub(super) async fn permission(
    State(state): State<AppState>,
    Path(session_id): Path<String>,
    body: Body<PermissionAnswer>,
) -> Result<StatusCode, Problem> {
    let PermissionAnswer { message_id, option_id } = read(body)?;
    let session_id = id(&session_id, "session")?;
    state.engine.answer_permission(session_id, message_id, option_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn id<I: std::str::FromStr>(text: &str, what: &str) -> Result<I, Problem> {
    text.parse().map_err(|_| Problem::not_found(what))
}

fn read<T>(body: Body<T>) -> Result<T, Problem> {
    body.map(|Json(value)| value).map_err(|rejection| {
        let problem = ApiError::new(ErrorCode::BadRequest, rejection.body_text());
        Problem::from(problem).with_status(rejection.status())
    })
}
