//! A server in this process, and what an attacker and a user send to it.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use http::{Method, StatusCode, header::SET_COOKIE};
use reqwest::{Client, RequestBuilder, Response, redirect::Policy};
use serde_json::{Value, json};
use server::{Config, Running, Server, assets::Site};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::{self, client::IntoClientRequest as _};

pub(crate) struct TestServer {
    running: Running,
    dir: TempDir,
    client: Client,
}

/// A site as a build makes it.
pub(crate) fn site() -> Site {
    let manifest = json!({
        "js": "kandev-1.js", "wasm": "kandev-1.wasm", "css": "kandev-1.css",
        "icons": "icons-1.svg", "favicon": "favicon-1.svg",
    });
    let files = [
        ("manifest.json", manifest.to_string()),
        ("kandev-1.js", "plain".into()),
        ("kandev-1.js.br", "brotli".into()),
        ("kandev-1.js.gz", "gzip".into()),
        ("kandev-1.wasm", "wasm".into()),
        ("kandev-1.css", "css".into()),
        ("icons-1.svg", "icons".into()),
        ("favicon-1.svg", "favicon".into()),
    ];
    Site::from_files(files.map(|(name, text)| (name.to_owned(), Bytes::from(text))))
}

/// A server of this machine on any free port.
pub(crate) fn config(dir: &TempDir) -> Config {
    Config { port: 0, site: site(), ..Config::new(dir.path().join("data")) }
}

impl TestServer {
    pub(crate) async fn start() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        Self::start_in(dir).await
    }

    async fn start_in(dir: TempDir) -> Result<Self> {
        let running = Server::start(config(&dir)).await?;
        let client = Client::builder().no_proxy().redirect(Policy::none()).build()?;
        Ok(Self { running, dir, client })
    }

    /// Ends it, and starts another one on the same data and port.
    pub(crate) async fn restart(self) -> Result<Self> {
        let Self { running, dir, client } = self;
        let port = running.addr().port();
        running.shutdown().await;
        let running = Server::start(Config { port, ..config(&dir) }).await?;
        Ok(Self { running, dir, client })
    }

    pub(crate) async fn shutdown(self) {
        self.running.shutdown().await;
    }

    pub(crate) const fn addr(&self) -> SocketAddr {
        self.running.addr()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.addr())
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.origin()))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    /// As the page sends it.
    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.request(Method::POST, path).header("origin", self.origin())
    }

    /// The token of a new link.
    pub(crate) fn link_token(&self) -> Result<String> {
        let link = self.running.one_time_link();
        let token = link.strip_prefix(&format!("{}/login#", self.origin()));
        Ok(token.with_context(|| format!("a strange link: {link}"))?.to_owned())
    }

    pub(crate) async fn spend(&self, token: &str) -> Result<Response> {
        let login = self.post("/api/v1/auth/login").json(&json!({"token": token}));
        Ok(login.send().await?)
    }

    /// What a browser holds after it opened a link: `name=value`.
    pub(crate) async fn login(&self) -> Result<String> {
        let response = self.spend(&self.link_token()?).await?;
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        let cookie = response.headers().get(SET_COOKIE).context("no cookie")?.to_str()?;
        Ok(cookie.split(';').next().context("an empty cookie")?.to_owned())
    }

    /// What scripts send.
    pub(crate) fn secret(&self) -> Result<String> {
        let secret = std::fs::read_to_string(self.dir.path().join("data/secret"))?;
        Ok(secret.trim_end().to_owned())
    }

    /// Whether a cookie still opens anything.
    pub(crate) async fn lets_in(&self, cookie: &str) -> Result<bool> {
        let response = self.get("/api/v1/auth/sessions").header("cookie", cookie).send().await?;
        Ok(response.status() == StatusCode::OK)
    }

    /// Opens `/ws` with these headers; the status of the answer.
    pub(crate) async fn upgrade(&self, headers: &[(&'static str, &str)]) -> Result<StatusCode> {
        let mut request = format!("ws://{}/ws", self.running.addr()).into_client_request()?;
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse()?);
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((_socket, response)) => Ok(response.status()),
            Err(tungstenite::Error::Http(response)) => Ok(response.status()),
            Err(err) => Err(err.into()),
        }
    }
}

/// The `code` of an error's JSON.
pub(crate) async fn code(response: Response) -> Result<String> {
    let body: Value = response.json().await?;
    Ok(body["code"].as_str().context("no code")?.to_owned())
}
