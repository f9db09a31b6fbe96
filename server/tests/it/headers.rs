//! what a browser may do with our responses.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use http::{StatusCode, header::CONTENT_SECURITY_POLICY};

use crate::support::TestServer;

/// The nonce that a policy names.
fn nonce(policy: &str) -> Result<&str> {
    let rest = policy.split_once("'nonce-").context("no nonce")?.1;
    Ok(rest.split_once('\'').context("an open nonce")?.0)
}

#[tokio::test]
async fn q_004_scripts_run_by_the_nonce_of_their_page_only() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let mut nonces = BTreeSet::new();
    for path in ["/login", "/", "/nothing", "/"] {
        let page = server.get(path).header("cookie", &cookie).send().await?;
        let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str()?.to_owned();
        for part in [
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "'wasm-unsafe-eval'",
        ] {
            assert!(policy.contains(part), "{part} in {policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");

        let nonce = nonce(&policy)?;
        assert!(nonces.insert(nonce.to_owned()), "the same nonce twice");
        let html = page.text().await?;
        let scripts: Vec<_> =
            html.split("<script").skip(1).filter_map(|it| it.split('>').next()).collect();
        assert!(scripts.len() >= 2, "boot state and start: {html}");
        for script in scripts {
            let is_data = script.contains("application/json");
            let has_nonce = script.contains(&format!("nonce=\"{nonce}\""));
            assert!(is_data || has_nonce, "{path}: <script{script}>");
        }
        assert!(!html.contains("<style") && !html.contains(" style="), "{path}: inline style");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_004_every_response_is_hardened() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let get = |path: &str| server.get(path).header("cookie", &cookie);
    let responses = [
        (StatusCode::OK, get("/")),
        (StatusCode::OK, get("/health")),
        (StatusCode::OK, get("/assets/kandev-1.js")),
        (StatusCode::OK, get("/api/v1/auth/sessions")),
        (StatusCode::NOT_FOUND, get("/assets/nothing")),
        (StatusCode::NOT_FOUND, get("/api/v1/nothing")),
        (StatusCode::NOT_FOUND, get("/nothing")),
        (StatusCode::SEE_OTHER, server.get("/")),
        (StatusCode::UNAUTHORIZED, server.get("/ws")),
        (StatusCode::METHOD_NOT_ALLOWED, server.post("/health").header("cookie", &cookie)),
        (StatusCode::MISDIRECTED_REQUEST, get("/").header("host", "evil.example")),
        (StatusCode::PAYLOAD_TOO_LARGE, server.post("/fn/x").body("x".repeat(3 << 20))),
    ];
    for (status, request) in responses {
        let response = request.send().await?;
        let url = response.url().clone();
        assert_eq!(response.status(), status, "{url}");
        let has = |name: &str, value: &str| {
            let found = response.headers().get(name).and_then(|found| found.to_str().ok());
            assert!(found.is_some_and(|found| found.contains(value)), "{url}: {name}: {found:?}");
        };
        has("content-security-policy", "default-src 'none'");
        has("content-security-policy", "frame-ancestors 'none'");
        has("x-content-type-options", "nosniff");
        has("referrer-policy", "no-referrer");
        has("cross-origin-opener-policy", "same-origin");
        has("permissions-policy", "camera=()");
        has(
            "cache-control",
            if url.path() == "/assets/kandev-1.js" { "immutable" } else { "no-store" },
        );
    }
    server.shutdown().await;
    Ok(())
}
