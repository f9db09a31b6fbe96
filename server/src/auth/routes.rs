//! Login, logout, the list of browsers, and new links.

use std::time::Instant;

use axum::{
    Extension, Json, Router,
    extract::{FromRequest as _, Path, Request, State, rejection::PathRejection},
    response::{AppendHeaders, IntoResponse, Response},
    routing,
};
use http::{
    HeaderMap, HeaderName, StatusCode,
    header::{SET_COOKIE, USER_AGENT},
};
use model::{ApiError, ErrorCode, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Caller, LINK_LIFETIME, device, lock, peer, sessions::SESSION_SECONDS};
use crate::{AppState, Problem, clock, guard::is_https};

/// What the login page sends; the only way in for a link's token.
#[derive(Deserialize)]
struct Login {
    token: String,
}

/// A link for another browser.
#[derive(Serialize, Deserialize)]
pub(crate) struct NewLink {
    /// What to open.
    pub(crate) url: String,
    /// How long it works.
    pub(crate) expires_in_seconds: u64,
}

#[derive(Serialize)]
struct SessionList {
    sessions: Vec<ListedSession>,
}

/// A signed-in browser, without what would let another one in.
#[derive(Serialize)]
struct ListedSession {
    id: String,
    label: String,
    created_at: Timestamp,
    last_seen: Timestamp,
    /// It is the one that asks.
    current: bool,
}

pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/api/v1/auth/login", routing::post(login))
        .route("/api/v1/auth/logout", routing::post(logout))
        .route("/api/v1/auth/links", routing::post(create_link))
        .route("/api/v1/auth/sessions", routing::get(list_sessions))
        .route("/api/v1/auth/sessions/{id}", routing::delete(end_session))
}

async fn login(State(state): State<AppState>, request: Request) -> Result<Response, Problem> {
    let (peer, headers) = (peer(&request), request.headers().clone());
    let Login { token } = read_login(request, &state).await?;
    let auth = &state.auth.shared;
    state
        .auth
        .attempt(peer, || lock(&auth.links).spend(&token, Instant::now()).then_some(()))
        .map_err(|problem| match problem.status {
            StatusCode::UNAUTHORIZED => used_link(),
            _ => problem,
        })?;
    let user_agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    let label = device::label(user_agent.unwrap_or_default());
    let value =
        auth.sessions.begin(label, clock::now()).await.map_err(|err| Problem::internal(&err))?;
    Ok((StatusCode::NO_CONTENT, state.auth.set_cookie(&headers, &value, SESSION_SECONDS))
        .into_response())
}

async fn read_login(request: Request, state: &AppState) -> Result<Login, Problem> {
    let body = Json::<Login>::from_request(request, state).await;
    // What the rejection says may quote the body, and so the token.
    let Json(login) = body.map_err(|rejection| {
        let error = ApiError::new(ErrorCode::BadRequest, "This needs JSON with a token.");
        Problem::from(error).with_status(rejection.status())
    })?;
    Ok(login)
}

fn used_link() -> Problem {
    ApiError::new(ErrorCode::Unauthorized, "This link was used before, or has expired.")
        .with_hint("Run `kandev link` for another one.")
        .into()
}

async fn logout(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if let Some(id) = caller.session_id() {
        state.auth.shared.sessions.end(id).await.map_err(|err| Problem::internal(&err))?;
    }
    Ok((StatusCode::NO_CONTENT, state.auth.set_cookie(&headers, "", 0)).into_response())
}

async fn create_link(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<NewLink>, Problem> {
    caller.require_script()?;
    let url = state.auth.one_time_link();
    Ok(Json(NewLink { url, expires_in_seconds: LINK_LIFETIME.as_secs() }))
}

async fn list_sessions(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
) -> Json<SessionList> {
    let sessions = state.auth.shared.sessions.list(clock::now()).into_iter();
    let sessions = sessions.map(|session| ListedSession {
        current: caller.session_id() == Some(&session.id),
        id: session.id,
        label: session.label,
        created_at: session.created_at,
        last_seen: session.last_seen,
    });
    Json(SessionList { sessions: sessions.collect() })
}

async fn end_session(
    State(state): State<AppState>,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    let Path(id) = path.map_err(|_| Problem::not_found("session"))?;
    match state.auth.shared.sessions.end(&id).await {
        Ok(true) => Ok(StatusCode::NO_CONTENT),
        Ok(false) => Err(Problem::not_found("session")),
        Err(err) => Err(Problem::internal(&err)),
    }
}

impl super::Auth {
    fn set_cookie(
        &self,
        headers: &HeaderMap,
        value: &str,
        seconds: u64,
    ) -> AppendHeaders<[(HeaderName, String); 1]> {
        let name = &self.shared.cookie_name;
        let secure = if is_https(headers) { "; Secure" } else { "" };
        let cookie =
            format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
        AppendHeaders([(SET_COOKIE, cookie)])
    }
}
