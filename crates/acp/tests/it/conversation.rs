//! What is said when everybody behaves.

use acp::{AgentEvent, PermissionOutcome, RpcErrorKind, StopReason};
use model::{AgentIdentity, PlanEntry, ToolStatus};
use serde_json::{Value, json};
use shell_output::FrameOrigin;

use crate::support::{Started, fake, sh, start};

/// Starts the fake agent; its session, too.
async fn begin(args: &[&str]) -> (Started, String) {
    let started = start(fake(args));
    let session = started.begin().await;
    (started, session)
}

#[tokio::test]
async fn an_agent_says_who_it_is() {
    let started = start(fake(&["--name", "Fake", "--version", "1.2.3"]));
    let identity = AgentIdentity { name: Some("Fake".into()), version: Some("1.2.3".into()) };
    assert_eq!(started.agent.initialize().await.unwrap().identity, identity);

    let nameless = start(fake(&["--no-identity"]));
    assert_eq!(nameless.agent.initialize().await.unwrap().identity, AgentIdentity::default());
}

#[tokio::test]
async fn s_002_initialize_advertises_terminal_output_and_nothing_else() {
    let script = r#"read -r line; printf '%s' "$line" > initialize.json
        printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n'; read -r line"#;
    let started = start(sh(script));
    started.agent.initialize().await.unwrap();
    let sent = std::fs::read(started.dir.path().join("initialize.json")).unwrap();
    let expected = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": {"readTextFile": false, "writeTextFile": false},
                "terminal": false,
                "_meta": {"terminal_output": true}
            },
            "clientInfo":
                {"name": "kandev", "title": "Kandev", "version": env!("CARGO_PKG_VERSION")}
        }
    });
    assert_eq!(serde_json::from_slice::<Value>(&sent).unwrap(), expected);
}

#[tokio::test]
async fn p_011_the_agent_knows_its_session_and_its_task() {
    let (mut started, session) = begin(&[]).await;
    let reply = started.prompt(&session, "env KANDEV_TASK_ID\nenv KANDEV_SESSION_ID").await;
    let (task, id) = (started.task_id, started.session_id);
    assert_eq!(reply.text(), format!("KANDEV_TASK_ID={task}KANDEV_SESSION_ID={id}"));
}

#[tokio::test]
async fn a_prompt_is_answered_behind_its_updates() {
    let (mut started, session) = begin(&[]).await;
    let reply = started.prompt(&session, "think hm\nplan one; two\nsay yes\nstop max_tokens").await;
    let [AgentEvent::Thought(thought), AgentEvent::Plan(plan), AgentEvent::Text(text)] =
        &reply.events[..]
    else {
        panic!("{reply:?}")
    };
    assert_eq!((thought.as_str(), text.as_str()), ("hm", "yes"));
    let second = PlanEntry { content: "two".into(), status: "pending".into() };
    assert_eq!(plan[1], second);
    assert_eq!(reply.result, Ok(StopReason::MaxTokens));
}

#[tokio::test]
async fn a_command_is_a_row_of_frames() {
    for dialect in ["generic", "opencode", "codex", "claude"] {
        let (mut started, session) = begin(&["--dialect", dialect]).await;
        let reply = started.prompt(&session, "shell echo out; echo err >&2; exit 4").await;
        let frames: Vec<_> = reply
            .events
            .iter()
            .map(|event| match event {
                AgentEvent::Tool(frame) => frame,
                other => panic!("{dialect}: {other:?}"),
            })
            .collect();
        assert_eq!(frames[0].origin, FrameOrigin::Call, "{dialect}");
        assert!(frames[1..].iter().all(|frame| frame.origin == FrameOrigin::Update), "{dialect}");
        assert!(frames.iter().all(|frame| frame.call_id == frames[0].call_id), "{dialect}");
        let last = frames.last().unwrap().status;
        assert!(last.is_some_and(ToolStatus::is_terminal), "{dialect}: {last:?}");
    }
}

#[tokio::test]
async fn a_command_may_end_after_the_prompt() {
    let (mut started, session) = begin(&["--dialect", "codex"]).await;
    let reply = started.prompt(&session, "start sleep\nlate 1 3").await;
    assert_eq!(reply.result, Ok(StopReason::EndTurn));
    let AgentEvent::Tool(last) = started.next().await else { panic!("no tool frame") };
    assert_eq!(last.status, Some(ToolStatus::Error));
}

#[tokio::test]
async fn leave_is_asked_and_given() {
    for (at, kind) in ["allow_once", "allow_always", "reject_once"].into_iter().enumerate() {
        let (mut started, session) = begin(&["--dialect", "claude"]).await;
        started.agent.prompt(&session, "ask rm -rf x", 7).unwrap();
        let (key, tool, options) = loop {
            if let AgentEvent::Permission { key, tool, options } = started.next().await {
                break (key, tool, options);
            }
        };
        let tool = tool.unwrap();
        assert_eq!(tool.origin, FrameOrigin::Permission);
        assert_eq!(tool.raw_input.unwrap()["command"], "rm -rf x");
        assert_eq!(options[at].kind, kind);
        let outcome = PermissionOutcome::Selected { option_id: options[at].id.clone() };
        started.agent.respond(key, outcome).unwrap();
        let reply = started.reply().await;
        assert_eq!(reply.text(), format!("Permission: {kind}\n"));
    }
}

#[tokio::test]
async fn a_turn_is_cancelled_also_while_leave_is_asked() {
    for directive in ["hang", "sleep 600000", "shell sleep 600", "ask ls"] {
        let (mut started, session) = begin(&[]).await;
        started.agent.prompt(&session, &format!("say begun\n{directive}"), 7).unwrap();
        assert!(matches!(started.next().await, AgentEvent::Text(text) if text == "begun"));
        started.agent.cancel(&session).unwrap();
        assert_eq!(started.reply().await.result, Ok(StopReason::Cancelled), "{directive}");
        assert_eq!(started.prompt(&session, "say again").await.text(), "again", "{directive}");
    }
}

#[tokio::test]
async fn an_error_is_the_answer_in_the_agents_own_words() {
    let (mut started, session) = begin(&[]).await;
    let err = started.prompt(&session, "error invalid x-api-key").await.result.unwrap_err();
    assert_eq!((err.code, err.kind), (-32603, RpcErrorKind::Answered));
    assert_eq!(err.to_string(), "invalid x-api-key");
}

#[tokio::test]
async fn an_agent_that_wants_a_login_says_so() {
    let started = start(fake(&["--fail", "session/new"]));
    started.agent.initialize().await.unwrap();
    let err = started.agent.new_session(started.dir.path()).await.unwrap_err();
    assert_eq!((err.code, err.message.as_str()), (-32000, "Authentication required"));
}

#[tokio::test]
async fn nothing_is_lost_when_the_listener_is_slow() {
    let (mut started, session) = begin(&[]).await;
    started.agent.prompt(&session, "flood 3000\nsay end", 7).unwrap();
    // More than the channel holds waits in the pipe before the first event is taken.
    while started.events.len() < started.events.max_capacity() {
        tokio::task::yield_now().await;
    }
    let expected: String = (1..=3000).map(|number| format!("{number}\n")).collect();
    assert_eq!(started.reply().await.text(), expected + "end");
}
