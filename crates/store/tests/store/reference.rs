//! The store against a reference: ordered maps that apply the same operations the plain way.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use model::{
    AgentProcess, AgentProfile, BodyChange, BodyExtent, BodyStream, ContentPart, Session,
    StoredMessage, Task, ToolContent, Turn,
};
use proptest::prelude::*;
use store::{BrowserSession, Op, Options, Reader, Store, StoreError};

use crate::{
    disk::Disk,
    sample::{self, at, message, process, profile, session, session_id, task, task_id, turn},
};

const TASKS: u64 = 2;
const SESSIONS: u64 = 3;
const SEQS: u64 = 3;

/// A change that is meant; what cannot be known before (a body's extent) is left to the reference.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a test holds few of them")]
enum Step {
    Op(Op),
    Append { session: u64, seq: u64, stream: BodyStream, text: String, keep: u64 },
    Replace { session: u64, seq: u64, stream: BodyStream, text: String },
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Reference {
    tasks: BTreeMap<u64, Task>,
    sessions: BTreeMap<u64, Session>,
    turns: BTreeMap<(u64, u64), Turn>,
    messages: BTreeMap<(u64, u64), StoredMessage>,
    /// All that was ever in the stream since it began, and the offset of the first kept byte.
    bodies: BTreeMap<(u64, u64, u8), (String, u64)>,
    contents: BTreeMap<(u64, u64), Arc<ToolContent>>,
    drafts: BTreeMap<u64, String>,
    profiles: BTreeMap<u64, AgentProfile>,
    processes: BTreeMap<(u64, u32), AgentProcess>,
    browsers: BTreeMap<String, BrowserSession>,
    folders: BTreeMap<String, model::Timestamp>,
}

/// The number that a sample's id ends with.
fn number(id: &[u8; 16]) -> u64 {
    u64::from_be_bytes(id[8..].try_into().expect("eight bytes"))
}

fn extent((text, start): &(String, u64)) -> BodyExtent {
    BodyExtent { start: *start, end: text.len() as u64 }
}

impl Reference {
    /// Applies a step; the operation for the store, and whether it is to be taken.
    fn apply(&mut self, step: Step) -> (Op, bool) {
        match step {
            Step::Op(op) => {
                let taken = self.apply_op(op.clone());
                (op, taken)
            }
            Step::Append { session, seq, stream, text, keep } => {
                let mut body =
                    self.bodies.get(&(session, seq, stream as u8)).cloned().unwrap_or_default();
                body.0.push_str(&text);
                let mut start = body.1.max((body.0.len() as u64).saturating_sub(keep));
                while !body.0.is_char_boundary(start as usize) {
                    start += 1;
                }
                body.1 = start;
                self.change(session, seq, stream, body, BodyChange::Append { text, start })
            }
            Step::Replace { session, seq, stream, text } => {
                let body = (text.clone(), 0);
                self.change(session, seq, stream, body, BodyChange::Replace { text })
            }
        }
    }

    fn change(
        &mut self,
        session: u64,
        seq: u64,
        stream: BodyStream,
        body: (String, u64),
        change: BodyChange,
    ) -> (Op, bool) {
        let extent = extent(&body);
        let taken = self.sessions.contains_key(&session);
        if taken {
            self.bodies.insert((session, seq, stream as u8), body);
        }
        (Op::ChangeBody { session_id: session_id(session), seq, stream, change, extent }, taken)
    }

