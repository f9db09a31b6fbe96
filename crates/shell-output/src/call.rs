//! One shell command, from its first frame to its last.

use model::{
    BodyChange, BodyExtent, BodyStream, OutputRecord, ShellExec, ToolStatus,
    ToolStatus::{Cancelled, Complete, Error, InProgress, Pending},
};

use crate::{
    Dialect, FrameOrigin, ToolFrame,
    body::{Body, Origin},
    dialect::{Ending, Scene, Trim},
    exit::Exit,
    input::Input,
    tail::View,
};

/// Whether something that is stored or shown is different now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Change {
    /// It is.
    pub changed: bool,
}

/// Why a call was cancelled on this side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelReason {
    /// A person stopped it: without an exit code it stays cancelled, whatever the agent says.
    User,
    /// The prompt ended while it was open: whatever the agent still says replaces that.
    Sweep,
}

/// A call as the store has it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredCall {
    /// The agent's title of the call.
    pub title: String,
    /// The payload, with the extents of its bodies.
    pub exec: ShellExec<Option<OutputRecord>>,
    /// Where it stands; `None` while nothing is known.
    pub status: Option<ToolStatus>,
    /// Why it was cancelled on this side, if that is what its status says.
    pub cancelled: Option<CancelReason>,
    /// The kept part of the first stream.
    pub stdout: Option<String>,
    /// The kept part of the second stream.
    pub stderr: Option<String>,
}

/// The state of one shell command.
///
/// Frames go in by [`Self::apply`]; the payload comes out by [`Self::exec`], and the bodies, which
/// are stored beside it, by [`Self::take_body_changes`].
#[derive(Debug, Clone)]
pub struct ShellCall {
    dialect: Dialect,
    title: String,
    input: Input,
    /// The agent's last word on the status.
    reported: Option<ToolStatus>,
    cancelled: Option<CancelReason>,
    exit: Exit,
    stdout: Body,
    stderr: Body,
}

