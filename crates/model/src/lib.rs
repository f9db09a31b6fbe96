//! The vocabulary of Kandev: ids, records, views and wire messages, shared by server and browser.
//!
//! Pure data: no I/O, no clock, no async. What can be large (shell output) exists here only in the
//! types that store or fetch it; the types that are sent in lists have no field for it.

pub mod agent;
pub mod board;
pub mod boot;
pub mod catalogue;
pub mod content;
pub mod disclosure;
pub mod error;
pub mod id;
pub mod message;
pub mod offers;
pub mod session;
pub mod shell;
pub mod timestamp;
pub mod wire;

pub use agent::{
    AgentIdentity, AgentKind, AgentProfile, Departure, LaunchCommand, Passthrough, ProfileView,
};
pub use board::{Board, Step, Task, TaskCard, TaskState, Workflow, Workspace};
pub use boot::{BootState, InitialState, Page};
pub use catalogue::{
    AgentView, AgentsView, InstallView, JobState, JobView, ProfileDraft, Standing, TrialView,
};
pub use content::{
    CONTENT_LIMIT_BYTES, ContentPart, ContentSummary, DiffLine, FileDiff, Hunk, LineMark,
    ToolContent,
};
pub use error::{ApiError, ErrorCode};
pub use id::{
    InvalidId, MessageId, ProfileId, SessionId, StepId, TaskId, TurnId, WorkflowId, WorkspaceId,
};
pub use message::{
    Author, Message, MessageKind, MessageView, Metadata, Normalized, PermissionAnswer,
    PermissionOption, PermissionRequest, PlanEntry, StoredMessage, ToolStatus, WholeMessage,
};
pub use offers::{AgentCommand, AgentOption, Choice, Offers, OptionKind, Usage};
pub use session::{
    AgentProcess, MAX_QUEUED, QueuedPrompt, Session, SessionState, SessionView, Turn, TurnOutcome,
};
pub use shell::{
    BodyChange, BodyExtent, BodyStream, CommandStatus, OutputRecord, OutputSummary, ShellExec,
    ShellOutput, ShellSnapshot, Signal,
};
pub use timestamp::Timestamp;
