//! other sites, and names that are not ours.

use anyhow::Result;
use http::{Method, StatusCode};
use serde_json::json;

use crate::support::{TestServer, code};

const EVIL: &str = "http://evil.example";

#[tokio::test]
async fn q_003_a_foreign_host_is_refused_on_every_kind_of_route() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, secret) = (server.login().await?, server.secret()?);
    let paths = [
        "/",
        "/login",
        "/tasks/0199f3c1-0000-7000-8000-000000000001",
        "/nothing",
        "/health",
        "/assets/kandev-1.js",
        "/assets/nothing",
        "/api/v1/boot?path=/",
        "/api/v1/auth/sessions",
        "/ws",
    ];
    for path in paths {
        let ours = server.get(path).header("cookie", &cookie).send().await?;
        assert_ne!(ours.status(), StatusCode::MISDIRECTED_REQUEST, "{path}");
        let request = server.get(path).header("host", "evil.example:80");
        let response = request.header("cookie", &cookie).bearer_auth(&secret).send().await?;
        assert_eq!(response.status(), StatusCode::MISDIRECTED_REQUEST, "{path}");
        assert_eq!(code(response).await?, "FORBIDDEN", "{path}");
    }
    let login = server.post("/api/v1/auth/login").header("host", "evil.example");
    let login = login.json(&json!({"token": server.link_token()?})).send().await?;
    assert_eq!(login.status(), StatusCode::MISDIRECTED_REQUEST);
    let form = server.post("/fn/create_task").header("host", "evil.example");
    let form = form.header("cookie", &cookie).send().await?;
    assert_eq!(form.status(), StatusCode::MISDIRECTED_REQUEST);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_003_a_websocket_of_another_site_is_refused() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, secret, origin) = (server.login().await?, server.secret()?, server.origin());
    let bearer = format!("Bearer {secret}");
    for (headers, status) in [
        (vec![("cookie", &*cookie), ("origin", &*origin)], 101),
        (vec![("authorization", &*bearer)], 101),
        (vec![("cookie", &*cookie), ("origin", EVIL)], 403),
        (vec![("cookie", &*cookie), ("origin", "null")], 403),
        (vec![("cookie", &*cookie)], 403),
        (vec![("authorization", &*bearer), ("origin", EVIL)], 403),
        (vec![("cookie", &*cookie), ("origin", &*origin), ("host", "evil.example")], 421),
        (vec![("origin", &*origin)], 401),
    ] {
        assert_eq!(server.upgrade(&headers).await?.as_u16(), status, "{headers:?}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_003_another_site_cannot_act_with_a_persons_cookie() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    for (origin, site) in [
        (Some(EVIL), None),
        (Some("null"), None),
        (None, None),
        (Some("http://localhost:1"), Some("same-site")),
        (Some(&*server.origin()), Some("cross-site")),
    ] {
        let mut request =
            server.request(Method::POST, "/api/v1/auth/logout").header("cookie", &cookie);
        for (name, value) in [("origin", origin), ("sec-fetch-site", site)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        let response = request.send().await?;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{origin:?} {site:?}");
        assert!(server.lets_in(&cookie).await?, "{origin:?} {site:?}");
    }
    let own = server.post("/api/v1/auth/logout").header("cookie", &cookie).send().await?;
    assert_eq!(own.status(), StatusCode::NO_CONTENT);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_003_another_site_cannot_log_a_browser_in() -> Result<()> {
    let server = TestServer::start().await?;
    let token = server.link_token()?;
    let login = server.request(Method::POST, "/api/v1/auth/login").header("origin", EVIL);
    let response = login.json(&json!({"token": token})).send().await?;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    assert_eq!(server.spend(&token).await?.status(), StatusCode::NO_CONTENT);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_003_another_site_can_link_to_a_page_and_embed_nothing() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    for (path, mode, dest, status) in [
        ("/", "navigate", "document", StatusCode::OK),
        ("/", "navigate", "iframe", StatusCode::FORBIDDEN),
        ("/api/v1/boot?path=/", "navigate", "document", StatusCode::FORBIDDEN),
        ("/api/v1/boot?path=/", "no-cors", "script", StatusCode::FORBIDDEN),
        ("/assets/kandev-1.js", "no-cors", "script", StatusCode::FORBIDDEN),
    ] {
        let request = server.get(path).header("cookie", &cookie);
        let request = request.header("sec-fetch-site", "cross-site");
        let request = request.header("sec-fetch-mode", mode).header("sec-fetch-dest", dest);
        assert_eq!(request.send().await?.status(), status, "{path} {mode} {dest}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_003_a_body_has_a_limit() -> Result<()> {
    let server = TestServer::start().await?;
    let body = "x".repeat((2 << 20) + 1);
    let response = server.post("/api/v1/auth/login").body(body).send().await?;
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    server.shutdown().await;
    Ok(())
}
