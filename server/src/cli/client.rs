//! Talks to the server that has a data directory.

use std::{path::Path, time::Duration};

use http::{Method, header::HOST};
use model::ApiError;
use serde::{Serialize, de::DeserializeOwned};
use store::lock::{self, Holder};

use super::token;
use crate::{admin::BackupRequest, auth::NewLink, secret::AccessToken};

/// A backup of a large store takes a while.
const TIMEOUT: Duration = Duration::from_secs(600);

pub(super) struct Client {
    runtime: tokio::runtime::Runtime,
    http: reqwest::Client,
    address: String,
    token: AccessToken,
}

/// Why the server did not do it.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClientError {
    #[error("no server runs on {0}: start one with `kandev serve`, or name the right --data-dir")]
    NotRunning(String),
    #[error("the server ({0}) is starting or ending: try again in a moment")]
    NoAddress(Holder),
    #[error("the server at {address} does not answer ({source}): try again, or restart it")]
    Unreachable { address: String, source: reqwest::Error },
    #[error(
        "the server at {0} was started with another token: set KANDEV_TOKEN to the one that it has"
    )]
    OtherToken(String),
    #[error("the server refused: {} {}", .0.message, .0.hint.as_deref().unwrap_or_default())]
    Refused(ApiError),
    #[error("the server answered {0}: restart it, it may be of another version")]
    Unexpected(String),
}

impl Client {
    /// Finds the server of a data directory. Its lock says who has it, so a token is never sent to
    /// a program that took over a port.
    pub(super) fn connect(dir: &Path) -> Result<Self, super::Failure> {
        let holder =
            lock::holder(dir).ok_or_else(|| ClientError::NotRunning(dir.display().to_string()))?;
        let Some(address) = holder.address.clone() else {
            return Err(ClientError::NoAddress(holder).into());
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let http = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).build()?;
        Ok(Self { runtime, http, address, token: token(dir)? })
    }

    /// Makes another one-time link.
    pub(super) fn create_link(&self) -> Result<NewLink, ClientError> {
        self.post("/api/v1/auth/links", &())
    }

    /// Has a backup written to an absolute path.
    pub(super) fn backup(&self, request: &BackupRequest) -> Result<BackupRequest, ClientError> {
        self.post("/api/v1/admin/backup", request)
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.runtime.block_on(async {
            let unreachable =
                |source| ClientError::Unreachable { address: self.address.clone(), source };
            let response = self
                .http
                .request(Method::POST, format!("{}{path}", self.address))
                .header(HOST, self.own_host())
                .bearer_auth(self.token.expose())
                .json(body)
                .send()
                .await
                .map_err(unreachable)?;
            let status = response.status();
            let body = response.bytes().await.map_err(unreachable)?;
            if status.is_success() {
                return serde_json::from_slice(&body)
                    .map_err(|_| ClientError::Unexpected("with something else".into()));
            }
            Err(match serde_json::from_slice(&body) {
                _ if status == http::StatusCode::UNAUTHORIZED => {
                    ClientError::OtherToken(self.address.clone())
                }
                Ok(error) => ClientError::Refused(error),
                Err(_) => ClientError::Unexpected(status.to_string()),
            })
        })
    }

    /// A name that every server answers to, at whatever address it listens.
    fn own_host(&self) -> String {
        let port = self.address.rsplit_once(':').map_or("", |(_, port)| port);
        format!("localhost:{port}")
    }
}
