//! One stream of a command: what the agent sent of it, and what of that the store has.

use std::borrow::Cow;

use model::{BodyChange, BodyExtent, BodyStream};

use crate::{
    tail::{Tail, View},
    window::{self, Joint},
};

/// How much a text counts. A text never takes the place of one that counts more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// Counts only while there is nothing better.
    #[default]
    Fallback,
    /// Output as it comes.
    Live,
    /// The agent's final word.
    Final,
    /// The command did not run, whatever text came or comes for it.
    Refused,
}

/// How a text joins what is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit<'a> {
    /// It follows.
    Append(Cow<'a, str>),
    /// It follows, or is all of a window that has moved on: what is held already is not said twice.
    Window(Cow<'a, str>),
    /// It takes the place of everything.
    Replace(Cow<'a, str>),
    /// It replaces what it begins with, else follows: for agents of which neither is known.
    Continue(Cow<'a, str>),
    /// There is no output, and what was taken for it is none.
    Withdraw,
}

/// What a frame says about one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output<'a> {
    pub(crate) stream: BodyStream,
    pub(crate) weight: Weight,
    pub(crate) edit: Edit<'a>,
    /// The agent says that it cut this text.
    pub(crate) cut: bool,
    /// Nothing but output: no command is shown in front of it.
    pub(crate) bare: bool,
}

impl<'a> Output<'a> {
    pub(crate) const fn stdout(weight: Weight, edit: Edit<'a>) -> Self {
        Self { stream: BodyStream::Stdout, weight, edit, cut: false, bare: false }
    }

    pub(crate) const fn stderr(weight: Weight, edit: Edit<'a>) -> Self {
        Self { stream: BodyStream::Stderr, weight, edit, cut: false, bare: false }
    }

    pub(crate) const fn withdrawn(stream: BodyStream) -> Self {
        Self { stream, weight: Weight::Refused, edit: Edit::Withdraw, cut: false, bare: false }
    }
}

/// One stream of a command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Body {
    tail: Option<Tail>,
    weight: Weight,
    cut: bool,
    bare: bool,
    origin: Origin,
    kept: Kept,
}

/// Where the begin of a text comes from, and with it what the agent's own words in it are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From the agent, its words included.
    #[default]
    Agent,
    /// From the store, which has only output; nothing came since.
    Stored,
    /// From the store; what came since follows it.
    Continued,
}

/// What the store has after the changes handed out so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    text: String,
    /// Position of `text` in the agent's stream.
    at: usize,
    extent: BodyExtent,
}

/// How the store gets from what it has to a view.
enum Step {
    Stay,
    Append { overlap: usize },
    Replace,
}

impl Body {
    /// A stream as the store has it: `text` is what `extent` says is kept.
    pub(crate) fn restore(text: String, extent: BodyExtent, cut: bool) -> Self {
        let at = usize::try_from(extent.start).unwrap_or(usize::MAX);
        Self {
            tail: Some(Tail::restore(text.clone(), at)),
            weight: Weight::Live,
            cut,
            bare: false,
            origin: Origin::Stored,
            kept: Kept { text, at, extent },
        }
    }

