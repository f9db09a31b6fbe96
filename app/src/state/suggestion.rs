//! What can be put into a message while it is written. Each source (commands of the agent; files,
//! prompts and tasks) says what it offers for a draft; the list of them is the same for all.

use std::ops::Range;

/// Something that can be put into a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// Its name, literal.
    pub name: String,
    /// What follows the name, if anything.
    pub hint: Option<String>,
    /// What it is, in words.
    pub text: String,
    /// What stands in the draft for it so far, in bytes.
    pub replaces: Range<usize>,
    /// What is to stand there.
    pub insert: String,
}

impl Suggestion {
    /// The draft with it.
    pub fn accepted(&self, draft: &str) -> String {
        let before = draft.get(..self.replaces.start).unwrap_or(draft);
        let behind = draft.get(self.replaces.end..).unwrap_or_default();
        format!("{before}{}{behind}", self.insert)
    }
}

/// The place after a step up or down, round the ends.
pub const fn moved(at: usize, count: usize, down: bool) -> usize {
    if count == 0 {
        return 0;
    }
    if down { (at + 1) % count } else { (at + count - 1) % count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_071_steps_go_round_the_ends() {
        assert_eq!((moved(0, 3, true), moved(2, 3, true), moved(0, 3, false)), (1, 0, 2));
        assert_eq!(moved(0, 0, true), 0);
    }

    #[test]
    fn a_suggestion_takes_the_place_of_what_was_written_for_it() {
        let suggestion = Suggestion {
            name: "main.rs".into(),
            hint: None,
            text: String::new(),
            replaces: 4..7,
            insert: "@main.rs ".into(),
        };
        assert_eq!(suggestion.accepted("see @ma now"), "see @main.rs  now");
        assert_eq!(suggestion.accepted("x"), "x@main.rs ", "the draft has changed since");
    }
}
