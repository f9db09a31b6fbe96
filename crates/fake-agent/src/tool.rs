//! The commands of a session: what of each is known so far.

use serde_json::Value;

use crate::{dialect::Dialect, directive::ExitCode};

/// A command as a tool call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// `toolCallId`.
    pub(crate) id: String,
    pub(crate) command: String,
    pub(crate) cwd: String,
    /// Everything that it has printed.
    pub(crate) output: String,
}

/// The commands that were started and have not ended, and how to tell about them.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    dialect: Dialect,
    started: usize,
    open: Vec<(usize, Call)>,
}

impl Tools {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, ..Self::default() }
    }

    /// A command that is not open yet; nothing is told of it.
    pub(crate) fn create(&mut self, command: &str, cwd: &str) -> Call {
        self.started += 1;
        Call {
            // A process that goes on with this session must not use it again.
            id: format!("call_{}_{}", std::process::id(), self.started),
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            output: String::new(),
        }
    }

    /// The command begins.
    pub(crate) fn open(&mut self, call: Call) -> Vec<Value> {
        let frames = self.dialect.frames().begin(&call);
        self.open.push((self.started, call));
        frames
    }

    /// The command prints. Nothing is told when there is none.
    pub(crate) fn print(&mut self, nth: Option<usize>, text: &str) -> Option<Value> {
        let at = self.position(nth)?;
        let call = &mut self.open[at].1;
        call.output.push_str(text);
        self.dialect.frames().output(call, text)
    }

    /// The command ends. Nothing is told when there is none.
    pub(crate) fn close(&mut self, nth: Option<usize>, exit: ExitCode) -> Vec<Value> {
        match self.position(nth) {
            Some(at) => self.dialect.frames().end(&self.open.remove(at).1, exit),
            None => Vec::new(),
        }
    }

    /// The newest command is not allowed.
    pub(crate) fn deny(&mut self) -> Vec<Value> {
        self.open.pop().map_or_else(Vec::new, |(_, call)| self.dialect.frames().denied(&call))
    }

    /// Whether a command is open.
    pub(crate) const fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    fn position(&self, nth: Option<usize>) -> Option<usize> {
        match nth {
            Some(nth) => self.open.iter().position(|(number, _)| *number == nth),
            None => self.open.len().checked_sub(1),
        }
    }
}
