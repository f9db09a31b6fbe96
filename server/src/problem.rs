//! Failures as HTTP responses.

use axum::{
    Json,
    extract::rejection::{JsonRejection, QueryRejection},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::RETRY_AFTER};
use model::{ApiError, ErrorCode};

/// An [`ApiError`] with its status; the body is the error as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The response's status.
    pub status: StatusCode,
    /// What the client is told.
    pub error: ApiError,
    /// Seconds until it is worth another try.
    pub retry_after: Option<u64>,
}

impl Problem {
    /// 404: there is no such thing.
    pub fn not_found(what: &str) -> Self {
        ApiError::new(ErrorCode::NotFound, format!("There is no such {what}.")).into()
    }

    /// 401: no valid credentials.
    pub fn unauthorized() -> Self {
        ApiError::new(ErrorCode::Unauthorized, "You are not logged in.")
            .with_hint("Open a link from `kandev link`, or send the token from `kandev token`.")
            .into()
    }

    /// 403: credentials that do not reach this far, or a request from another site.
    pub fn forbidden(message: impl Into<String>) -> Self {
        ApiError::new(ErrorCode::Forbidden, message).into()
    }

    /// 500: logged here, named nowhere else.
    pub fn internal(err: &dyn std::error::Error) -> Self {
        tracing::error!(%err, "request failed");
        ApiError::new(ErrorCode::InternalError, "Something failed in the server.")
            .with_hint("Its log has the details.")
            .into()
    }

    /// 429 with `Retry-After`.
    pub fn too_many_attempts(seconds: u64) -> Self {
        let error = ApiError::new(ErrorCode::Forbidden, "Too many failed attempts.")
            .with_hint(format!("Try again in {seconds} s."));
        Self { status: StatusCode::TOO_MANY_REQUESTS, error, retry_after: Some(seconds) }
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        Self { status: status_of(error.code), error, retry_after: None }
    }
}

/// A body that cannot be read keeps its status: what is wrong may be its size or its type.
impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let error = ApiError::new(ErrorCode::BadRequest, rejection.body_text());
        Self::from(error).with_status(rejection.status())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        ApiError::new(ErrorCode::BadRequest, rejection.body_text()).into()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.error)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The status that says the same as a code.
pub fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
