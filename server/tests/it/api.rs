//! REST and `/ws`, as a browser uses them: what they carry, and what they never do.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use futures::{SinkExt as _, StreamExt as _};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, client::IntoClientRequest as _},
};

use crate::support::{TestServer, code};

const SENTINEL: &str = "SENTINEL-91c4";

/// A browser that is in, with its socket.
struct Browser {
    server: TestServer,
    cookie: String,
    socket: WebSocketStream<TcpStream>,
    /// Every frame that came, as text.
    heard: Vec<String>,
    asked: u32,
}

impl Browser {
    async fn open() -> Result<Self> {
        let server = TestServer::start().await?;
        let cookie = server.login().await?;
        let url = format!("{}/ws", server.origin().replacen("http", "ws", 1));
        let mut request = url.into_client_request()?;
        request.headers_mut().insert("cookie", cookie.parse()?);
        request.headers_mut().insert("origin", server.origin().parse()?);
        // A slow network: what is large is still under way when the server answers.
        let stream = TcpSocket::new_v4()?;
        stream.set_send_buffer_size(4096)?;
        let stream = stream.connect(server.addr()).await?;
        let (socket, _) = tokio_tungstenite::client_async(request, stream).await?;
        Ok(Self { server, cookie, socket, heard: Vec::new(), asked: 0 })
    }

    async fn get(&self, path: &str) -> Result<(StatusCode, String)> {
        let response = self.server.get(path).header("cookie", &self.cookie).send().await?;
        Ok((response.status(), response.text().await?))
    }

    async fn send(&mut self, text: &str) -> Result<()> {
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// The next frame; a server that says nothing for long has failed.
    async fn frame(&mut self) -> Result<Value> {
        loop {
            let wait = std::time::Duration::from_secs(30);
            let message = tokio::time::timeout(wait, self.socket.next()).await?;
            match message.context("the socket closed")?? {
                Message::Text(text) => {
                    self.heard.push(text.to_string());
                    return Ok(serde_json::from_str(&text)?);
                }
                Message::Close(frame) => bail!("the socket closed: {frame:?}"),
                _ => {}
            }
        }
    }

    async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        loop {
            let frame = self.frame().await?;
            if wanted(&frame) {
                return Ok(frame);
            }
        }
    }

    /// Asks and waits for the answer's payload.
    async fn ask(&mut self, action: &str, payload: Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked.to_string();
        let frame = json!({"id": id, "type": "request", "action": action, "payload": payload});
        self.send(&frame.to_string()).await?;
        let answer = self.until(|frame| frame["id"] == id.as_str()).await?;
        if answer["type"] != "response" {
            bail!("{action}: {}", answer["payload"]);
        }
        Ok(answer["payload"].clone())
    }

    /// A task of the scripted agent; its id and its session's.
    async fn task(&mut self, prompt: &str, folder: &Path) -> Result<(String, String)> {
        let command = json!({"command_line": testkit::fake_agent()?, "name": "Fake"});
        let new = json!({
            "prompt": prompt, "folder": folder, "agent": {"custom": command}, "start": false,
        });
        let card = self.ask("task.create", new).await?;
        let id =
            |value: &Value| Ok::<_, anyhow::Error>(value.as_str().context("no id")?.to_owned());
        Ok((id(&card["id"])?, id(&card["session"]["id"])?))
    }
}

/// Whether the frame tells of a command that has ended.
fn command_ended(frame: &Value) -> bool {
    let message = &frame["payload"]["message"];
    message["type"] == "tool_execute" && message["metadata"]["status"] == "complete"
}

fn turn_ended(frame: &Value) -> bool {
    frame["action"] == "session.turn.completed"
}

