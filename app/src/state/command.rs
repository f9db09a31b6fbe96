//! What the row of a shell command says (S-040 to S-042, S-049).

use model::{OutputSummary, ToolStatus};

use super::format;
use crate::icon::Icon;

/// Where a command stands, as its row shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandState {
    /// Not ended.
    Running,
    /// Ended with exit code 0.
    Succeeded,
    /// Ended with a failure.
    Failed,
    /// Ended by a cancel.
    Cancelled,
    /// Ended, and how is unknown: neither check nor cross.
    Unknown,
}

impl CommandState {
    /// The state that status and exit say together.
    pub fn new(status: Option<ToolStatus>, output: &OutputSummary) -> Self {
        match (status, output.exit_code) {
            (None | Some(ToolStatus::Pending | ToolStatus::InProgress), _) => Self::Running,
            (Some(ToolStatus::Cancelled), _) => Self::Cancelled,
            (Some(ToolStatus::Complete), Some(0)) => Self::Succeeded,
            (Some(ToolStatus::Complete), None) if output.signal.is_none() => Self::Unknown,
            (Some(ToolStatus::Complete | ToolStatus::Error), _) => Self::Failed,
        }
    }

    /// Nothing more will come.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Running)
    }

    /// The value of `data-state`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "stopped",
            Self::Unknown => "unknown",
        }
    }

    /// Its accessible name.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Running => "Command running",
            Self::Succeeded => "Command succeeded",
            Self::Failed => "Command failed",
            Self::Cancelled => "Command cancelled",
            Self::Unknown => "Command status unknown",
        }
    }

    /// Its shape.
    pub const fn icon(self) -> Icon {
        match self {
            Self::Running => Icon::Running,
            Self::Succeeded => Icon::Done,
            Self::Failed => Icon::Failed,
            Self::Cancelled => Icon::Stopped,
            Self::Unknown => Icon::Unknown,
        }
    }
}

/// `Exit code N` or `Exit code unavailable`; nothing before the command has ended.
pub fn exit_text(state: CommandState, output: &OutputSummary) -> Option<String> {
    state.is_terminal().then(|| match output.exit_code {
        Some(code) => format!("Exit code {code}"),
        None => "Exit code unavailable".to_owned(),
    })
}

/// The words on the button that opens the output; none without output (S-042).
pub fn output_text(state: CommandState, output: &OutputSummary) -> Option<String> {
    output.offers_output().then(|| {
        let so_far = if state.is_terminal() { "" } else { " so far" };
        match output.total_bytes() {
            0 => format!("Output{so_far}"),
            bytes => format!("Output \u{b7} {}{so_far}", format::size(bytes)),
        }
    })
}

/// What stands beside a command that has not ended. One that waits, for leave for example, is not
/// said to run.
pub fn running_text(is_pending: bool, background: bool, elapsed: &str) -> String {
    match (is_pending, background) {
        (true, _) => "Not started yet".to_owned(),
        (false, true) => format!("In the background {elapsed}"),
        (false, false) => format!("Running {elapsed}"),
    }
}

/// How far to scroll on, in pixels, so that an output ending at `bottom` is in sight, without moving
/// its button at `top` out of a log that reaches from `log_top` to `log_bottom`.
pub fn reveals_by(top: f64, bottom: f64, log_top: f64, log_bottom: f64) -> f64 {
    (bottom - log_bottom).min(top - log_top).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Signal;

    fn exit(code: Option<i64>) -> OutputSummary {
        OutputSummary { exit_code: code, ..OutputSummary::default() }
    }

    #[test]
    fn s_049_status_and_exit_give_one_state() {
        for (status, code, expected) in [
            (None, None, CommandState::Running),
            (Some(ToolStatus::InProgress), None, CommandState::Running),
            (Some(ToolStatus::Complete), Some(0), CommandState::Succeeded),
            (Some(ToolStatus::Complete), Some(4), CommandState::Failed),
            (Some(ToolStatus::Complete), None, CommandState::Unknown),
            (Some(ToolStatus::Error), None, CommandState::Failed),
            (Some(ToolStatus::Error), Some(4), CommandState::Failed),
            (Some(ToolStatus::Cancelled), Some(130), CommandState::Cancelled),
        ] {
            assert_eq!(CommandState::new(status, &exit(code)), expected, "{status:?} {code:?}");
        }
        let killed = OutputSummary { signal: Some(Signal::Number(9)), ..exit(None) };
        assert_eq!(
            CommandState::new(Some(ToolStatus::Complete), &killed),
            CommandState::Failed,
            "a signal is known to be no success"
        );
    }

    #[test]
    fn s_049_the_exit_is_said_only_once_the_command_has_ended() {
        assert_eq!(exit_text(CommandState::Running, &exit(Some(0))), None);
        assert_eq!(exit_text(CommandState::Failed, &exit(Some(-4))).unwrap(), "Exit code -4");
        assert_eq!(exit_text(CommandState::Unknown, &exit(None)).unwrap(), "Exit code unavailable");
    }

    #[test]
    fn s_042_the_output_is_offered_by_flag_or_by_size() {
        let text = |summary: OutputSummary| output_text(CommandState::Succeeded, &summary);
        assert_eq!(text(exit(Some(0))), None);
        let flagged = OutputSummary { has_output: true, ..exit(Some(0)) };
        assert_eq!(text(flagged).unwrap(), "Output");
        let sized = OutputSummary { stdout_bytes: 400, stderr_bytes: 12, ..exit(Some(0)) };
        assert_eq!(text(sized.clone()).unwrap(), "Output \u{b7} 412 B");
        let running = output_text(CommandState::Running, &sized).unwrap();
        assert_eq!(running, "Output \u{b7} 412 B so far");
    }

    #[test]
    fn s_043_an_output_that_opens_below_the_fold_comes_into_sight_under_its_button() {
        let by = |top: f64, bottom: f64| reveals_by(top, bottom, 100.0, 500.0).to_string();
        assert_eq!(by(450.0, 700.0), "200", "all of it");
        assert_eq!(by(250.0, 700.0), "150", "the button stays in sight");
        assert_eq!(by(200.0, 400.0), "0", "it was in sight");
        assert_eq!(by(50.0, 700.0), "0", "the button is above the log");
    }

    #[test]
    fn a_command_that_waits_is_not_said_to_run() {
        assert_eq!(running_text(true, false, "3 s"), "Not started yet");
        assert_eq!(running_text(false, false, "3 s"), "Running 3 s");
        assert_eq!(running_text(false, true, "3 s"), "In the background 3 s");
    }
}