    fn apply_op(&mut self, op: Op) -> bool {
        let owner = match &op {
            Op::PutContent { session_id, .. } | Op::PutDraft { session_id, .. } => {
                Some(*session_id)
            }
            Op::PutTurn(it) => Some(it.session_id),
            Op::PutMessage(it) => Some(it.session_id),
            Op::PutProcess(it) => Some(it.session_id),
            _ => None,
        };
        if owner.is_some_and(|id| !self.sessions.contains_key(&number(id.as_bytes()))) {
            return false;
        }
        match op {
            Op::PutTask(it) => drop(self.tasks.insert(number(it.id.as_bytes()), it)),
            Op::DeleteTask(id) => self.delete_task(number(id.as_bytes())),
            Op::PutSession(it) => {
                if !self.tasks.contains_key(&number(it.task_id.as_bytes())) {
                    return false;
                }
                self.sessions.insert(number(it.id.as_bytes()), it);
            }
            Op::PutTurn(it) => {
                let key = (number(it.session_id.as_bytes()), number(it.id.as_bytes()));
                self.turns.insert(key, it);
            }
            Op::PutMessage(it) => {
                self.messages.insert((number(it.session_id.as_bytes()), it.seq), it);
            }
            Op::PutContent { session_id, seq, content } => {
                self.contents.insert((number(session_id.as_bytes()), seq), content);
            }
            Op::PutDraft { session_id, text } => {
                self.drafts.insert(number(session_id.as_bytes()), text);
            }
            Op::PutProfile(it) => drop(self.profiles.insert(number(it.id.as_bytes()), it)),
            Op::DeleteProfile(id) => drop(self.profiles.remove(&number(id.as_bytes()))),
            Op::PutProcess(it) => {
                self.processes.insert((number(it.session_id.as_bytes()), it.pid), it);
            }
            Op::DeleteProcess { session_id, pid } => {
                self.processes.remove(&(number(session_id.as_bytes()), pid));
            }
            Op::PutBrowserSession(it) => drop(self.browsers.insert(it.id.clone(), it)),
            Op::DeleteBrowserSession(id) => drop(self.browsers.remove(&id)),
            Op::RememberFolder { path, at } => drop(self.folders.insert(path, at)),
            Op::PutWorkspace(_) | Op::PutWorkflow(_) | Op::ChangeBody { .. } => unreachable!(),
        }
        true
    }

    fn delete_task(&mut self, task: u64) {
        self.tasks.remove(&task);
        self.sessions.retain(|_, session| session.task_id != task_id(task));
        let left: BTreeSet<u64> = self.sessions.keys().copied().collect();
        self.turns.retain(|(session, _), _| left.contains(session));
        self.messages.retain(|(session, _), _| left.contains(session));
        self.contents.retain(|(session, _), _| left.contains(session));
        self.drafts.retain(|session, _| left.contains(session));
        self.bodies.retain(|(session, _, _), _| left.contains(session));
        self.processes.retain(|(session, _), _| left.contains(session));
    }

    /// Whether a reader sees exactly this.
    fn assert_is(&self, reader: &Reader) -> Result<(), StoreError> {
        fn values<K, T: Clone>(map: &BTreeMap<K, T>) -> Vec<T> {
            map.values().cloned().collect()
        }
        assert_eq!(reader.tasks()?, values(&self.tasks));
        assert_eq!(reader.profiles()?, values(&self.profiles));
        assert_eq!(reader.processes()?, values(&self.processes));
        assert_eq!(reader.browser_sessions()?, values(&self.browsers));
        let mut folders: Vec<_> = self.folders.iter().map(|(path, at)| (at, path)).collect();
        folders.sort_by(|a, b| b.0.cmp(a.0).then(a.1.cmp(b.1)));
        let folders: Vec<_> = folders.into_iter().map(|(_, path)| path.clone()).collect();
        assert_eq!(reader.folders()?, folders);
        let open = self.turns.values().filter(|turn| turn.ended_at.is_none());
        let open: Vec<_> = open.map(|turn| (turn.session_id, turn.id)).collect();
        assert_eq!(reader.open_turns()?, open);
        for n in 0..TASKS {
            let sessions = self.sessions.values().filter(|session| session.task_id == task_id(n));
            let sessions: Vec<_> = sessions.cloned().collect();
            assert_eq!(reader.sessions_of(task_id(n))?, sessions);
        }
        for n in 0..SESSIONS {
            self.assert_session(reader, n)?;
        }
        for ((session, seq, stream), body) in &self.bodies {
            let stream = if *stream == 0 { BodyStream::Stdout } else { BodyStream::Stderr };
            let text = reader.body(session_id(*session), *seq, stream, extent(body))?;
            assert_eq!(text, body.0[body.1 as usize..]);
        }
        Ok(())
    }