#[tokio::test]
async fn s_031_s_032_a_sentinel_in_stored_output_reaches_no_browser_but_by_its_own_route()
-> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut browser = Browser::open().await?;
    // The command prints the sentinel from a file, so that no prompt and no title names it.
    std::fs::write(dir.path().join("secret.txt"), format!("{SENTINEL}\n"))?;
    let (task, session) = browser.task("shell cat secret.txt", dir.path()).await?;
    browser.ask("board.subscribe", json!({})).await?;
    browser.ask("session.subscribe", json!({"session_id": session})).await?;
    browser.ask("session.start", json!({"session_id": session})).await?;
    let told = browser.until(command_ended).await?;
    browser.until(turn_ended).await?;

    let output = &told["payload"]["message"]["metadata"]["normalized"]["shell_exec"]["output"];
    assert_eq!(output["has_output"], true);
    assert_eq!(output["stdout_bytes"], SENTINEL.len() + 1);
    assert_eq!(output["exit_code"], 0);

    browser.ask("message.list", json!({"session_id": session})).await?;
    browser.ask("session.subscribe", json!({"session_id": session})).await?;
    let mut seen = browser.heard.join("\n");
    for path in [
        format!("/tasks/{task}"),
        "/".to_owned(),
        format!("/api/v1/boot?path=/tasks/{task}"),
        "/api/v1/board".to_owned(),
        format!("/api/v1/task-sessions/{session}"),
        format!("/api/v1/task-sessions/{session}/messages"),
        format!("/api/v1/agent-sessions/{session}/messages"),
    ] {
        let (status, body) = browser.get(&path).await?;
        assert_eq!(status, StatusCode::OK, "{path}");
        seen += &body;
    }
    assert!(seen.contains("stdout_bytes") && !seen.contains(SENTINEL));

    let message = told["payload"]["message"]["id"].as_str().context("no id")?;
    let route = format!("/api/v1/task-sessions/{session}/messages/{message}/shell-output");
    let (status, body) = browser.get(&route).await?;
    let snapshot: Value = serde_json::from_str(&body)?;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(snapshot["output"]["stdout"], format!("{SENTINEL}\n"));
    assert_eq!(
        (&snapshot["status"], &snapshot["message_id"]),
        (&json!("complete"), &json!(message))
    );
    assert!(snapshot["updated_at"].as_str().is_some_and(|at| at.ends_with('Z')));
    assert!(snapshot["output"].get("stderr").is_none());
    browser.server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn s_033_what_is_no_output_of_this_session_is_not_found_in_the_same_words() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut browser = Browser::open().await?;
    let (_, session) = browser.task("run ls => 0 | a", dir.path()).await?;
    let (_, other) = browser.task("say x", dir.path()).await?;
    browser.ask("session.subscribe", json!({"session_id": session})).await?;
    browser.ask("session.start", json!({"session_id": session})).await?;
    let told = browser.until(command_ended).await?;
    browser.until(turn_ended).await?;
    let message = told["payload"]["message"]["id"].as_str().context("no id")?;
    let page: Value = serde_json::from_str(
        &browser.get(&format!("/api/v1/task-sessions/{session}/messages")).await?.1,
    )?;
    let prompt = page["messages"][0]["id"].as_str().context("no prompt")?;

    let mut answers = Vec::new();
    for (session, message) in [
        (session.as_str(), prompt),
        (other.as_str(), message),
        (session.as_str(), "0199f3c1-0000-7000-8000-000000000000"),
        (session.as_str(), "not-an-id"),
        ("not-an-id", message),
    ] {
        let route = format!("/api/v1/task-sessions/{session}/messages/{message}/shell-output");
        answers.push(browser.get(&route).await?);
    }
    assert_eq!(answers[0].0, StatusCode::NOT_FOUND);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    Ok(())
}

