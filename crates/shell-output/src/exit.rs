//! How a command ended: every place that says so, in their order of precedence.

use model::Signal;
use serde_json::Value;

use crate::{frame::ToolFrame, raw_output, value};

/// What has been said about a command's end. Later frames win within a place, never across.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Exit {
    /// `_meta.terminal_exit.exit_code`.
    pub(crate) terminal: Option<i64>,
    /// The same, from a program that only says whether the command failed.
    pub(crate) failed_flag: Option<bool>,
    /// A field of `rawOutput`.
    pub(crate) native: Option<i64>,
    /// A `<return-code>` tag.
    pub(crate) tag: Option<i64>,
    /// What the store has, of which the place is not known any more: anything newer counts more.
    pub(crate) stored: Option<i64>,
    /// What ended the process.
    pub(crate) signal: Option<Signal>,
}

impl Exit {
    /// Reads the fields that mean the same from every agent.
    pub(crate) fn read(frame: &ToolFrame) -> Self {
        let terminal = frame.meta_field("terminal_exit");
        let field = |key: &str| terminal.and_then(|exit| exit.get(key));
        let raw = frame.raw_output.as_ref();
        let signals = [field("signal"), raw.and_then(|raw| raw.get("signal"))];
        Self {
            terminal: field("exit_code").or(field("code")).and_then(value::exit_code),
            failed_flag: None,
            native: raw.and_then(native),
            tag: None,
            stored: None,
            signal: signals.into_iter().flatten().find_map(value::signal),
        }
    }

    /// The same, where the terminal's code only says whether the command failed.
    pub(crate) fn with_flag(self) -> Self {
        Self { terminal: None, failed_flag: self.terminal.map(|code| code != 0), ..self }
    }

    /// Adds what a later frame says. Returns whether that was new.
    pub(crate) fn absorb(&mut self, later: Self) -> bool {
        let before = self.clone();
        let earlier = std::mem::take(self);
        *self = Self {
            terminal: later.terminal.or(earlier.terminal),
            failed_flag: later.failed_flag.or(earlier.failed_flag),
            native: later.native.or(earlier.native),
            tag: later.tag.or(earlier.tag),
            stored: earlier.stored,
            signal: later.signal.or(earlier.signal),
        };
        *self != before
    }

    /// Some place says how the command ended.
    pub(crate) const fn is_known(&self) -> bool {
        self.terminal.is_some()
            || self.failed_flag.is_some()
            || self.native.is_some()
            || self.tag.is_some()
            || self.stored.is_some()
    }

    /// The exit code; `stated` is the one that stands in the agent's own words around the output.
    pub(crate) fn code(&self, stated: Option<i64>) -> Option<i64> {
        match self.failed_flag {
            Some(true) => stated.or(self.stored),
            Some(false) => Some(0),
            None => self.terminal.or(self.native).or(self.tag).or(stated).or(self.stored),
        }
    }
}

/// The exit code in `rawOutput`'s own fields.
fn native(raw: &Value) -> Option<i64> {
    let result = raw_output::result(raw);
    ["/exit_code", "/metadata/exit", "/return_code"]
        .iter()
        .find_map(|path| value::exit_code(result.pointer(path)?))
}
