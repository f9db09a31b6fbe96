//! A session's life, event by event.

use model::{AgentKind, ProfileId, SessionId, TaskId, Timestamp};

use super::*;
use crate::clock;

fn stamp() -> Stamp {
    Stamp { now: Timestamp::from_millis(1_000), new_id: clock::new_id }
}

fn machine() -> Machine {
    let session = Session {
        id: SessionId::from_bytes([1; 16]),
        task_id: TaskId::from_bytes([2; 16]),
        profile_id: ProfileId::from_bytes([3; 16]),
        agent_name: "Fake".into(),
        agent: AgentKind::Generic,
        identity: AgentIdentity::default(),
        work_dir: "/".into(),
        state: SessionState::Created,
        agent_session_id: None,
        agent_session_seq: 0,
        queue: Vec::new(),
        error: None,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
    };
    Machine::new(session, None, 0, Dialect::new(AgentKind::Generic, &[]))
}

/// A machine whose agent works on a prompt; its token.
fn working() -> (Machine, u64) {
    let mut machine = machine();
    machine.prompt(stamp(), "do it".into(), None).unwrap();
    machine.ready(stamp(), "agent-1".into());
    let effects = machine.take_effects();
    let [Effect::StartAgent, Effect::Prompt { token, .. }] = effects[..] else {
        panic!("{effects:?}")
    };
    machine.take_changes();
    (machine, token)
}

fn ended(machine: &mut Machine, token: u64, result: Result<StopReason, RpcError>) -> Changes {
    machine.agent(stamp(), AgentEvent::PromptEnded { token, result });
    machine.take_changes()
}

fn notes(changes: &Changes) -> Vec<&str> {
    let ours =
        changes.messages.iter().filter(|changed| changed.message.author == model::Author::System);
    ours.map(|changed| changed.message.content.as_str()).collect()
}

#[test]
fn a_first_prompt_starts_the_agent_and_waits_for_it() {
    let mut machine = machine();
    machine.prompt(stamp(), "do it".into(), Some("c1".into())).unwrap();
    assert_eq!(machine.take_effects(), [Effect::StartAgent]);
    let changes = machine.take_changes();
    assert_eq!(changes.session.unwrap().state, SessionState::Starting);
    assert_eq!(changes.turn.unwrap().outcome, None);
    let prompt = &changes.messages[0].message;
    assert_eq!((prompt.content.as_str(), prompt.seq), ("do it", 1));
    assert_eq!(prompt.metadata.client_message_id.as_deref(), Some("c1"));

    machine.ready(stamp(), "agent-1".into());
    let agent_session = "agent-1".to_owned();
    let expected = Effect::Prompt { agent_session, text: "do it".into(), token: 1 };
    assert_eq!(machine.take_effects(), [expected]);
    assert_eq!(machine.session().state, SessionState::Running);
}

#[test]
fn k_045_a_second_prompt_waits_until_the_turn_is_completed() {
    let (mut machine, token) = working();
    machine.prompt(stamp(), "more".into(), None).unwrap();
    assert_eq!(machine.take_effects(), [], "nothing is sent");
    machine.go_on(stamp());
    assert_eq!(machine.session().queue.len(), 1, "not before the end");
    ended(&mut machine, token, Ok(StopReason::EndTurn));
    assert_eq!(machine.session().state, SessionState::WaitingForInput);
    machine.go_on(stamp());
    let effects = machine.take_effects();
    assert!(matches!(&effects[..], [Effect::Prompt { text, .. }] if text == "more"), "{effects:?}");
    assert!(machine.session().queue.is_empty());
}

#[test]
fn k_045_what_waits_behind_a_failed_turn_is_not_sent_by_itself() {
    let (mut machine, _) = working();
    machine.prompt(stamp(), "more".into(), None).unwrap();
    machine.abandon(stamp());
    machine.take_effects();
    machine.go_on(stamp());
    assert_eq!(machine.take_effects(), []);
    assert_eq!(machine.session().queue.len(), 1);
}

#[test]
fn a_turn_that_ends_waits_for_the_person_and_the_agent_stays() {
    let (mut machine, token) = working();
    let changes = ended(&mut machine, token, Ok(StopReason::EndTurn));
    assert_eq!(changes.turn.unwrap().outcome, Some(TurnOutcome::Completed));
    assert_eq!(changes.session.unwrap().state, SessionState::WaitingForInput);
    assert!(!machine.is_dormant());

    machine.prompt(stamp(), "more".into(), None).unwrap();
    assert!(matches!(machine.take_effects()[..], [Effect::Prompt { token: 2, .. }]));
}

#[test]
fn an_answer_to_an_earlier_prompt_changes_nothing() {
    let (mut machine, token) = working();
    let changes = ended(&mut machine, token + 1, Ok(StopReason::EndTurn));
    assert!(changes.turn.is_none() && changes.session.is_none());
}

