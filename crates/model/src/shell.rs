//! A shell command in chat: what ran, how it ended, and where its output is kept.
//!
//! The payload is generic over its output, so that each place has the type it may have:
//! [`OutputRecord`] is stored, [`OutputSummary`] is listed, [`ShellOutput`] is fetched or exported.
//! Only the last one has room for a body.

use serde::{Deserialize, Serialize};

use crate::{MessageId, Timestamp, ToolStatus};

/// The most that is kept of one stream, in bytes.
pub const STREAM_LIMIT_BYTES: usize = 256 * 1024;

/// The `shell_exec` payload of a tool message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(bound(
    serialize = "O: Serialize + Absent",
    deserialize = "O: Deserialize<'de> + Default + Absent"
))]
pub struct ShellExec<O> {
    /// The whole command; empty until the agent has named it.
    #[serde(default)]
    pub command: String,
    /// The working directory, as the agent names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<String>,
    /// The agent's own words for the command. Never shown in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent's time limit, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// The command goes on after the tool call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// The output, as far as this place may know it.
    #[serde(default, skip_serializing_if = "Absent::is_absent")]
    pub output: O,
}

impl<O> ShellExec<O> {
    /// The same command with another form of its output.
    pub fn map_output<P>(self, form: impl FnOnce(O) -> P) -> ShellExec<P> {
        let Self { command, work_dir, description, timeout, background, output } = self;
        ShellExec { command, work_dir, description, timeout, background, output: form(output) }
    }
}

/// A value that is left out of JSON when there is nothing to say.
pub trait Absent {
    /// Whether the field is left out.
    fn is_absent(&self) -> bool;
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl Absent for OutputSummary {
    fn is_absent(&self) -> bool {
        false
    }
}

/// What ended a process, as the agent gives it: a name (`SIGKILL`) or a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Signal {
    /// `9`
    Number(i64),
    /// `"SIGKILL"`
    Name(String),
}

impl std::fmt::Display for Signal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// Which stream a body belongs to. Without an agent that names two, everything is [`Self::Stdout`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BodyStream {
    /// Combined terminal text, unless the agent names two streams.
    Stdout = 0,
    /// Only what the agent names so.
    Stderr = 1,
}

/// Where the kept part of a stream lies: byte offsets since the stream began, `start <= end`.
///
/// A body that outgrows its limit loses its oldest bytes, so `start` moves; an append moves `end`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodyExtent {
    /// Offset of the first kept byte.
    pub start: u64,
    /// Offset behind the last byte.
    pub end: u64,
}

impl BodyExtent {
    /// Kept bytes.
    pub const fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// Nothing is kept.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One change of a stored stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyChange {
    /// `text` follows what is kept; what lies before the offset `start` is dropped.
    Append {
        /// What is new.
        text: String,
        /// Offset of the first byte that is still kept.
        start: u64,
    },
    /// `text` takes the place of everything; offsets begin at 0 again.
    Replace {
        /// All that is kept.
        text: String,
    },
}

/// The stored form of an output: bodies live beside the record, which knows their extents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRecord {
    /// `None`: unknown, which is not 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// What ended the process, where the agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// A stream outgrew [`STREAM_LIMIT_BYTES`], or the agent cut it.
    #[serde(default)]
    pub truncated: bool,
    /// `None`: the agent has sent no such stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<BodyExtent>,
    /// `None`: the agent has sent no such stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<BodyExtent>,
}

impl OutputRecord {
    /// The extent of one stream.
    pub const fn extent(&self, stream: BodyStream) -> Option<BodyExtent> {
        match stream {
            BodyStream::Stdout => self.stdout,
            BodyStream::Stderr => self.stderr,
        }
    }

    /// The extent of one stream, to be changed.
    pub const fn extent_mut(&mut self, stream: BodyStream) -> &mut Option<BodyExtent> {
        match stream {
            BodyStream::Stdout => &mut self.stdout,
            BodyStream::Stderr => &mut self.stderr,
        }
    }
}

