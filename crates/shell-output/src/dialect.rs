//! What an agent's fields mean.

mod auggie;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod generic;
mod omp;
mod opencode;
mod pi;
mod qwen;

use std::{fmt::Debug, ops::Range, sync::Arc};

use model::{AgentKind, Departure};

use crate::{
    body::{Edit, Output, Weight},
    echo::{self, Echo},
    exit::Exit,
    frame::ToolFrame,
    input::Input,
    raw_output::Streams,
};

/// How one agent reports shell commands: its rule, with the measured departures of the program.
#[derive(Debug, Clone)]
pub struct Dialect {
    agent: AgentKind,
    grammar: Arc<dyn Grammar>,
}

impl Dialect {
    /// The dialect of `agent`. Without `departures` it is the source documents' rule.
    pub fn new(agent: AgentKind, departures: &[Departure]) -> Self {
        let grammar: Arc<dyn Grammar> = match agent {
            AgentKind::OpenCode => Arc::new(opencode::OpenCode::new(departures)),
            AgentKind::Codex => Arc::new(codex::Codex::new(departures)),
            AgentKind::Claude => Arc::new(claude::Claude::new(departures)),
            AgentKind::Auggie => Arc::new(auggie::Auggie::new(departures)),
            AgentKind::Omp => Arc::new(omp::Omp::new(departures)),
            AgentKind::Pi => Arc::new(pi::Pi::new(departures)),
            AgentKind::Gemini => Arc::new(gemini::Gemini::new(departures)),
            AgentKind::Copilot => Arc::new(copilot::Copilot::new(departures)),
            AgentKind::Qwen => Arc::new(qwen::Qwen::new(departures)),
            AgentKind::Generic => Arc::new(generic::Generic),
        };
        Self { agent, grammar }
    }

    /// The agent that speaks it.
    pub const fn agent(&self) -> AgentKind {
        self.agent
    }

    pub(crate) fn grammar(&self) -> &dyn Grammar {
        &*self.grammar
    }
}

/// What several agents write where a command wrote nothing.
const NO_OUTPUT: &str = "(no output)";

/// The rules of a dialect. They hold no state: what a command has said so far is in its call.
pub(crate) trait Grammar: Debug + Send + Sync {
    /// What the frame says about the command itself.
    fn input(&self, frame: &ToolFrame) -> Input {
        Input::read(frame)
    }

    /// The command, for an agent that names it in the title alone; the last title counts.
    fn titled_command<'a>(&self, _title: &'a str) -> Option<&'a str> {
        None
    }

    /// What the frame says about the command's end.
    fn exit(&self, frame: &ToolFrame) -> Exit {
        Exit::read(frame)
    }

    /// What the frame says about the output, in the order in which it counts. `is_final`: with
    /// this frame the command has a terminal status or a known exit.
    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>>;

    /// What of the first stream is output, and what the agent's words around it state.
    fn trim(&self, text: &str, _scene: &Scene<'_>) -> Trim {
        Trim::all(text)
    }
}

/// What is known when output is told from the agent's words around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) command: &'a str,
    pub(crate) work_dir: Option<&'a str>,
    /// The text begins where the output began.
    pub(crate) is_whole: bool,
    /// Nothing more is expected.
    pub(crate) is_settled: bool,
    /// The agent, or a code that it gave, says that the command failed.
    pub(crate) has_failed: bool,
    /// A field gave the exit code.
    pub(crate) has_code: bool,
    /// The text may begin with the command: it comes from a place where agents show it.
    pub(crate) may_echo: bool,
}

/// The part of a text that is output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trim {
    pub(crate) shown: Range<usize>,
    /// The exit code that the rest states.
    pub(crate) code: Option<i64>,
    /// What the rest says that happened.
    pub(crate) ending: Option<Ending>,
    /// The rest says that the output was cut.
    pub(crate) cut: bool,
}

/// An end that an agent puts in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    TimedOut,
    Aborted,
}

impl Trim {
    pub(crate) const fn all(text: &str) -> Self {
        Self::part(0..text.len())
    }

    pub(crate) const fn part(shown: Range<usize>) -> Self {
        Self { shown, code: None, ending: None, cut: false }
    }
}

impl Scene<'_> {
    /// Where output begins behind the command that an agent shows in front of it.
    fn behind_echo(&self, text: &str, cut_chars: Option<usize>, work_dir: Option<&str>) -> usize {
        if !self.is_whole || !self.may_echo {
            return 0;
        }
        match echo::leading(text, self.command, work_dir, cut_chars) {
            Echo::Whole(len) => len,
            // Half an echo is not shown while the rest of it may come.
            Echo::Begun if !self.is_settled => text.len(),
            Echo::Begun | Echo::None => 0,
        }
    }
}

/// Streams that take the place of what is held.
fn replacing(streams: Streams<'_>, weight: Weight) -> impl Iterator<Item = Output<'_>> {
    let stdout = streams.stdout.map(|text| Output::stdout(weight, Edit::Replace(text)));
    let stderr = streams.stderr.map(|text| Output::stderr(weight, Edit::Replace(text)));
    stdout.into_iter().chain(stderr)
}

/// What a terminal's own fields say, for agents of which it is not known how they use them.
fn terminal(frame: &ToolFrame) -> Vec<Output<'_>> {
    let chunk = frame.terminal_output_delta().map(Edit::Append);
    let text = frame.terminal_output().map(Edit::Continue);
    chunk.into_iter().chain(text).map(|edit| Output::stdout(Weight::Live, edit)).collect()
}

/// Final streams count most; the same fields of a running command are only better than nothing.
const fn raw_weight(is_final: bool) -> Weight {
    if is_final { Weight::Final } else { Weight::Fallback }
}