#[tokio::test]
async fn malformed_ids_are_not_found_on_every_route() -> Result<()> {
    let browser = Browser::open().await?;
    for path in [
        "/api/v1/task-sessions/x",
        "/api/v1/task-sessions/x/messages",
        "/api/v1/agent-sessions/%00/messages",
        "/api/v1/boot?path=/tasks/x",
        "/tasks/x",
        "/no/such/page",
    ] {
        assert_eq!(browser.get(path).await?.0, StatusCode::NOT_FOUND, "{path}");
    }
    for (method, path) in
        [(Method::DELETE, "/api/v1/tasks/x"), (Method::POST, "/api/v1/task-sessions/x/cancel")]
    {
        let request =
            browser.server.request(method, path).header("origin", browser.server.origin());
        let response = request.header("cookie", &browser.cookie).send().await?;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_with_an_error_of_the_protocol() -> Result<()> {
    const ID: &str = "0199f3c1-0000-7000-8000-000000000000";
    let server = TestServer::start().await?;
    let bearer = format!("Bearer {}", server.secret()?);
    let sessions = format!("/api/v1/task-sessions/{ID}");
    let (add, answer) = (format!("{sessions}/messages"), format!("{sessions}/permission"));
    let get = |path: &str| server.get(path);
    let delete = |path: &str| server.request(Method::DELETE, path);
    let post = |path: &str, body: Value| server.post(path).json(&body);
    for (request, wanted) in [
        (get("/api/v1/task-sessions/%ff"), "NOT_FOUND"),
        (get("/api/v1/task-sessions/%ff/messages"), "NOT_FOUND"),
        (get(&format!("{sessions}/messages/%ff/shell-output")), "NOT_FOUND"),
        (post("/api/v1/agent-sessions/%ff/cancel", json!({})), "NOT_FOUND"),
        (delete("/api/v1/tasks/%ff"), "NOT_FOUND"),
        (delete("/api/v1/auth/sessions/%ff"), "NOT_FOUND"),
        (get("/assets/%ff"), "NOT_FOUND"),
        (get(&format!("{add}?limit=many")), "BAD_REQUEST"),
        (get(&format!("{add}?before=-1")), "BAD_REQUEST"),
        (get("/api/v1/boot"), "BAD_REQUEST"),
        (post(&add, json!({"task_id": "x", "content": "y"})), "NOT_FOUND"),
        (post(&add, json!({"task_id": ID})), "BAD_REQUEST"),
        (post(&answer, json!({"message_id": "x", "option_id": "y"})), "NOT_FOUND"),
        (post(&answer, json!({"message_id": ID})), "BAD_REQUEST"),
        (post("/api/v1/admin/backup", json!({})), "BAD_REQUEST"),
    ] {
        let response = request.header("authorization", &bearer).send().await?;
        let (url, status) = (response.url().to_string(), response.status());
        assert_eq!(status == StatusCode::NOT_FOUND, wanted == "NOT_FOUND", "{url}: {status}");
        assert_eq!(code(response).await.context(url.clone())?, wanted, "{url}");
    }
    server.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn what_is_no_frame_is_answered_and_the_socket_goes_on() -> Result<()> {
    let mut browser = Browser::open().await?;
    for (text, code) in [
        ("{", "BAD_REQUEST"),
        (r#"{"id":"a","type":"request","action":"no.such"}"#, "UNKNOWN_ACTION"),
        (
            r#"{"id":"b","type":"request","action":"agent.cancel","payload":{"session_id":"x"}}"#,
            "NOT_FOUND",
        ),
    ] {
        browser.send(text).await?;
        let answer = browser.frame().await?;
        assert_eq!((&answer["type"], &answer["payload"]["code"]), (&json!("error"), &json!(code)));
    }
    assert!(browser.ask("board.subscribe", json!({})).await?["board"].is_object());
    Ok(())
}

#[tokio::test]
async fn a_frame_over_the_limit_closes_the_socket_with_a_reason() -> Result<()> {
    const LIMIT: usize = 1 << 20; // 1 MiB
    for size in [LIMIT + 1, 3 * LIMIT] {
        let mut browser = Browser::open().await?;
        browser.send(&"x".repeat(LIMIT)).await?;
        assert_eq!(browser.frame().await?["payload"]["code"], "BAD_REQUEST");
        browser.send(&"x".repeat(size)).await?;
        let message = browser.socket.next().await.context("the socket ended without a word")??;
        let Message::Close(Some(end)) = message else { bail!("no reason: {message:?}") };
        assert_eq!(u16::from(end.code), 1009, "{size}");
        assert!(end.reason.contains("1 MiB"), "{end:?}");
        assert_eq!(browser.get("/health").await?.0, StatusCode::OK);
    }
    Ok(())
}

#[tokio::test]
async fn k_001_a_change_is_told_to_every_socket_that_follows_the_board() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let mut browser = Browser::open().await?;
    browser.ask("board.subscribe", json!({})).await?;
    let (task, _) = browser.task("say x", dir.path()).await?;
    let created = |frame: &&String| frame.contains("task.created") && frame.contains(&task);
    if !browser.heard.iter().any(|frame| created(&frame)) {
        let id = task.clone();
        browser.until(move |frame| frame["payload"]["task"]["id"] == id.as_str()).await?;
    }
    let delete = format!("/api/v1/tasks/{task}");
    let request = browser.server.request(Method::DELETE, &delete).header("cookie", &browser.cookie);
    let response = request.header("origin", browser.server.origin()).send().await?;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    browser.until(|frame| frame["action"] == "task.deleted").await?;
    Ok(())
}

#[tokio::test]
async fn q_002_signing_a_browser_out_closes_its_socket() -> Result<()> {
    let mut browser = Browser::open().await?;
    browser.ask("board.subscribe", json!({})).await?;
    let logout = browser.server.post("/api/v1/auth/logout").header("cookie", &browser.cookie);
    assert!(logout.send().await?.status().is_success());
    let err = browser.until(|_| false).await.unwrap_err().to_string();
    assert!(err.contains("signed out"), "{err}");
    Ok(())
}