/// What a list says about an output: everything but the output (S-031).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputSummary {
    /// `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// What ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// Something was dropped.
    pub truncated: bool,
    /// A body can be fetched.
    pub has_output: bool,
    /// Bytes of UTF-8.
    pub stdout_bytes: u64,
    /// Bytes of UTF-8.
    pub stderr_bytes: u64,
}

impl OutputSummary {
    /// Whether there is a body to fetch.
    pub const fn offers_output(&self) -> bool {
        self.has_output || self.stdout_bytes > 0 || self.stderr_bytes > 0
    }

    /// Bytes of both streams.
    pub const fn total_bytes(&self) -> u64 {
        self.stdout_bytes.saturating_add(self.stderr_bytes)
    }
}

impl From<Option<&OutputRecord>> for OutputSummary {
    fn from(record: Option<&OutputRecord>) -> Self {
        let Some(record) = record else { return Self::default() };
        let stdout_bytes = record.stdout.map_or(0, BodyExtent::len);
        let stderr_bytes = record.stderr.map_or(0, BodyExtent::len);
        Self {
            exit_code: record.exit_code,
            signal: record.signal.clone(),
            truncated: record.truncated,
            has_output: stdout_bytes > 0 || stderr_bytes > 0,
            stdout_bytes,
            stderr_bytes,
        }
    }
}

/// An output with its bodies: what the shell-output endpoint and an export carry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// What ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// Combined text, or the first of two named streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<String>,
    /// Only what the agent names so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Left out while nothing has been emitted, so that `output` is exactly `{}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// Where a command stands, as the shell-output endpoint says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandStatus {
    /// Not ended.
    Running,
    /// Ended without a failure that is known.
    Complete,
    /// Ended with a failure.
    Failed,
    /// Ended by a cancel.
    Cancelled,
}

impl CommandStatus {
    /// Nothing more will come.
    pub const fn is_terminal(self) -> bool {
        !matches!(self, Self::Running)
    }
}

impl From<ToolStatus> for CommandStatus {
    fn from(status: ToolStatus) -> Self {
        match status {
            ToolStatus::Pending | ToolStatus::InProgress => Self::Running,
            ToolStatus::Complete => Self::Complete,
            ToolStatus::Error => Self::Failed,
            ToolStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// The answer of the shell-output endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellSnapshot {
    /// The message that was asked for.
    pub message_id: MessageId,
    /// Where the command stands.
    pub status: CommandStatus,
    /// When the message last changed.
    pub updated_at: Timestamp,
    /// The output; `{}` while nothing has been emitted.
    pub output: ShellOutput,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s_031_a_command_without_output_has_a_summary_of_zeros() {
        let summary = OutputSummary::from(None);
        assert_eq!(
            serde_json::to_value(summary).unwrap(),
            json!({"truncated": false, "has_output": false, "stdout_bytes": 0, "stderr_bytes": 0})
        );
    }

    #[test]
    fn s_031_a_summary_counts_what_is_kept() {
        let record = OutputRecord {
            exit_code: Some(0),
            truncated: true,
            stdout: Some(BodyExtent { start: 100, end: 350 }),
            stderr: Some(BodyExtent::default()),
            ..OutputRecord::default()
        };
        let summary = OutputSummary::from(Some(&record));
        assert_eq!(
            (summary.stdout_bytes, summary.stderr_bytes, summary.has_output),
            (250, 0, true)
        );
        assert_eq!(summary.exit_code, Some(0));
    }

    #[test]
    fn s_033_an_output_that_was_never_emitted_is_an_empty_object() {
        assert_eq!(serde_json::to_value(ShellOutput::default()).unwrap(), json!({}));
    }

    #[test]
    fn s_030_absent_output_stays_absent_when_stored() {
        let exec = ShellExec::<Option<OutputRecord>> { command: "ls".into(), ..Default::default() };
        assert_eq!(serde_json::to_value(&exec).unwrap(), json!({"command": "ls"}));
    }
}
