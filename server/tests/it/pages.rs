//! Pages as the server renders them.

use anyhow::{Context as _, Result};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{TestServer, code};

/// The boot state in a page.
fn boot_state(html: &str) -> Result<Value> {
    let element = html.split_once("id=\"boot-state\"").context("no boot state")?.1;
    let json = element.split_once('>').context("an open tag")?.1;
    Ok(serde_json::from_str(json.split_once("</script>").context("no end")?.0)?)
}

#[tokio::test]
async fn the_first_response_is_the_whole_page() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let response = server.get("/").header("cookie", &cookie).send().await?;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
    let html = response.text().await?;
    assert!(html.starts_with("<!DOCTYPE html>"), "{html}");
    assert!(html.contains("</html>"), "{html}");
    for asset in ["kandev-1.js", "kandev-1.wasm", "kandev-1.css", "favicon-1.svg"] {
        assert!(html.contains(&format!("/assets/{asset}")), "{asset}");
    }
    let boot = boot_state(&html)?;
    let steps =
        boot["initialState"]["board"]["workflow"]["steps"].as_array().context("no steps")?;
    assert!(!steps.is_empty());
    for step in steps {
        assert!(html.contains(step["name"].as_str().context("no name")?), "{step}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn q_002_the_login_page_knows_nothing() -> Result<()> {
    let server = TestServer::start().await?;
    let html = server.get("/login").send().await?.text().await?;
    let state = &boot_state(&html)?["initialState"];
    assert_eq!(state["page"], "login");
    for secret in ["board", "task", "session"] {
        assert!(state.get(secret).is_none(), "{secret}: {state}");
    }
    for secret in ["profiles", "folders", "messages"] {
        assert_eq!(state[secret], serde_json::json!([]), "{secret}: {state}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn ids_that_name_nothing_are_not_found() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let pages = ["/tasks/7", "/tasks/%00", "/tasks/0199f3c1-0000-7000-8000-000000000001", "/tasks"];
    for page in pages {
        let response = server.get(page).header("cookie", &cookie).send().await?;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{page}");
        let html = response.text().await?;
        assert_eq!(boot_state(&html)?["initialState"]["page"], "not_found", "{page}");
    }
    for api in [
        "/api/v1/task-sessions/7",
        "/api/v1/task-sessions/0199f3c1-0000-7000-8000-000000000001",
        "/api/v1/task-sessions/7/messages/8/shell-output",
        "/api/v1/boot?path=/tasks/7",
        "/api/v1/nothing",
    ] {
        let response = server.get(api).header("cookie", &cookie).send().await?;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{api}");
        assert_eq!(code(response).await?, "NOT_FOUND", "{api}");
    }
    let put = server.request(Method::PUT, "/nothing").header("origin", server.origin());
    let put = put.header("cookie", &cookie).send().await?;
    assert_eq!(put.status(), StatusCode::METHOD_NOT_ALLOWED);
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_form_makes_a_task_and_its_text_stays_text() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let folder = tempfile::tempdir()?;
    let title = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>";
    let form = |folder: &std::path::Path| {
        let custom = json!({"custom": {"command_line": "true"}});
        let task = json!({"title": title, "prompt": title, "folder": folder, "agent": custom});
        server.post("/fn/create_task").header("cookie", &cookie).json(&json!({"task": task})).send()
    };
    let refused = form(&folder.path().join("missing")).await?;
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let error: Value = refused.json().await?;
    assert_eq!(error["field"], "folder", "{error}");

    let card: Value = form(folder.path()).await?.error_for_status()?.json().await?;
    let id = card["id"].as_str().context("no id")?;
    for page in ["/".to_owned(), format!("/tasks/{id}")] {
        let response = server.get(&page).header("cookie", &cookie).send().await?;
        assert_eq!(response.status(), StatusCode::OK, "{page}");
        let html = response.text().await?;
        assert!(html.contains("&lt;script&gt;alert(1)"), "{page}: {html}");
        assert!(
            !html.contains("<script>alert(1)") && !html.contains("<img src=x"),
            "{page}: {html}"
        );
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_form_that_is_gone_says_to_reload() -> Result<()> {
    let server = TestServer::start().await?;
    let cookie = server.login().await?;
    let gone = server.post("/fn/gone").header("cookie", &cookie).json(&json!({})).send().await?;
    assert_eq!(gone.status(), StatusCode::NOT_FOUND);
    let error: Value = gone.json().await?;
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("Reload")), "{error}");
    server.shutdown().await;
    Ok(())
}
