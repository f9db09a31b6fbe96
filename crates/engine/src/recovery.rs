//! What the last run left open: turns in the middle, calls without an end, agents without a server.

use std::collections::HashMap;

use model::{
    AgentProcess, Author, Message, MessageId, MessageKind, Metadata, PermissionAnswer, Session,
    SessionId, SessionState, StoredMessage, Task, TaskState, Timestamp, ToolStatus, Turn,
    TurnOutcome,
};
use store::{Op, Reader, Store, StoreError};

use crate::{clock, history};

/// What a person reads where the turn stopped.
pub(crate) const NOTE: &str =
    "Kandev stopped while the agent was working. Everything up to here is kept.";

/// Stores every open turn as interrupted and closes its calls. Returns the processes that
/// the last run started.
pub(crate) async fn settle(store: &Store, now: Timestamp) -> Result<Vec<AgentProcess>, StoreError> {
    let (ops, processes) = store.read(|reader| {
        let mut ops = Vec::new();
        let mut places = HashMap::new();
        for (session_id, turn_id) in reader.open_turns()? {
            let Some(turn) = reader.turn(session_id, turn_id)? else { continue };
            // A session has one open turn, unless a store that failed left more.
            let place = places.entry(session_id).or_insert(reader.last_seq(session_id)?);
            *place += 1;
            ops.extend(interrupt(reader, &turn, *place, now)?);
        }
        Ok((ops, reader.processes()?))
    })?;
    if !ops.is_empty() {
        store.commit(ops).await?;
    }
    Ok(processes)
}

/// The turn of a session whose task ended in the middle of it: what is to be stored about it.
pub(crate) fn interrupt_last(
    reader: &Reader,
    session_id: SessionId,
    now: Timestamp,
) -> Result<Vec<Op>, StoreError> {
    match reader.last_turn(session_id)? {
        Some(turn) if turn.outcome.is_none() => {
            interrupt(reader, &turn, reader.last_seq(session_id)? + 1, now)
        }
        _ => Ok(Vec::new()),
    }
}

/// Ends the processes that the last run left, closes what only they could have ended, and forgets
/// them.
pub(crate) async fn end_leftovers(store: &Store, left: Vec<AgentProcess>) {
    if left.is_empty() {
        return;
    }
    for process in &left {
        if let Err(err) = close_orphans(store, process.session_id).await {
            tracing::error!(%err, session = %process.session_id, "could not close its open calls");
        }
    }
    let records = left.clone();
    let ended = tokio::task::spawn_blocking(move || acp::process::end_leftovers(&records)).await;
    match ended {
        Ok(0) => {}
        Ok(n) => tracing::info!(n, "ended agent processes that an earlier run left"),
        Err(err) => tracing::error!(?err, "could not look for agent processes of an earlier run"),
    }
    let ops = left
        .into_iter()
        .map(|process| Op::DeleteProcess { session_id: process.session_id, pid: process.pid })
        .collect();
    if let Err(err) = store.commit(ops).await {
        tracing::error!(%err, "could not forget the agent processes of an earlier run");
    }
}

/// Closes a session's calls and requests that no turn holds: background commands, and what was
/// asked between turns.
async fn close_orphans(store: &Store, session_id: SessionId) -> Result<(), StoreError> {
    let now = clock::now();
    let reads = store.clone();
    let read = move || {
        reads.read(|reader| {
            let mut open = Vec::new();
            for page in history::newest_first(reader, session_id) {
                open.extend(page?.into_iter().filter(is_open));
            }
            Ok(open)
        })
    };
    let Ok(open) = tokio::task::spawn_blocking(read).await else { return Ok(()) };
    let ops: Vec<Op> =
        open?.into_iter().map(|message| Op::PutMessage(closed(message, now))).collect();
    if ops.is_empty() {
        return Ok(());
    }
    store.commit(ops).await
}

fn interrupt(
    reader: &Reader,
    turn: &Turn,
    place: u64,
    now: Timestamp,
) -> Result<Vec<Op>, StoreError> {
    let session_id = turn.session_id;
    let mut ops: Vec<Op> = open_messages(reader, turn)?
        .into_iter()
        .map(|message| Op::PutMessage(closed(message, now)))
        .collect();
    ops.push(Op::PutMessage(note(session_id, turn, place, now)));
    ops.push(Op::PutTurn(Turn {
        ended_at: Some(now),
        outcome: Some(TurnOutcome::Interrupted),
        ..turn.clone()
    }));
    if let Some(session) = reader.session(session_id)? {
        if let Some(task) = reader.task(session.task_id)? {
            ops.push(Op::PutTask(Task { state: TaskState::Review, updated_at: now, ..task }));
        }
        ops.push(Op::PutSession(Session {
            state: SessionState::WaitingForInput,
            updated_at: now,
            ..session
        }));
    }
    Ok(ops)
}

/// Messages of the turn that wait for an end or an answer.
fn open_messages(reader: &Reader, turn: &Turn) -> Result<Vec<StoredMessage>, StoreError> {
    let mut open = Vec::new();
    for page in history::newest_first(reader, turn.session_id) {
        let page = page?;
        let reached_start = page.first().is_none_or(|first| first.turn_id != Some(turn.id));
        open.extend(page.into_iter().filter(|m| m.turn_id == Some(turn.id) && is_open(m)));
        if reached_start {
            break;
        }
    }
    Ok(open)
}

fn is_open(message: &StoredMessage) -> bool {
    let unanswered = message.metadata.permission.as_ref().is_some_and(|ask| ask.answer.is_none());
    unanswered || message.metadata.status.is_some_and(|status| !status.is_terminal())
}

fn closed(mut message: StoredMessage, now: Timestamp) -> StoredMessage {
    if message.metadata.status.is_some() {
        message.metadata.status = Some(ToolStatus::Cancelled);
    }
    if let Some(ask) = &mut message.metadata.permission {
        ask.answer = Some(PermissionAnswer::Void);
    }
    message.updated_at = now;
    message
}

fn note(session_id: SessionId, turn: &Turn, seq: u64, now: Timestamp) -> StoredMessage {
    Message {
        id: MessageId::new(clock::new_id()),
        session_id,
        turn_id: Some(turn.id),
        seq,
        kind: MessageKind::Status,
        author: Author::System,
        content: NOTE.into(),
        metadata: Metadata::default(),
        created_at: now,
        updated_at: now,
    }
}
