//! who gets in, and who does not.

use anyhow::{Context as _, Result};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{TestServer, code};

#[tokio::test]
async fn q_002_without_credentials_nothing_opens_but_the_way_in() -> Result<()> {
    let server = TestServer::start().await?;
    for page in ["/", "/tasks/0199f3c1-0000-7000-8000-000000000001", "/nothing", "/login/x"] {
        let response = server.get(page).send().await?;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "{page}");
        assert_eq!(response.headers()[header::LOCATION], "/login", "{page}");
    }
    for api in ["/api/v1/boot?path=/", "/api/v1/auth/sessions", "/api/v1/nothing", "/ws", "/mcp"] {
        let response = server.get(api).send().await?;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{api}");
        assert_eq!(code(response).await?, "UNAUTHORIZED", "{api}");
    }
    for post in ["/fn/create_task", "/api/v1/tasks", "/api/v1/auth/links", "/api/v1/admin/backup"] {
        let response = server.post(post).json(&json!({})).send().await?;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{post}");
    }
    for open in ["/health", "/login", "/assets/kandev-1.js"] {
        assert_eq!(server.get(open).send().await?.status(), StatusCode::OK, "{open}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_link_lets_one_browser_in_once() -> Result<()> {
    let server = TestServer::start().await?;
    let token = server.link_token()?;
    let first = server.spend(&token).await?;
    assert_eq!(first.status(), StatusCode::NO_CONTENT);
    let cookie = first.headers()[header::SET_COOKIE].to_str()?.to_owned();
    let port = server.origin().rsplit(':').next().context("no port")?.to_owned();
    assert!(cookie.starts_with(&format!("kandev_{port}=")), "{cookie}");
    for attribute in ["; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=7776000"] {
        assert!(cookie.contains(attribute), "{attribute} in {cookie}");
    }
    assert!(!cookie.contains(&token) && !cookie.contains(&server.secret()?));

    let stolen = server.spend(&token).await?;
    assert_eq!(stolen.status(), StatusCode::UNAUTHORIZED);
    assert!(!stolen.headers().contains_key(header::SET_COOKIE));
    assert!(stolen.text().await?.contains("kandev link"));
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_cookie_behind_tls_stays_behind_tls() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let allow_hosts = vec!["kandev.example:443".parse()?];
    let config = server::Config { allow_hosts, ..crate::support::config(&dir) };
    let running = server::Server::start(config).await?;
    let link = running.one_time_link();
    let token = link.strip_prefix("https://kandev.example/login#").context(link.clone())?;
    let login = reqwest::Client::builder().no_proxy().build()?;
    let login = login.post(format!("http://{}/api/v1/auth/login", running.addr()));
    let login = login.header("host", "kandev.example").header("origin", "https://kandev.example");
    let response = login.json(&json!({"token": token})).send().await?;
    assert!(response.headers()[header::SET_COOKIE].to_str()?.ends_with("; Secure"));
    running.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_no_token_is_taken_from_an_address() -> Result<()> {
    let server = TestServer::start().await?;
    let (link, secret) = (server.link_token()?, server.secret()?);
    for token in [&link, &secret] {
        for path in ["/", "/login", "/api/v1/boot"] {
            let path = format!("{path}?token={token}&access_token={token}");
            let response = server.get(&path).send().await?;
            assert!(!response.headers().contains_key(header::SET_COOKIE), "{path}");
            let login_page = path.starts_with("/login");
            assert_eq!(response.status() == StatusCode::OK, login_page, "{path}");
        }
    }
    assert_eq!(server.spend(&link).await?.status(), StatusCode::NO_CONTENT);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_tampered_cookie_opens_nothing() -> Result<()> {
    let server = TestServer::start().await?;
    let (one, other) = (server.login().await?, server.login().await?);
    let (name, value) = one.split_once('=').context("no value")?;
    let (id, secret) = value.split_once('.').context("no secret")?;
    let other_secret = other.split_once('.').context("no secret")?.1;
    for forged in [
        format!("{name}={id}.{other_secret}"),
        format!("{name}={id}."),
        format!("{name}={id}"),
        format!("{name}={id}.{}", secret.to_uppercase()),
        format!("{name}=.{secret}"),
        format!("{name}="),
        format!("kandev_1={value}"),
        format!("{name}={}", server.secret()?),
    ] {
        assert!(!server.lets_in(&forged).await?, "{forged}");
    }
    // Beside one that another server of this machine set, the right one still counts.
    assert!(server.lets_in(&format!("{name}=x.y; {one}")).await?);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_sessions_are_listed_and_revocable() -> Result<()> {
    let server = TestServer::start().await?;
    let (desk, phone) = (server.login().await?, server.login().await?);
    let list = server.get("/api/v1/auth/sessions").header("cookie", &desk).send().await?;
    let list: Value = list.json().await?;
    let sessions = list["sessions"].as_array().context("no list")?;
    assert_eq!(sessions.len(), 2);
    assert!(!list.to_string().contains(desk.split_once('.').context("no secret")?.1));
    let other = sessions.iter().find(|session| session["current"] == false).context("no other")?;
    let path = format!("/api/v1/auth/sessions/{}", other["id"].as_str().context("no id")?);
    let revoke = || {
        server
            .request(Method::DELETE, &path)
            .header("cookie", &desk)
            .header("origin", server.origin())
    };
    assert_eq!(revoke().send().await?.status(), StatusCode::NO_CONTENT);
    assert!(!server.lets_in(&phone).await?);
    assert!(server.lets_in(&desk).await?);
    assert_eq!(revoke().send().await?.status(), StatusCode::NOT_FOUND);
    let server = server.restart().await?;
    assert!(!server.lets_in(&phone).await?);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_logout_ends_the_session_and_the_cookie() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let response = server.post("/api/v1/auth/logout").header("cookie", &cookie).send().await?;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert!(response.headers()[header::SET_COOKIE].to_str()?.contains("=; Path=/; Max-Age=0;"));
    assert!(!server.lets_in(&cookie).await?);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_restart_keeps_sessions_and_ends_links() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, link, secret) = (server.login().await?, server.link_token()?, server.secret()?);
    let server = server.restart().await?;
    assert!(server.lets_in(&cookie).await?);
    assert_eq!(server.spend(&link).await?.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(server.secret()?, secret);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_scripts_send_the_token() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, secret) = (server.login().await?, server.secret()?);
    let with = |token: &str| server.get("/api/v1/auth/sessions").bearer_auth(token).send();
    assert_eq!(with(&secret).await?.status(), StatusCode::OK);
    assert_eq!(with(&secret[1..]).await?.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(with("").await?.status(), StatusCode::UNAUTHORIZED);
    // A wrong token is not saved by a right cookie: with a token no Origin is asked for.
    let both = server.get("/api/v1/auth/sessions").bearer_auth("wrong").header("cookie", &cookie);
    assert_eq!(both.send().await?.status(), StatusCode::UNAUTHORIZED);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_only_the_command_line_makes_links_and_backups() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, secret) = (server.login().await?, server.secret()?);
    for path in ["/api/v1/auth/links", "/api/v1/admin/backup"] {
        let body = json!({"path": "/nowhere/at/all"});
        let response = server.post(path).header("cookie", &cookie).json(&body).send().await?;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path}");
    }
    let link = server.post("/api/v1/auth/links").bearer_auth(secret).send().await?;
    let link: Value = link.json().await?;
    let token = link["url"].as_str().and_then(|url| url.split_once('#')).context("no link")?.1;
    assert_eq!(server.spend(token).await?.status(), StatusCode::NO_CONTENT);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_guessing_is_slowed_down() -> Result<()> {
    let server = TestServer::start().await?;
    let (cookie, good) = (server.login().await?, server.link_token()?);
    for n in 0..10 {
        assert_eq!(server.spend("guess").await?.status(), StatusCode::UNAUTHORIZED, "{n}");
    }
    let limited = server.spend(&good).await?;
    assert_eq!(limited.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = limited.headers()[header::RETRY_AFTER].to_str()?.parse()?;
    assert!((1..=60).contains(&wait), "{wait}");
    let script = server.get("/api/v1/auth/sessions").bearer_auth(server.secret()?).send().await?;
    assert_eq!(script.status(), StatusCode::TOO_MANY_REQUESTS);
    // Who is in stays in.
    assert!(server.lets_in(&cookie).await?);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_a_link_from_another_site_finds_the_browser_logged_in() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let open = |site: &'static str| {
        let request = server.get("/").header("sec-fetch-site", site);
        request.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document")
    };
    // A Strict cookie is kept back at first, and sent when our own page asks again.
    let first = open("cross-site").send().await?;
    assert_eq!(first.status(), StatusCode::OK);
    assert!(first.text().await?.contains("http-equiv=\"refresh\""));
    let again = open("same-origin").header("cookie", cookie).send().await?;
    assert_eq!(again.status(), StatusCode::OK);
    let stranger = open("same-origin").send().await?;
    assert_eq!(stranger.status(), StatusCode::SEE_OTHER);
    server.shutdown().await;
    Ok(())
}
