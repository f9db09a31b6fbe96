//! All routes, and the layers around them.

use axum::{Router, middleware, response::IntoResponse as _, routing};
use tower_http::{catch_panic::CatchPanicLayer, limit::RequestBodyLimitLayer};

use crate::{AppState, Problem, admin, api, assets, auth, guard, headers, pages, request_log};

/// The largest request body, in bytes.
const MAX_BODY: usize = 2 << 20; // 2 MiB

/// Everything that is served. The last layer is the outermost.
pub(crate) fn router(state: AppState) -> Router {
    Router::new()
        .route("/health", routing::get(|| async { "ok" }))
        .route("/assets/{name}", routing::get(assets::asset))
        .route("/login", routing::get(pages::page))
        .route("/fn/{*endpoint}", routing::post(pages::server_function))
        .merge(auth::routes())
        .merge(admin::routes())
        .merge(api::router())
        .fallback(pages::page)
        .layer(middleware::from_fn_with_state(state.clone(), auth::require))
        .layer(middleware::from_fn_with_state(state.clone(), guard::guard))
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(CatchPanicLayer::custom(|_panic| {
            Problem::internal(&HandlerPanicked).into_response()
        }))
        .layer(middleware::from_fn(headers::secure))
        .layer(middleware::from_fn(request_log::log))
        .with_state(state)
}

/// The panic hook has already said where.
#[derive(Debug, thiserror::Error)]
#[error("a request's handler panicked")]
struct HandlerPanicked;
