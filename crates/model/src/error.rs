//! What goes wrong, as a client hears it.

use serde::{Deserialize, Serialize};

/// The kinds of failure that a client can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The request cannot be read.
    BadRequest,
    /// There is no such thing.
    NotFound,
    /// No valid credentials.
    Unauthorized,
    /// Credentials, but not from here.
    Forbidden,
    /// A field has a value that cannot be.
    ValidationError,
    /// The state of things forbids it now.
    Conflict,
    /// Our fault.
    InternalError,
    /// No such action.
    UnknownAction,
}

impl ErrorCode {
    /// The HTTP status that says the same.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::BadRequest | Self::UnknownAction => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::ValidationError => 422,
            Self::InternalError => 500,
        }
    }
}

/// A failure: what it was, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The kind.
    pub code: ErrorCode,
    /// One sentence for a person.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The form field it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl ApiError {
    /// An error of this kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, field: None }
    }

    /// The same with a next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, about one field of a form.
    #[must_use]
    pub fn about(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}