    /// Where the begin of the text comes from.
    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }

    /// `None`: the agent has sent no such stream.
    pub(crate) const fn tail(&self) -> Option<&Tail> {
        self.tail.as_ref()
    }

    /// The agent cut what is held.
    pub(crate) const fn is_cut(&self) -> bool {
        self.cut
    }

    /// Nothing but output is held: no command in front of it.
    pub(crate) const fn is_bare(&self) -> bool {
        self.bare
    }

    /// Takes what a frame says. `late`: the call was final before this frame, so that live text
    /// cannot be a part of the final word any more, and follows it. Returns whether text changed.
    pub(crate) fn apply(&mut self, output: Output<'_>, late: bool) -> bool {
        let weight = match output.weight {
            Weight::Live if late && self.weight == Weight::Final => Weight::Final,
            weight => weight,
        };
        if weight < self.weight {
            return false;
        }
        let counts_more = weight > self.weight;
        self.weight = weight;
        let text = match output.edit {
            Edit::Withdraw => {
                self.origin = Origin::Agent;
                return self.tail.take().is_some();
            }
            Edit::Append(text) if !counts_more => return self.append(&text),
            Edit::Continue(text) if !counts_more && !self.is_continued_by(&text) => {
                return self.append(&text);
            }
            Edit::Window(text) if !counts_more => return self.move_window(&text),
            Edit::Append(text)
            | Edit::Window(text)
            | Edit::Replace(text)
            | Edit::Continue(text) => text,
        };
        self.bare = output.bare;
        let was_cut = std::mem::replace(&mut self.cut, output.cut);
        let is_new = self.tail.is_none();
        let continues = self.holds_text() && self.is_continued_by(&text);
        let changed = self.tail.get_or_insert_default().replace(&text);
        self.origin = match self.origin {
            Origin::Stored if !changed => Origin::Stored,
            Origin::Stored | Origin::Continued if continues => Origin::Continued,
            _ => Origin::Agent,
        };
        changed || is_new || was_cut != output.cut
    }

    fn append(&mut self, text: &str) -> bool {
        let is_new = self.tail.is_none();
        if self.origin == Origin::Stored && !text.is_empty() {
            // Where nothing was stored, what comes now is the begin.
            self.origin = if self.holds_text() { Origin::Continued } else { Origin::Agent };
        }
        self.tail.get_or_insert_default().append(text);
        is_new || !text.is_empty()
    }

    fn move_window(&mut self, text: &str) -> bool {
        let held = self.tail.as_ref().map_or("", Tail::text);
        match window::PI.joint(held, text) {
            Joint::Follows => self.append(text),
            Joint::Repeats(length) => self.append(&text[length..]),
            Joint::Gap => {
                // The window begins with a line, so that a line end is among what was lost.
                if !held.ends_with('\n') && text.contains('\n') {
                    self.append("\n");
                }
                self.cut = true;
                self.append(text)
            }
        }
    }

    fn holds_text(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| !tail.text().is_empty())
    }

    fn is_continued_by(&self, text: &str) -> bool {
        self.tail.as_ref().is_none_or(|tail| tail.continued_by(text).is_some())
    }

    /// The extent that the store has once it has taken the next change.
    pub(crate) fn extent(&self, view: View<'_>) -> BodyExtent {
        self.step(view).1
    }

    /// The change that brings the store to `view`, if it is not there, and what it then has.
    pub(crate) fn next_change(&self, view: Option<View<'_>>) -> Option<(BodyChange, Kept)> {
        let view = view.unwrap_or(View { text: "", at: 0, truncated: false });
        let (step, extent) = self.step(view);
        let change = match step {
            Step::Stay => return None,
            Step::Append { overlap } => {
                BodyChange::Append { text: view.text[overlap..].to_owned(), start: extent.start }
            }
            Step::Replace => BodyChange::Replace { text: view.text.to_owned() },
        };
        Some((change, Kept { text: view.text.to_owned(), at: view.at, extent }))
    }

    pub(crate) fn set_kept(&mut self, kept: Kept) {
        self.kept = kept;
    }

    fn step(&self, view: View<'_>) -> (Step, BodyExtent) {
        let Kept { text, at, extent } = &self.kept;
        let dropped = if view.text.starts_with(text.as_str()) {
            Some(0)
        } else {
            view.at.checked_sub(*at).filter(|&dropped| dropped > 0)
        };
        let overlap = dropped.and_then(|dropped| text.get(dropped..));
        match (dropped, overlap) {
            (Some(0), Some(held)) if held.len() == view.text.len() => (Step::Stay, *extent),
            (Some(dropped), Some(held)) if view.text.starts_with(held) => {
                let start = extent.start + dropped as u64;
                let end = start + view.text.len() as u64;
                (Step::Append { overlap: held.len() }, BodyExtent { start, end })
            }
            _ => (Step::Replace, BodyExtent { start: 0, end: view.text.len() as u64 }),
        }
    }
}
