//! what a log says about those who got in, and those who did not.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::TestServer;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl io::Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn q_002_no_token_reaches_a_log() -> Result<()> {
    let captured = Captured::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .try_init()
        .ok()
        .context("another test took the log")?;
    let server = TestServer::start().await?;
    let (link, secret, cookie) = (server.link_token()?, server.secret()?, server.login().await?);
    let cookie_secret = cookie.split_once('.').context("no secret")?.1;
    let guess = "a-guess-that-might-be-nearly-right";

    server.get("/").header("cookie", &cookie).send().await?;
    server.get(&format!("/?token={secret}")).send().await?;
    server.get("/api/v1/auth/sessions").bearer_auth(&secret).send().await?;
    server.get("/api/v1/auth/sessions").bearer_auth(guess).send().await?;
    server.get("/api/v1/auth/sessions").header("cookie", format!("{cookie}x")).send().await?;
    server.post("/api/v1/auth/login").body(format!("{{\"token\": {link}")).send().await?;
    server.post("/api/v1/auth/login").json(&json!({"token": [link]})).send().await?;
    server.spend(guess).await?;
    server.spend(&link).await?;
    server.upgrade(&[("cookie", &cookie), ("origin", &server.origin())]).await?;
    server.shutdown().await;

    let log = captured.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let log = String::from_utf8_lossy(&log);
    // Our own and the HTTP server's lines; the client of this test is not what is on trial.
    let lines: Vec<_> = log.lines().filter(|line| !is_clients(line)).collect();
    assert!(lines.iter().any(|line| line.contains("/api/v1/auth/login")), "no requests: {log}");
    assert!(lines.iter().any(|line| line.contains("wrong credentials")), "no attempts: {log}");
    for secret in [&link, &secret, cookie_secret, guess] {
        let told = lines.iter().find(|line| line.contains(secret));
        assert_eq!(told, None);
    }
    Ok(())
}

fn is_clients(line: &str) -> bool {
    ["tokio_tungstenite", "tungstenite::handshake::client", "reqwest", "hyper_util::client"]
        .iter()
        .any(|target| line.contains(target))
}