impl ShellCall {
    /// A command of which nothing is known.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            title: String::new(),
            input: Input::default(),
            reported: None,
            cancelled: None,
            exit: Exit::default(),
            stdout: Body::default(),
            stderr: Body::default(),
        }
    }

    /// A command that was let go, for what the agent says about it after that. What changes from
    /// here on follows what the store has.
    pub fn restore(dialect: Dialect, stored: StoredCall) -> Self {
        let StoredCall { title, exec, status, cancelled, stdout, stderr } = stored;
        let ShellExec { command, work_dir, description, timeout, background, output } = exec;
        let output = output.unwrap_or_default();
        // With a code it is the agent itself that said cancelled.
        let cancelled = cancelled.filter(|_| output.exit_code.is_none());
        let body = |extent: Option<BodyExtent>, text: Option<String>| {
            // A body that the record does not know is none.
            extent.map(|extent| Body::restore(text.unwrap_or_default(), extent, output.truncated))
        };
        Self {
            dialect,
            title,
            input: Input {
                command: Some(command).filter(|command| !command.is_empty()),
                work_dir,
                description,
                timeout,
                background,
            },
            reported: status.filter(|_| cancelled.is_none()),
            cancelled,
            exit: Exit {
                stored: output.exit_code,
                signal: output.signal.clone(),
                ..Exit::default()
            },
            stdout: body(output.stdout, stdout).unwrap_or_default(),
            stderr: body(output.stderr, stderr).unwrap_or_default(),
        }
    }

    /// Takes a frame of this call, whatever brought it.
    pub fn apply(&mut self, frame: &ToolFrame) -> Change {
        if frame.is_empty_update() {
            return Change { changed: false };
        }
        let dialect = self.dialect.clone();
        let grammar = dialect.grammar();
        let status = self.status();
        let late = self.is_final();
        let mut changed = self.input.fill(grammar.input(frame));
        changed |= self.rename(frame.title.as_deref());
        changed |= self.exit.absorb(grammar.exit(frame));
        self.report(frame);
        for output in grammar.outputs(frame, self.is_final()) {
            changed |= self.body_mut(output.stream).apply(output, late);
        }
        Change { changed: changed || self.status() != status }
    }

    /// Ends an open call on this side; what it has said stays. A command that has ended, or that
    /// goes on in the background when its prompt ends, is left alone.
    pub fn cancel(&mut self, reason: CancelReason) -> Change {
        let goes_on = reason == CancelReason::Sweep && self.input.background;
        if goes_on || self.status().is_terminal() {
            return Change { changed: false };
        }
        self.cancelled = Some(reason);
        Change { changed: true }
    }

    /// Where the call stands (S-022).
    pub fn status(&self) -> ToolStatus {
        let trim = self.trim();
        let reported = self.reported.unwrap_or(Pending);
        let failed = self.exit.failed_flag == Some(true) || trim.ending == Some(Ending::TimedOut);
        match self.exit_code(&trim) {
            _ if reported == Cancelled => Cancelled,
            Some(0) if reported != Error => Complete,
            Some(_) => Error,
            None if self.cancelled == Some(CancelReason::User) => Cancelled,
            None if failed => Error,
            None if trim.ending == Some(Ending::Aborted) => Cancelled,
            None if reported.is_terminal() => reported,
            None if self.cancelled.is_some() => Cancelled,
            None => reported,
        }
    }

    /// The agent's title of the call; empty until it gave one.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The payload as it is stored. Its extents are right for a store that has taken every change
    /// of [`Self::take_body_changes`], the pending ones included.
    pub fn exec(&self) -> ShellExec<Option<OutputRecord>> {
        let Input { command: _, work_dir, description, timeout, background } = self.input.clone();
        ShellExec {
            command: self.command().to_owned(),
            work_dir,
            description,
            timeout,
            background,
            output: Some(self.output()).filter(|output| *output != OutputRecord::default()),
        }
    }

    /// Combined text, or the first of two named streams; `None` until the agent has sent it.
    pub fn stdout(&self) -> Option<&str> {
        self.view(BodyStream::Stdout).map(|view| view.text)
    }

    /// What the agent itself names stderr; `None` until it has.
    pub fn stderr(&self) -> Option<&str> {
        self.view(BodyStream::Stderr).map(|view| view.text)
    }

    /// The changes of the stored bodies since the last call, at most one for each stream.
    pub fn take_body_changes(&mut self) -> Vec<(BodyStream, BodyChange)> {
        let mut changes = Vec::new();
        for stream in [BodyStream::Stdout, BodyStream::Stderr] {
            if let Some((change, kept)) = self.body(stream).next_change(self.view(stream)) {
                self.body_mut(stream).set_kept(kept);
                changes.push((stream, change));
            }
        }
        changes
    }

    fn command(&self) -> &str {
        let titled = || self.dialect.grammar().titled_command(&self.title);
        self.input.command.as_deref().or_else(titled).unwrap_or_default()
    }

    fn output(&self) -> OutputRecord {
        let views =
            [BodyStream::Stdout, BodyStream::Stderr].map(|stream| (stream, self.view(stream)));
        let is_cut = |(stream, view): &(BodyStream, Option<View<'_>>)| {
            view.is_some_and(|view| view.truncated || self.body(*stream).is_cut())
        };
        let truncated = views.iter().any(is_cut) || self.trim().cut;
        let [stdout, stderr] = views.map(|(stream, view)| Some(self.body(stream).extent(view?)));
        OutputRecord {
            exit_code: self.exit_code(&self.trim()),
            signal: self.exit.signal.clone(),
            truncated,
            stdout,
            stderr,
        }
    }

    fn rename(&mut self, title: Option<&str>) -> bool {
        let Some(title) = title.filter(|title| *title != self.title) else { return false };
        title.clone_into(&mut self.title);
        true
    }

    /// Takes the agent's word on the status. Nothing goes back: a permission request says
    /// `pending` of a call that is under way, and a late update does not open one that has ended.
    fn report(&mut self, frame: &ToolFrame) {
        let unsaid = if frame.origin == FrameOrigin::Permission { Pending } else { InProgress };
        let status = frame.status.unwrap_or(unsaid);
        let goes_on = match self.reported {
            None | Some(Pending) => true,
            Some(InProgress) => status != Pending,
            Some(_) => status.is_terminal(),
        };
        if goes_on {
            self.reported = Some(status);
        }
    }

    /// The agent has ended the call, by a status or by an exit (S-011).
    fn is_final(&self) -> bool {
        self.reported.is_some_and(ToolStatus::is_terminal) || self.exit.is_known()
    }

    fn exit_code(&self, trim: &Trim) -> Option<i64> {
        // The flag of a command that goes on in the background is about its start.
        let has_ended = !(self.input.background && self.exit.failed_flag == Some(false));
        self.exit.code(trim.code).filter(|_| has_ended)
    }

    fn body(&self, stream: BodyStream) -> &Body {
        match stream {
            BodyStream::Stdout => &self.stdout,
            BodyStream::Stderr => &self.stderr,
        }
    }

    fn body_mut(&mut self, stream: BodyStream) -> &mut Body {
        match stream {
            BodyStream::Stdout => &mut self.stdout,
            BodyStream::Stderr => &mut self.stderr,
        }
    }

    fn view(&self, stream: BodyStream) -> Option<View<'_>> {
        let tail = self.body(stream).tail()?;
        Some(match stream {
            BodyStream::Stdout => tail.view(self.trim().shown),
            BodyStream::Stderr => tail.view(0..tail.text().len()),
        })
    }

    /// What of stdout is output. Asked anew each time: what a text's begin or end means can depend
    /// on what came after it.
    fn trim(&self) -> Trim {
        let Some(tail) = self.stdout.tail() else { return Trim::all("") };
        let origin = self.stdout.origin();
        if origin == Origin::Stored {
            return Trim::all(tail.text());
        }
        let code = self.exit.code(None);
        let scene = Scene {
            command: self.command(),
            work_dir: self.input.work_dir.as_deref(),
            is_whole: tail.is_whole() && origin == Origin::Agent,
            is_settled: self.is_final() || self.cancelled.is_some(),
            has_failed: self.reported == Some(Error)
                || self.exit.failed_flag == Some(true)
                || code.is_some_and(|code| code != 0),
            has_code: code.is_some(),
            may_echo: !self.stdout.is_bare(),
        };
        self.dialect.grammar().trim(tail.text(), &scene)
    }
}