    fn assert_session(&self, reader: &Reader, n: u64) -> Result<(), StoreError> {
        let id = session_id(n);
        assert_eq!(reader.session(id)?, self.sessions.get(&n).cloned());
        let of = |session: &u64| *session == n;
        let turns = self.turns.iter().filter(|((session, _), _)| of(session));
        let last = turns.map(|(_, turn)| turn).max_by_key(|turn| (turn.started_at, turn.id));
        assert_eq!(reader.last_turn(id)?, last.cloned());
        let messages = self.messages.iter().filter(|((session, _), _)| of(session));
        let messages: Vec<_> = messages.map(|(_, message)| message.clone()).collect();
        for message in &messages {
            assert_eq!(reader.message(id, message.id)?.as_ref(), Some(message));
        }
        assert_eq!(reader.last_seq(id)?, messages.last().map_or(0, |message| message.seq));
        assert_eq!(reader.messages(id, None, 100)?, (messages, false));
        assert_eq!(reader.draft(id)?, self.drafts.get(&n).cloned().unwrap_or_default());
        for seq in 1..=SEQS {
            let content = self.contents.get(&(n, seq)).map(|content| (**content).clone());
            assert_eq!(reader.content(id, seq)?, content);
        }
        Ok(())
    }
}

fn text() -> impl Strategy<Value = String> {
    let unit = prop::sample::select(vec!["a", "line\n", "\u{20ac}", "\u{1f980}"]);
    (unit, 0..9000usize).prop_map(|(unit, times)| unit.repeat(times))
}

fn step() -> impl Strategy<Value = Step> {
    let sessions = 0..SESSIONS;
    let place = (sessions.clone(), 1..=SEQS);
    let stream = prop::sample::select(vec![BodyStream::Stdout, BodyStream::Stderr]);
    let keep = prop::sample::select(vec![u64::MAX, 40_000, 10]);
    prop_oneof![
        3 => (0..TASKS).prop_map(|n| Step::Op(Op::PutTask(task(n)))),
        1 => (0..TASKS).prop_map(|n| Step::Op(Op::DeleteTask(task_id(n)))),
        4 => sessions.clone().prop_map(|n| Step::Op(Op::PutSession(session(n, n % TASKS)))),
        3 => (0..3u64, sessions.clone(), any::<bool>())
            .prop_map(|(n, of, ended)| Step::Op(Op::PutTurn(turn(n, session_id(of), ended)))),
        4 => (place.clone(), "[a-z]{0,9}").prop_map(|((of, seq), content)| {
            Step::Op(Op::PutMessage(message(session_id(of), seq, &content)))
        }),
        2 => (place.clone(), text()).prop_map(|((of, seq), text)| {
            let parts = vec![ContentPart::Text { text }];
            let content = Arc::new(ToolContent { parts, truncated: false });
            Step::Op(Op::PutContent { session_id: session_id(of), seq, content })
        }),
        2 => (sessions.clone(), "[a-z]{0,3}").prop_map(|(of, text)| {
            Step::Op(Op::PutDraft { session_id: session_id(of), text })
        }),
        6 => (place.clone(), stream.clone(), text(), keep).prop_map(
            |((session, seq), stream, text, keep)| Step::Append { session, seq, stream, text, keep }
        ),
        3 => (place, stream, text()).prop_map(
            |((session, seq), stream, text)| Step::Replace { session, seq, stream, text }
        ),
        1 => (0..3u64).prop_map(|n| Step::Op(Op::PutProfile(profile(n)))),
        1 => (0..3u64).prop_map(|n| Step::Op(Op::DeleteProfile(profile(n).id))),
        1 => (sessions.clone(), 1..3u32)
            .prop_map(|(of, pid)| Step::Op(Op::PutProcess(process(session_id(of), pid)))),
        1 => (sessions, 1..3u32).prop_map(|(of, pid)| {
            Step::Op(Op::DeleteProcess { session_id: session_id(of), pid })
        }),
        1 => (0..3u64).prop_map(|n| Step::Op(Op::PutBrowserSession(sample::browser_session(n)))),
        1 => (0..3u64)
            .prop_map(|n| Step::Op(Op::DeleteBrowserSession(sample::browser_session(n).id))),
        1 => (0..9u64, 0..9u64).prop_map(|(n, when)| {
            Step::Op(Op::RememberFolder { path: format!("/{n}"), at: at(when) })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_store_keeps_what_a_map_keeps(
        batches in prop::collection::vec(
            (prop::collection::vec(step(), 1..6), any::<bool>()), 1..16,
        ),
    ) {
        let disk = Disk::new();
        let store = Store::open_backend(disk.clone(), &Options::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut reference = Reference::default();
        for (steps, durable) in batches {
            let mut next = reference.clone();
            let (ops, taken): (Vec<_>, Vec<_>) =
                steps.into_iter().map(|step| next.apply(step)).unzip();
            let result = runtime.block_on(async {
                if durable { store.commit(ops).await } else { store.commit_lazy(ops).await }
            });
            // One operation that cannot be takes its whole batch with it.
            let taken = taken.into_iter().all(|taken| taken);
            prop_assert_eq!(result.is_ok(), taken, "{:?}", result);
            if taken {
                reference = next;
            }
            store.read(|reader| reference.assert_is(reader)).unwrap();
        }
        store.close();
        let store = Store::open_backend(disk, &Options::default()).unwrap();
        store.read(|reader| reference.assert_is(reader)).unwrap();
    }
}
