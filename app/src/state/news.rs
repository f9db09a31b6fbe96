//! What a person would want to hear of tasks that they do not look at.

use std::collections::HashMap;

use model::TaskId;

use super::card::CardState;

/// The most that are shown at once; the newest stay.
pub const SHOWN: usize = 3;

/// A task, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The task.
    pub id: TaskId,
    /// Its name.
    pub title: String,
    /// How it stands.
    pub state: CardState,
}

impl Standing {
    /// What has come of it, in words that follow its name.
    pub const fn words(&self) -> &'static str {
        match self.state {
            CardState::Waiting => "waits for your answer",
            CardState::Failed => "failed",
            _ => "has answered",
        }
    }
}

/// What has come of tasks whose agent worked: it asks, it answered, it failed. What a person did
/// themselves (stop, delete, move) is no news to them.
pub fn news(before: &[Standing], now: &[Standing]) -> Vec<Standing> {
    let known: HashMap<TaskId, CardState> =
        before.iter().map(|standing| (standing.id, standing.state)).collect();
    let is_news = |standing: &&Standing| {
        let worked = known.get(&standing.id) == Some(&CardState::Running);
        let waits =
            matches!(standing.state, CardState::Waiting | CardState::Failed | CardState::Review);
        worked && waits
    };
    now.iter().filter(is_news).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;

    fn standing(id: u8, state: CardState) -> Standing {
        Standing { id: samples::task_id(id), title: format!("task {id}"), state }
    }

    #[test]
    fn only_what_comes_of_work_is_news() {
        let running = [1, 2, 3, 4, 5].map(|id| standing(id, CardState::Running));
        let now = [
            standing(1, CardState::Waiting),
            standing(2, CardState::Review),
            standing(3, CardState::Failed),
            standing(4, CardState::Stopped),
            standing(5, CardState::Running),
            standing(6, CardState::Failed),
        ];
        let heard: Vec<_> = news(&running, &now).into_iter().map(|it| it.title).collect();
        assert_eq!(heard, ["task 1", "task 2", "task 3"]);
        assert!(news(&now, &now).is_empty(), "once");
        assert!(news(&[], &now).is_empty(), "not what was so when the page came");
    }

    #[test]
    fn a_question_that_is_answered_is_no_news() {
        let before = [standing(1, CardState::Waiting)];
        assert!(news(&before, &[standing(1, CardState::Running)]).is_empty());
    }
}