#[test]
fn a_turn_that_failed_says_why_without_secrets() {
    let (mut machine, token) = working();
    let error = RpcError {
        code: -32603,
        message: "Invalid key sk-abcdef012345 at https://x.test".into(),
        data: None,
        kind: RpcErrorKind::Answered,
    };
    let changes = ended(&mut machine, token, Err(error));
    let session = changes.session.clone().unwrap();
    assert_eq!(session.state, SessionState::Failed);
    assert_eq!(changes.turn.as_ref().unwrap().outcome, Some(TurnOutcome::Failed));
    let text = session.error.unwrap();
    assert!(
        text.contains("Invalid key") && !text.contains("sk-") && !text.contains("x.test"),
        "{text}"
    );
    assert_eq!(notes(&changes), [text.as_str()]);
}

#[test]
fn a_cancel_asks_the_agent_once_and_its_end_is_a_cancel_whatever_it_says() {
    let (mut machine, token) = working();
    machine.cancel(stamp());
    machine.cancel(stamp());
    let agent_session = "agent-1".to_owned();
    assert_eq!(
        machine.take_effects(),
        [Effect::Cancel { agent_session }, Effect::ArmCancelDeadline { token }]
    );
    let changes = ended(&mut machine, token, Ok(StopReason::EndTurn));
    assert_eq!(changes.turn.unwrap().outcome, Some(TurnOutcome::Cancelled));
}

#[test]
fn d_014_after_a_cancel_that_the_agent_ignores_a_new_prompt_works() {
    let (mut machine, token) = working();
    machine.cancel(stamp());
    machine.take_effects();
    machine.cancel_overdue(stamp(), token);
    assert_eq!(machine.take_effects(), [Effect::EndAgent]);
    assert_eq!(machine.turn().unwrap().outcome, Some(TurnOutcome::Cancelled));
    machine.prompt(stamp(), "again".into(), None).unwrap();
    assert_eq!(machine.take_effects(), [Effect::StartAgent]);
}

#[test]
fn a_deadline_of_an_earlier_cancel_ends_nothing() {
    let (mut machine, token) = working();
    machine.cancel(stamp());
    ended(&mut machine, token, Ok(StopReason::Cancelled));
    machine.prompt(stamp(), "again".into(), None).unwrap();
    machine.take_effects();
    machine.cancel_overdue(stamp(), token);
    assert_eq!(machine.take_effects(), []);
}

#[test]
fn a_cancel_while_the_agent_starts_ends_it() {
    let mut machine = machine();
    machine.prompt(stamp(), "do it".into(), None).unwrap();
    machine.take_effects();
    machine.cancel(stamp());
    assert_eq!(machine.take_effects(), [Effect::EndAgent]);
    assert_eq!(machine.turn().unwrap().outcome, Some(TurnOutcome::Cancelled));
    assert!(machine.is_dormant());
}

#[test]
fn an_agent_that_ends_in_a_turn_fails_it_and_the_next_prompt_starts_another() {
    let (mut machine, _) = working();
    let exit = acp::Exit { code: Some(3), signal: None, stderr_tail: Vec::new() };
    machine.agent(stamp(), AgentEvent::Exited(exit));
    assert_eq!(machine.take_effects(), [Effect::EndAgent]);
    assert_eq!(machine.session().state, SessionState::Failed);
    assert!(machine.session().error.as_deref().unwrap().contains('3'));

    machine.prompt(stamp(), "again".into(), None).unwrap();
    assert_eq!(machine.take_effects(), [Effect::StartAgent]);
    machine.take_changes();
    machine.ready(stamp(), "agent-2".into());
    let changes = machine.take_changes();
    assert_eq!(notes(&changes).len(), 1, "it says that the agent has forgotten");
}

#[test]
fn an_agent_that_ends_between_turns_fails_nothing() {
    let (mut machine, token) = working();
    ended(&mut machine, token, Ok(StopReason::EndTurn));
    let exit = acp::Exit { code: Some(0), signal: None, stderr_tail: Vec::new() };
    machine.agent(stamp(), AgentEvent::Exited(exit));
    assert_eq!(machine.session().state, SessionState::WaitingForInput);
}

#[test]
fn a_start_that_failed_fails_the_turn_with_its_sentence() {
    let mut machine = machine();
    machine.prompt(stamp(), "do it".into(), None).unwrap();
    machine.take_effects();
    machine.start_failed(stamp(), "Fake could not be started.");
    assert_eq!(machine.take_effects(), [Effect::EndAgent]);
    let changes = machine.take_changes();
    assert_eq!(notes(&changes), ["Fake could not be started."]);
    assert_eq!(changes.session.unwrap().error.as_deref(), Some("Fake could not be started."));
}

#[test]
fn q_007_a_server_that_ends_marks_the_turn_interrupted() {
    let (mut machine, _) = working();
    machine.interrupt(stamp());
    assert_eq!(machine.take_effects(), [Effect::EndAgent]);
    assert_eq!(machine.turn().unwrap().outcome, Some(TurnOutcome::Interrupted));
    assert!(machine.is_dormant());
}
