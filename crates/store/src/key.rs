//! Keys. Ids and numbers are big-endian, so that byte order is the order of creation.
//!
//! Everything of a message lies in one table, the kind of entry before the sequence number: redb
//! reads a leaf whole, so records that lay between bodies could not be listed without reading them.

use std::ops::RangeInclusive;

use model::{BodyStream, MessageId, SessionId, TaskId, TurnId};

/// What an entry of the messages table is: the byte behind the session's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Sequence number: the record.
    Record = 0,
    /// Sequence number, stream, segment number: a piece of a body.
    Body = 1,
    /// The message's id: its sequence number.
    Id = 2,
    /// The sender's own id: its sequence number.
    ClientId = 3,
    /// The agent's id of the tool call: the newest sequence number.
    ToolCall = 4,
    /// Sequence number: the content of a tool call.
    Content = 5,
    /// Nothing more: the text of the message that is being written.
    Draft = 6,
}

/// More bytes of a foreign id than this are folded into a hash.
const FOREIGN_ID_BYTES: usize = 256;

fn key(session: SessionId, kind: Kind, rest: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(40);
    key.extend_from_slice(session.as_bytes());
    key.push(kind as u8);
    for part in rest {
        key.extend_from_slice(part);
    }
    key
}

/// The session and the kind of an entry of the messages table.
pub(crate) fn parse(key: &[u8]) -> Option<(SessionId, Kind)> {
    let (session, rest) = key.split_first_chunk()?;
    let kinds = [
        Kind::Record,
        Kind::Body,
        Kind::Id,
        Kind::ClientId,
        Kind::ToolCall,
        Kind::Content,
        Kind::Draft,
    ];
    let kind = kinds.into_iter().find(|kind| rest.first() == Some(&(*kind as u8)))?;
    Some((SessionId::from_bytes(*session), kind))
}

/// A message's record.
pub(crate) fn record(session: SessionId, seq: u64) -> Vec<u8> {
    key(session, Kind::Record, &[&seq.to_be_bytes()])
}

/// The records with sequence numbers below `before`; all of them without it.
pub(crate) fn records(session: SessionId, before: Option<u64>) -> std::ops::Range<Vec<u8>> {
    let end = before.map_or_else(|| key(session, Kind::Body, &[]), |seq| record(session, seq));
    record(session, 0)..end
}

/// The content of a tool call.
pub(crate) fn content(session: SessionId, seq: u64) -> Vec<u8> {
    key(session, Kind::Content, &[&seq.to_be_bytes()])
}

/// The message that is being written to a session's agent.
pub(crate) fn draft(session: SessionId) -> Vec<u8> {
    key(session, Kind::Draft, &[])
}

/// The sequence number in the key of a record, a body segment or a content.
pub(crate) fn seq(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(17..)?.first_chunk()?))
}

/// One segment of a body.
pub(crate) fn segment(session: SessionId, seq: u64, stream: BodyStream, segment: u64) -> Vec<u8> {
    key(session, Kind::Body, &[&seq.to_be_bytes(), &[stream as u8], &segment.to_be_bytes()])
}

/// The segment number in the key of a body segment.
pub(crate) fn segment_number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*key.get(26..)?.first_chunk()?))
}

/// The index entry of a message's id.
pub(crate) fn message_id(session: SessionId, id: MessageId) -> Vec<u8> {
    key(session, Kind::Id, &[id.as_bytes()])
}

/// The index entry of a sender's own id.
pub(crate) fn client_id(session: SessionId, id: &str) -> Vec<u8> {
    foreign(session, Kind::ClientId, id)
}

/// The index entry of a tool call.
pub(crate) fn tool_call(session: SessionId, id: &str) -> Vec<u8> {
    foreign(session, Kind::ToolCall, id)
}

fn foreign(session: SessionId, kind: Kind, id: &str) -> Vec<u8> {
    match id.as_bytes().split_at_checked(FOREIGN_ID_BYTES) {
        None | Some((_, [])) => key(session, kind, &[id.as_bytes()]),
        Some((head, _)) => key(session, kind, &[head, &fnv1a(id.as_bytes()).to_be_bytes()]),
    }
}

/// A hash that is the same in every version: it is part of the file's format. A reader compares
/// the whole id, so a collision can hide an entry but never return the wrong one.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// A session under its task.
pub(crate) fn task_session(task: TaskId, session: SessionId) -> Vec<u8> {
    [*task.as_bytes(), *session.as_bytes()].concat()
}

/// A turn under its session.
pub(crate) fn turn(session: SessionId, turn: TurnId) -> Vec<u8> {
    [*session.as_bytes(), *turn.as_bytes()].concat()
}

/// A process under its session.
pub(crate) fn process(session: SessionId, pid: u32) -> Vec<u8> {
    [session.as_bytes().as_slice(), &pid.to_be_bytes()].concat()
}

/// The two ids of a key that has an id under another.
pub(crate) fn id_pair(key: &[u8]) -> Option<([u8; 16], [u8; 16])> {
    let (first, rest) = key.split_first_chunk()?;
    Some((*first, rest.try_into().ok()?))
}

/// Everything under an id.
pub(crate) fn under(id: &[u8; 16]) -> RangeInclusive<Vec<u8>> {
    // The longest key under an id is one of a foreign id; no key reaches this bound.
    let mut last = id.to_vec();
    last.resize(FOREIGN_ID_BYTES * 2, u8::MAX);
    id.to_vec()..=last
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: SessionId = SessionId::from_bytes([7; 16]);

    #[test]
    fn s_034_every_record_sorts_before_every_body() {
        let body = segment(SESSION, 0, BodyStream::Stdout, 0);
        assert!(record(SESSION, u64::MAX) < body);
        assert!(!records(SESSION, None).contains(&body));
        assert!(records(SESSION, None).contains(&record(SESSION, u64::MAX)));
    }

    #[test]
    fn segments_sort_by_message_stream_and_offset() {
        let keys = [
            segment(SESSION, 1, BodyStream::Stdout, 300),
            segment(SESSION, 1, BodyStream::Stderr, 0),
            segment(SESSION, 2, BodyStream::Stdout, 0),
        ];
        assert!(keys.is_sorted());
        assert_eq!(seq(&keys[2]), Some(2));
    }

    #[test]
    fn everything_of_a_session_is_under_it_and_nothing_else() {
        let next = SessionId::from_bytes([8; 16]);
        let worst = "\u{10FFFF}".repeat(FOREIGN_ID_BYTES);
        for key in [record(SESSION, 0), tool_call(SESSION, &worst), client_id(SESSION, "")] {
            assert!(under(SESSION.as_bytes()).contains(&key));
            assert!(!under(next.as_bytes()).contains(&key));
        }
        assert!(!under(SESSION.as_bytes()).contains(&record(next, 0)));
    }

    #[test]
    fn a_long_foreign_id_has_a_short_key_of_its_own() {
        let (a, b) = (format!("{}a", "x".repeat(5000)), format!("{}b", "x".repeat(5000)));
        assert_ne!(tool_call(SESSION, &a), tool_call(SESSION, &b));
        assert!(tool_call(SESSION, &a).len() < 300);
    }
}
