//! The board as the page keeps it, and how a notification changes it.

use leptos::prelude::*;
use model::{
    Board, Step, StepId, TaskCard, TaskId, Workflow, Workspace,
    wire::{BoardSnapshot, Notification, Since},
};

use super::{
    card::{CardState, card_state},
    news::Standing,
    rows::{Keyed, Rows},
    seen::Seen,
};

impl Keyed for TaskCard {
    type Key = TaskId;

    /// Ids sort by creation: the board shows the oldest task first.
    fn key(&self) -> TaskId {
        self.id
    }
}

/// What stays the same while tasks come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The workspace.
    pub workspace: Workspace,
    /// Its workflow.
    pub workflow: Workflow,
}

/// The board as it is now. Cheap to clone; every clone is the same board.
#[derive(Clone)]
pub struct LiveBoard {
    frame: ArcRwSignal<Option<Frame>>,
    /// The tasks of every step.
    pub tasks: Rows<TaskCard>,
    seen: ArcStoredValue<Seen>,
}

impl LiveBoard {
    /// The board that came with this revision; none on pages that have none.
    pub fn new(board: Option<Board>, epoch: &str, rev: u64) -> Self {
        let seen = if board.is_some() { Seen::at(epoch, rev) } else { Seen::default() };
        let (frame, tasks) = board.map_or((None, Vec::new()), |board| {
            let Board { workspace, workflow, tasks } = board;
            (Some(Frame { workspace, workflow }), tasks)
        });
        Self {
            frame: ArcRwSignal::new(frame),
            tasks: Rows::new(tasks),
            seen: ArcStoredValue::new(seen),
        }
    }

    /// Whether a board is here. Tracked.
    pub fn is_loaded(&self) -> bool {
        self.frame.with(Option::is_some)
    }

    /// The workspace's name; empty before the board is here. Tracked.
    pub fn workspace_name(&self) -> String {
        self.frame
            .with(|frame| frame.as_ref().map_or_else(String::new, |f| f.workspace.name.clone()))
    }

    /// The workflow's name; empty before the board is here. Tracked.
    pub fn workflow_name(&self) -> String {
        self.frame
            .with(|frame| frame.as_ref().map_or_else(String::new, |f| f.workflow.name.clone()))
    }

    /// The steps, in order. Tracked.
    pub fn steps(&self) -> Vec<Step> {
        self.frame.with(|frame| frame.as_ref().map_or_else(Vec::new, |f| f.workflow.steps.clone()))
    }

    /// The name of a step. Tracked.
    pub fn step_name(&self, id: StepId) -> Option<String> {
        self.steps().into_iter().find(|step| step.id == id).map(|step| step.name)
    }

    /// Which task stands in which step, in order of creation. Tracked.
    pub fn placement(&self) -> Vec<(StepId, TaskId)> {
        self.tasks
            .list()
            .iter()
            .map(|row| (row.record.with(|card| card.step_id), row.key))
            .collect()
    }

    /// The tasks that are running, failed or waiting, most urgent first. Tracked.
    pub fn watch(&self) -> Watch {
        watch(self.tasks.list().iter().map(|row| row.record.get()))
    }

    /// How each task stands. Tracked.
    pub fn standings(&self) -> Vec<Standing> {
        let standing = |card: &TaskCard| Standing {
            id: card.id,
            title: card.title.clone(),
            state: card_state(card),
        };
        self.tasks.list().iter().map(|row| row.record.with(standing)).collect()
    }

    /// What to tell the server that is already here.
    pub fn since(&self) -> Option<Since> {
        self.seen.with_value(Seen::since)
    }

    /// Whether something newer than this revision of this run is here.
    pub fn is_newer(&self, epoch: &str, rev: u64) -> bool {
        self.since().is_some_and(|since| since.epoch == epoch && since.rev > rev)
    }

    /// The server said that something was missed.
    pub fn forget(&self) {
        self.seen.update_value(Seen::forget);
    }

    /// Takes the answer of `board.subscribe`.
    pub fn take(&self, snapshot: BoardSnapshot) {
        self.seen.set_value(Seen::at(&snapshot.epoch, snapshot.rev));
        let Some(Board { workspace, workflow, tasks }) = snapshot.board else { return };
        self.tasks.replace(tasks);
        let frame = Some(Frame { workspace, workflow });
        if self.frame.with_untracked(|known| *known != frame) {
            self.frame.set(frame);
        }
    }

    /// Takes a notification, if it is about the board and news.
    pub fn apply(&self, notification: &Notification) {
        let Some(change) = change(notification) else { return };
        if self.seen.try_update_value(|seen| seen.admits(notification.rev())) != Some(true) {
            return;
        }
        match change {
            Change::Put(card) => self.tasks.upsert(card.clone()),
            Change::Drop(id) => self.tasks.remove(id),
        }
    }
}

enum Change<'a> {
    Put(&'a TaskCard),
    Drop(TaskId),
}

const fn change(notification: &Notification) -> Option<Change<'_>> {
    match notification {
        Notification::TaskCreated { task, .. } | Notification::TaskUpdated { task, .. } => {
            Some(Change::Put(task))
        }
        Notification::TaskDeleted { task_id, .. } => Some(Change::Drop(*task_id)),
        Notification::MessageAdded { .. }
        | Notification::MessageUpdated { .. }
        | Notification::DraftChanged { .. }
        | Notification::SessionStateChanged { .. }
        | Notification::TurnStarted { .. }
        | Notification::TurnCompleted { .. }
        | Notification::AgentUpdated { .. }
        | Notification::ProfilesChanged { .. }
        | Notification::Resync { .. } => None,
    }
}

