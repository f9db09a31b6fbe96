//! How an agent ends, by itself or by us.

use std::time::Duration;

use acp::{Agent, AgentEvent, Closed, Exit, Launch, RpcErrorKind, SpawnError, StopReason};
use model::{LaunchCommand, SessionId, TaskId};

use crate::support::{fake, pids, runs, sh, start};

const AMPLE: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let launch = Launch {
        command: LaunchCommand { program: "no-such-agent".into(), ..LaunchCommand::default() },
        work_dir: "/".into(),
        session_id: SessionId::from_bytes([1; 16]),
        task_id: TaskId::from_bytes([2; 16]),
        tap: None,
    };
    let err = Agent::spawn(launch).err().unwrap();
    assert!(matches!(&err, SpawnError::NotFound { program } if program == "no-such-agent"));
}

#[tokio::test]
async fn an_agent_that_crashes_fails_its_prompt_and_says_how_it_ended() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    started.agent.prompt(&session, "say last words\nstderr boom\ncrash 3", 7).unwrap();
    let reply = started.reply().await;
    assert_eq!(reply.text(), "last words");
    assert_eq!(reply.result.unwrap_err().kind, RpcErrorKind::Ended);
    let exit = started.exit().await;
    assert_eq!(exit, Exit { code: Some(3), signal: None, stderr_tail: vec!["boom".into()] });
    assert_eq!(started.agent.prompt(&session, "hello?", 8), Err(Closed::Ended));
}

#[tokio::test]
async fn a_call_fails_when_the_agent_ends_instead() {
    let mut started = start(sh("read -r line; echo 'node: not found' >&2; exit 127"));
    let err = started.agent.initialize().await.unwrap_err();
    assert_eq!(err.kind, RpcErrorKind::Ended);
    assert_eq!(err.message, "the agent ended before it answered initialize");
    let exit = started.exit().await;
    assert_eq!((exit.code, exit.stderr_tail), (Some(127), vec!["node: not found".to_owned()]));
    let err = started.agent.initialize().await.unwrap_err();
    assert_eq!(err.kind, RpcErrorKind::Ended, "a later call does not wait");
}

#[tokio::test]
async fn an_agent_that_closes_its_output_is_ended() {
    let mut started = start(sh("exec >&-; sleep 600"));
    assert_eq!(started.agent.initialize().await.unwrap_err().kind, RpcErrorKind::Ended);
    assert_eq!(started.exit().await.signal, Some(15));
}

#[tokio::test]
async fn last_words_of_an_agent_that_ends_are_heard() {
    let update = r#"{"method":"session/update","params":{"update":{"sessionUpdate":"x"}}}"#;
    let mut started = start(sh(&format!("yes '{update}' | head -n 400; exit 5")));
    let mut heard = 0;
    loop {
        match started.next().await {
            AgentEvent::Other { .. } => heard += 1,
            AgentEvent::Exited(exit) => break assert_eq!((heard, exit.code), (400, Some(5))),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn p_013_closing_stdin_is_enough_for_an_agent_that_behaves() {
    let mut started = start(fake(&[]));
    started.begin().await;
    started.agent.shutdown(AMPLE).await;
    assert_eq!(started.exit().await, Exit { code: Some(0), ..Exit::default() });
    started.agent.shutdown(AMPLE).await;
}

#[tokio::test]
async fn p_013_an_agent_that_ignores_the_end_of_stdin_is_told_to_end() {
    let mut started = start(fake(&["--ignore-eof"]));
    started.begin().await;
    tokio::join!(started.agent.shutdown(SHORT), started.agent.shutdown(AMPLE));
    assert_eq!(started.exit().await.signal, Some(15));
}

#[tokio::test]
async fn p_013_an_agent_that_ignores_everything_is_killed() {
    let mut started = start(fake(&["--ignore-eof", "--ignore-term"]));
    started.begin().await;
    started.agent.shutdown(SHORT).await;
    assert_eq!(started.exit().await.signal, Some(9));
}

#[tokio::test]
async fn p_013_shutdown_goes_on_when_nobody_waits_for_it() {
    let mut started = start(fake(&["--ignore-eof"]));
    started.begin().await;
    let shutdown = tokio::time::timeout(Duration::ZERO, started.agent.shutdown(SHORT));
    assert!(shutdown.await.is_err());
    assert_eq!(started.exit().await.signal, Some(15));
}

#[tokio::test]
async fn p_013_shutdown_ends_what_the_agent_left_in_its_group_and_out_of_it() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "spawn-child\nsay  \nspawn-detached").await;
    assert_eq!(reply.result, Ok(StopReason::EndTurn));
    let pids = pids(&reply);
    assert!(pids.len() == 2 && pids.iter().all(|&pid| runs(pid)), "{reply:?}");
    started.agent.shutdown(AMPLE).await;
    assert!(pids.iter().all(|&pid| !runs(pid)));
    assert!(!acp::process::alive(&started.agent.process()));
}

#[tokio::test]
async fn p_013_a_crash_leaves_nothing_behind() {
    let mut started = start(fake(&[]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "spawn-child\nspawn-detached\ncrash").await;
    let pids = pids(&reply);
    started.exit().await;
    assert!(pids.iter().all(|&pid| !runs(pid)));
}

#[tokio::test]
async fn p_013_a_dropped_agent_ends_with_all_it_started() {
    let mut started = start(fake(&["--ignore-eof", "--ignore-term"]));
    let session = started.begin().await;
    let reply = started.prompt(&session, "spawn-child\nspawn-detached").await;
    let pids = pids(&reply);
    let process = started.agent.process();
    assert!(acp::process::alive(&process));
    drop(started.agent);
    let exit = loop {
        let event = started.events.recv().await.expect("the last event");
        if let AgentEvent::Exited(exit) = event {
            break exit;
        }
    };
    assert_eq!(exit.signal, Some(9));
    assert!(!acp::process::alive(&process) && pids.iter().all(|&pid| !runs(pid)));
}
