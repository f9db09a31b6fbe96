//! REST handlers. Ids that cannot be ids are 404, like ids of nothing.

use axum::{
    Json,
    extract::{
        Path, Query, State,
        rejection::{JsonRejection, PathRejection, QueryRejection},
    },
};
use http::StatusCode;
use model::{
    Board, BootState, MessageId, SessionId, ShellSnapshot, TaskCard, TaskId, ToolContent,
    wire::{MessageAdded, MessagePage, NewTask, SessionSnapshot},
};
use serde::Deserialize;

use crate::{AppState, Problem, pages};

type Answer<T> = Result<Json<T>, Problem>;
type Body<T> = Result<Json<T>, JsonRejection>;
type Params<T> = Result<Query<T>, QueryRejection>;
/// The ids in a path.
type Ids<T> = Result<Path<T>, PathRejection>;

#[derive(Deserialize)]
pub(super) struct BootQuery {
    /// The path of the page.
    path: String,
}

/// What a page starts from, for a browser that is already here.
pub(super) async fn boot(
    State(state): State<AppState>,
    query: Params<BootQuery>,
) -> Answer<BootState> {
    let Query(BootQuery { path }) = query?;
    let route = pages::route(&path);
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
    let Json(new) = body?;
    Ok((StatusCode::CREATED, Json(state.engine.create_task(new).await?)))
}

pub(super) async fn delete_task(
    State(state): State<AppState>,
    path: Ids<TaskId>,
) -> Result<StatusCode, Problem> {
    state.engine.delete_task(ids(path, "task")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn session(
    State(state): State<AppState>,
    path: Ids<SessionId>,
) -> Answer<SessionSnapshot> {
    Ok(Json(state.engine.session_snapshot(ids(path, "session")?, None).await?))
}

#[derive(Deserialize)]
pub(super) struct PageQuery {
    before: Option<u64>,
    limit: Option<u32>,
}

pub(super) async fn messages(
    State(state): State<AppState>,
    path: Ids<SessionId>,
    query: Params<PageQuery>,
) -> Answer<MessagePage> {
    let session_id = ids(path, "session")?;
    let Query(PageQuery { before, limit }) = query?;
    Ok(Json(state.engine.messages(session_id, before, limit).await?))
}

#[derive(Deserialize)]
pub(super) struct AddMessage {
    task_id: String,
    content: String,
    #[serde(default)]
    client_message_id: Option<String>,
}

pub(super) async fn add_message(
    State(state): State<AppState>,
    path: Ids<SessionId>,
    body: Body<AddMessage>,
) -> Result<(StatusCode, Json<MessageAdded>), Problem> {
    let session_id = ids(path, "session")?;
    let Json(AddMessage { task_id, content, client_message_id }) = body?;
    let task_id = id(&task_id, "task")?;
    let message_id = state.engine.prompt(task_id, session_id, content, client_message_id).await?;
    Ok((StatusCode::CREATED, Json(MessageAdded { message_id })))
}

/// S-033. A message that is elsewhere and one that is no shell command look the same.
pub(super) async fn shell_output(
    State(state): State<AppState>,
    path: Ids<(SessionId, MessageId)>,
) -> Answer<ShellSnapshot> {
    let (session_id, message_id) = ids(path, "shell output")?;
    Ok(Json(state.engine.shell_output(session_id, message_id).await?))
}

/// A message that is elsewhere and one that has no content look the same.
pub(super) async fn tool_content(
    State(state): State<AppState>,
    path: Ids<(SessionId, MessageId)>,
) -> Answer<ToolContent> {
    let (session_id, message_id) = ids(path, "content")?;
    Ok(Json(state.engine.tool_content(session_id, message_id).await?))
}

pub(super) async fn cancel(
    State(state): State<AppState>,
    path: Ids<SessionId>,
) -> Result<StatusCode, Problem> {
    state.engine.cancel(ids(path, "session")?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
pub(super) struct PermissionAnswer {
    message_id: String,
    option_id: String,
}

pub(super) async fn permission(
    State(state): State<AppState>,
    path: Ids<SessionId>,
    body: Body<PermissionAnswer>,
) -> Result<StatusCode, Problem> {
    let session_id = ids(path, "session")?;
    let Json(PermissionAnswer { message_id, option_id }) = body?;
    let message_id = id(&message_id, "message")?;
    state.engine.answer_permission(session_id, message_id, option_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The ids in a path, if all of them can be ids.
fn ids<T>(path: Ids<T>, what: &str) -> Result<T, Problem> {
    path.map(|Path(ids)| ids).map_err(|_| Problem::not_found(what))
}

/// An id in a body, which names what it is for.
fn id<I: std::str::FromStr>(text: &str, what: &str) -> Result<I, Problem> {
    text.parse().map_err(|_| Problem::not_found(what))
}