/// The tasks that a person keeps an eye on, by how urgent they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Watch {
    /// They wait for the person.
    pub waiting: Vec<Watched>,
    /// They failed.
    pub failed: Vec<Watched>,
    /// Their agent works.
    pub running: Vec<Watched>,
}

/// A task in the watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The task.
    pub id: TaskId,
    /// Its name.
    pub title: String,
    /// The agent that works on it.
    pub agent_name: String,
}

impl Watch {
    /// Nothing is to be watched.
    pub const fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.failed.is_empty() && self.running.is_empty()
    }
}

fn watch(cards: impl Iterator<Item = TaskCard>) -> Watch {
    let mut watch = Watch::default();
    for card in cards {
        let list = match card_state(&card) {
            CardState::Waiting => &mut watch.waiting,
            CardState::Failed => &mut watch.failed,
            CardState::Running => &mut watch.running,
            CardState::Queued | CardState::Review | CardState::Stopped | CardState::Done => {
                continue;
            }
        };
        list.push(Watched { id: card.id, title: card.title, agent_name: card.agent_name });
    }
    watch
}

/// Where a page begins that shows one column at a time: at the first that has something that waits,
/// else at the first that has anything.
pub fn first_shown(
    steps: &[Step],
    placement: &[(StepId, TaskId)],
    waits: impl Fn(TaskId) -> bool,
) -> Option<usize> {
    let has = |step: &Step, wanted: &dyn Fn(TaskId) -> bool| {
        placement.iter().any(|(at, task)| *at == step.id && wanted(*task))
    };
    steps
        .iter()
        .position(|step| has(step, &waits))
        .or_else(|| steps.iter().position(|step| has(step, &|_| true)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::SessionState;

    fn titles(board: &LiveBoard) -> Vec<String> {
        board.tasks.list().iter().map(|row| row.record.get().title).collect()
    }

    fn live(cards: Vec<TaskCard>, rev: u64) -> LiveBoard {
        LiveBoard::new(Some(samples::board(cards)), "a", rev)
    }

    #[test]
    fn k_001_tasks_come_change_move_and_go() {
        let board = live(vec![samples::card(1, "one")], 5);
        board.apply(&Notification::TaskCreated { rev: 6, task: samples::card(2, "two") });
        let moved = TaskCard { step_id: samples::step(1), ..samples::card(1, "one, renamed") };
        board.apply(&Notification::TaskUpdated { rev: 7, task: moved });
        assert_eq!(titles(&board), ["one, renamed", "two"]);
        assert_eq!(
            board.placement(),
            [(samples::step(1), samples::task_id(1)), (samples::step(0), samples::task_id(2))]
        );
        board.apply(&Notification::TaskDeleted { rev: 8, task_id: samples::task_id(1) });
        assert_eq!(titles(&board), ["two"]);
    }

    #[test]
    fn k_001_an_older_notification_does_not_undo_a_newer_state() {
        let board = live(vec![samples::card(1, "new")], 5);
        board.apply(&Notification::TaskUpdated { rev: 5, task: samples::card(1, "old") });
        board.apply(&Notification::TaskDeleted { rev: 4, task_id: samples::task_id(1) });
        assert_eq!(titles(&board), ["new"]);
    }

    #[test]
    fn k_001_a_snapshot_of_another_run_replaces_everything() {
        let board = live(vec![samples::card(1, "one")], 500);
        board.take(BoardSnapshot {
            epoch: "b".into(),
            rev: 1,
            board: Some(samples::board(vec![samples::card(3, "three")])),
        });
        board.apply(&Notification::TaskCreated { rev: 2, task: samples::card(4, "four") });
        assert_eq!(titles(&board), ["three", "four"]);
    }

    #[test]
    fn a_snapshot_without_a_board_says_that_this_one_is_current() {
        let board = live(vec![samples::card(1, "one")], 5);
        board.take(BoardSnapshot { epoch: "a".into(), rev: 9, board: None });
        assert_eq!(titles(&board), ["one"]);
        assert_eq!(board.since(), Some(Since { epoch: "a".into(), rev: 9 }));
    }

    #[test]
    fn the_watch_sorts_by_urgency_and_leaves_out_what_is_well() {
        let running = samples::card_in(2, SessionState::Running);
        let failed = samples::card_in(3, SessionState::Failed);
        let board = live(vec![samples::card(1, "queued"), running, failed], 1);
        let watch = board.watch();
        let ids = |list: &[Watched]| list.iter().map(|w| w.id).collect::<Vec<_>>();
        assert_eq!(ids(&watch.waiting), []);
        assert_eq!(ids(&watch.failed), [samples::task_id(3)]);
        assert_eq!(ids(&watch.running), [samples::task_id(2)]);
        assert!(Watch::default().is_empty() && !watch.is_empty());
    }

    #[test]
    fn a_narrow_page_begins_where_something_waits() {
        let step = |n: u8| Step { id: StepId::from_bytes([n; 16]), name: String::new() };
        let steps = [step(1), step(2), step(3)];
        let task = |n: u8| TaskId::from_bytes([n; 16]);
        let placement = [(steps[1].id, task(1)), (steps[2].id, task(2))];
        assert_eq!(first_shown(&steps, &placement, |id| id == task(2)), Some(2));
        assert_eq!(first_shown(&steps, &placement, |_| false), Some(1));
        assert_eq!(first_shown(&steps, &[], |_| true), None);
    }
}
