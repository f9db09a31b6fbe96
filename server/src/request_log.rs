//! One line for each request: method, path, status, time. Never a query, a header or a body.

use std::time::Instant;

use axum::{extract::Request, middleware::Next, response::Response};

pub(crate) async fn log(request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let began = Instant::now();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    let ms = began.elapsed().as_millis();
    if response.status().is_server_error() {
        tracing::warn!(%method, path, status, ms, "request");
    } else {
        tracing::debug!(%method, path, status, ms, "request");
    }
    response
}
