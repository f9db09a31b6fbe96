//! Pages, rendered by the server, and the server functions that their forms call.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use engine::Route;
use http::{
    HeaderValue, Method, StatusCode,
    header::{ALLOW, CONTENT_SECURITY_POLICY},
};
use leptos::{nonce::Nonce, prelude::provide_context, server_fn::axum::get_server_fn_service};
use model::{BootState, ErrorCode, Page};

use crate::{AppState, Problem, headers::page_policy};

/// What is under these is for programs, not for people.
const NOT_PAGES: [&str; 6] = ["api", "assets", "fn", "health", "mcp", "ws"];

/// Whether a person may open this path: everything that is not for programs.
pub fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    !NOT_PAGES.contains(&first)
}

/// The page at a path; the query plays no part.
pub fn route(path: &str) -> Route {
    match path {
        "/" => Route::Board,
        "/agents" => Route::Agents,
        "/login" => Route::Login,
        _ => path
            .strip_prefix("/tasks/")
            .and_then(|id| id.parse().ok())
            .map_or(Route::NotFound, Route::Task),
    }
}

/// Every path that no other route takes.
pub(crate) async fn page(State(state): State<AppState>, request: Request) -> Response {
    if !is_page(request.uri().path()) {
        return Problem::not_found("resource").into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let allow = [(ALLOW, HeaderValue::from_static("GET, HEAD"))];
        return (StatusCode::METHOD_NOT_ALLOWED, allow).into_response();
    }
    match boot(&state, route(request.uri().path())).await {
        Ok(boot) => render(&state, boot, request).await,
        Err(problem) => problem.into_response(),
    }
}

/// The state of the page; of the page that says so where there is no such thing.
async fn boot(state: &AppState, route: Route) -> Result<BootState, Problem> {
    match state.engine.boot(route).await {
        Err(err) if err.code == ErrorCode::NotFound => {
            Ok(state.engine.boot(Route::NotFound).await?)
        }
        boot => Ok(boot?),
    }
}

async fn render(state: &AppState, boot: BootState, request: Request) -> Response {
    let nonce = Nonce::new();
    let policy = page_policy(&nonce);
    let is_missing = boot.initial_state.page == Page::NotFound;
    let (engine, assets) = (state.engine.clone(), state.site.paths());
    let context = {
        let (boot, assets) = (boot.clone(), assets.clone());
        move || {
            provide_context(nonce.clone());
            provide_context(boot.clone());
            provide_context(assets.clone());
            provide_context(engine.clone());
        }
    };
    let handler = leptos_axum::render_app_async_with_context(context, move || {
        app::shell(assets.clone(), boot.clone())
    });
    let mut response = handler(request).await;
    if is_missing && response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    match HeaderValue::try_from(policy) {
        Ok(policy) => {
            response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
            response
        }
        Err(err) => Problem::internal(&err).into_response(),
    }
}

/// `POST /fn/{endpoint}`
pub(crate) async fn server_function(State(state): State<AppState>, request: Request) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path());
    if get_server_fn_service(path, method).is_none() {
        // A tab from before an upgrade may still ask for what is gone.
        let mut problem = Problem::not_found("form");
        problem.error = problem.error.with_hint("Reload the page: Kandev may have been updated.");
        return problem.into_response();
    }
    let engine = state.engine.clone();
    let context = move || provide_context(engine.clone());
    leptos_axum::handle_server_fns_with_context(context, request).await.into_response()
}

/// Prepares the renderer; once is enough, more do no harm.
pub(crate) fn init() {
    // Listing the routes of nothing is the one public way to give Leptos its executor.
    let _no_routes = leptos_axum::generate_route_list(|| ());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_pages() {
        let id = "0199f3c1-0000-7000-8000-000000000001";
        assert_eq!(route("/"), Route::Board);
        assert_eq!(route("/login"), Route::Login);
        assert_eq!(route(&format!("/tasks/{id}")), Route::Task(id.parse().unwrap()));
        for unknown in ["/tasks", "/tasks/", "/tasks/7", "/tasks/../secret", "//", "/login/x", "*"]
        {
            assert_eq!(route(unknown), Route::NotFound, "{unknown}");
        }
    }

    #[test]
    fn what_is_for_programs_is_no_page() {
        for path in
            ["/api", "/api/v1/boot", "//api/v1/boot", "/ws", "/fn/create_task", "/assets/a.js"]
        {
            assert!(!is_page(path), "{path}");
        }
        for path in ["/", "/tasks/1", "/login", "/wsx", "/anything/api"] {
            assert!(is_page(path), "{path}");
        }
    }
}
