//! What waits to be stored: changes of bodies in their order, and of each record its last form.

use std::collections::HashMap;

use model::TurnId;
use store::Op;

/// Operations of one session that go to the store in one batch.
#[derive(Default)]
pub(super) struct Pending {
    ops: Vec<Op>,
    /// Where a record stands among them.
    places: HashMap<Record, usize>,
}

#[derive(PartialEq, Eq, Hash)]
enum Record {
    Session,
    Turn(TurnId),
    /// By its place in the session.
    Message(u64),
}

impl Pending {
    /// Adds operations. A record that waits already takes its new form at its old place: within a
    /// batch nothing looks at it.
    pub(super) fn extend(&mut self, ops: impl IntoIterator<Item = Op>) {
        for op in ops {
            let record = match &op {
                Op::PutSession(_) => Some(Record::Session),
                Op::PutTurn(turn) => Some(Record::Turn(turn.id)),
                Op::PutMessage(message) => Some(Record::Message(message.seq)),
                _ => None,
            };
            let place = record.map(|record| *self.places.entry(record).or_insert(self.ops.len()));
            match place.and_then(|place| self.ops.get_mut(place)) {
                Some(waiting) => *waiting = op,
                None => self.ops.push(op),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(super) fn any(&self, which: impl Fn(&Op) -> bool) -> bool {
        self.ops.iter().any(which)
    }

    pub(super) fn take(&mut self) -> Vec<Op> {
        self.places.clear();
        std::mem::take(&mut self.ops)
    }
}

#[cfg(test)]
mod tests {
    use model::{SessionId, Timestamp, Turn};

    use super::*;

    #[test]
    fn the_last_form_of_a_record_is_stored_and_only_that() {
        let turn = |id: u8, end: Option<i64>| {
            Op::PutTurn(Turn {
                id: TurnId::from_bytes([id; 16]),
                session_id: SessionId::from_bytes([0; 16]),
                started_at: Timestamp::from_millis(1),
                ended_at: end.map(Timestamp::from_millis),
                outcome: None,
            })
        };
        let mut pending = Pending::default();
        pending.extend([turn(1, None), turn(2, None), turn(1, Some(5))]);
        assert_eq!(pending.take(), [turn(1, Some(5)), turn(2, None)]);
        pending.extend([turn(1, Some(6))]);
        assert_eq!(pending.take(), [turn(1, Some(6))]);
    }
}
