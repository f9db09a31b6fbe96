//! What an agent may send and do without ending its session.

use acp::{AgentEvent, Closed, RpcErrorKind, StopReason};

use crate::support::{fake, sh, start};

#[tokio::test]
async fn s_017_garbage_between_frames_is_passed_over() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "say before\ngarbage\nsay  after").await;
    assert_eq!(reply.text(), "beforeafter");
    assert_eq!(reply.result, Ok(StopReason::EndTurn));
    let named = |event: &AgentEvent| match event {
        AgentEvent::Other { kind } => kind == "from_the_future",
        _ => false,
    };
    assert!(reply.events.iter().any(named));
}

#[tokio::test]
async fn s_017_bytes_that_are_no_utf_8_cost_nothing_else() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "invalid-utf8\nsay  and on").await;
    assert_eq!(reply.text(), "before-\u{fffd}\u{fffd}-afterand on");
}

#[tokio::test]
async fn s_017_a_line_of_20_mib_costs_only_itself() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "bigline 20971520\nsay after").await;
    assert_eq!(reply.text(), "after");
    let reply = started.prompt(&session, "bigline 8388608").await;
    assert_eq!(reply.text().len(), 8 << 20, "a line within the limit is whole");
}

#[tokio::test]
async fn s_017_an_answer_that_is_too_large_fails_its_prompt_only() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let err = started.prompt(&session, "biganswer 20971520").await.result.unwrap_err();
    assert_eq!(err.kind, RpcErrorKind::TooLarge);
    assert!(err.message.contains("too large"), "{err}");
    assert_eq!(started.prompt(&session, "say on").await.text(), "on");
}

#[tokio::test]
async fn s_002_a_request_for_what_is_not_offered_is_refused() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    for method in ["terminal/create", "fs/read_text_file", "craft/drainMidTurnQueue"] {
        let reply = started.prompt(&session, &format!("request {method}")).await;
        assert_eq!(reply.text(), format!("{method} -> error -32601"));
    }
}

#[tokio::test]
async fn d_010_a_chatty_stderr_does_not_block() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "chatter 10485760\nsay done").await;
    assert_eq!(reply.text(), "done");
}

#[tokio::test]
async fn d_010_stderr_is_drained_while_stdout_has_to_wait() {
    let update = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"x"}}}"#;
    let script = format!(
        "mkfifo told; yes '{update}' & read -r go
        head -c 10485760 /dev/zero | tr '\\0' '\\n' >&2; echo told > told; wait"
    );
    let mut started = start(sh(&script));
    while started.events.len() < started.events.max_capacity() {
        tokio::task::yield_now().await;
    }
    // The reader waits for us, and the script for this line; opening its pipe waits for it.
    started.agent.cancel("go").unwrap();
    let told = tokio::fs::read_to_string(started.dir.path().join("told")).await.unwrap();
    assert_eq!(told, "told\n");
    assert!(matches!(started.next().await, AgentEvent::Other { .. }));
}

#[tokio::test]
async fn an_agent_that_does_not_read_is_still_heard() {
    let update = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"x"}}}"#;
    let mut started = start(sh(&format!("yes '{update}'")));
    let prompt = "x".repeat(100 * 1024);
    let refused = loop {
        if let Err(refused) = started.agent.prompt("s", &prompt, 1) {
            break refused;
        }
    };
    assert_eq!(refused, Closed::Stalled);
    for _ in 0..2000 {
        assert!(matches!(started.next().await, AgentEvent::Other { .. }));
    }
}
