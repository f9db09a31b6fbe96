//! What a session's machine wants stored and told.

use model::{Session, Turn};
use store::Op;

use super::transcript::Changed;

/// What is to be stored and told.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) messages: Vec<Changed>,
    /// What the agent offers has changed; it is told and not stored.
    pub(crate) offers: bool,
    /// The session's record, if it changed.
    pub(crate) session: Option<Session>,
    /// The turn, if it began, ended, or changed.
    pub(crate) turn: Option<Turn>,
}

impl Changes {
    /// What stores them, bodies in front of the records that count their bytes.
    pub(crate) fn to_ops(&self) -> Vec<Op> {
        let mut ops = Vec::new();
        for changed in &self.messages {
            let message = &changed.message;
            for (stream, change, extent) in &changed.bodies {
                ops.push(Op::ChangeBody {
                    session_id: message.session_id,
                    seq: message.seq,
                    stream: *stream,
                    change: change.clone(),
                    extent: *extent,
                });
            }
            ops.extend(changed.content.clone().map(|content| Op::PutContent {
                session_id: message.session_id,
                seq: message.seq,
                content,
            }));
            ops.push(Op::PutMessage(message.clone()));
        }
        ops.extend(self.session.clone().map(Op::PutSession));
        ops.extend(self.turn.clone().map(Op::PutTurn));
        ops
    }
}
