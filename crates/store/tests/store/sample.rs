//! Records to store.

use model::{
    AgentIdentity, AgentKind, AgentProcess, AgentProfile, Author, BodyChange, BodyExtent,
    BodyStream, LaunchCommand, Message, MessageId, MessageKind, Metadata, Normalized, OutputRecord,
    Passthrough, ProfileId, Session, SessionId, SessionState, ShellExec, StepId, StoredMessage,
    Task, TaskId, TaskState, Timestamp, ToolStatus, Turn, TurnId, WorkflowId,
};
use store::{BrowserSession, Op};

/// Sixteen bytes that only this kind and number have.
fn id(kind: u8, n: u64) -> [u8; 16] {
    let mut bytes = [kind; 16];
    bytes[8..].copy_from_slice(&n.to_be_bytes());
    bytes
}

pub(crate) fn task_id(n: u64) -> TaskId {
    TaskId::from_bytes(id(1, n))
}

pub(crate) fn session_id(n: u64) -> SessionId {
    SessionId::from_bytes(id(2, n))
}

pub(crate) fn turn_id(n: u64) -> TurnId {
    TurnId::from_bytes(id(3, n))
}

pub(crate) fn message_id(session: SessionId, seq: u64) -> MessageId {
    let mut bytes = *session.as_bytes();
    bytes[0] = 4;
    bytes[1..8].copy_from_slice(&seq.to_be_bytes()[1..]);
    MessageId::from_bytes(bytes)
}

pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_784_203_200_000 + millis as i64)
}

pub(crate) fn task(n: u64) -> Task {
    Task {
        id: task_id(n),
        workflow_id: WorkflowId::from_bytes(id(5, 0)),
        step_id: StepId::from_bytes(id(6, 0)),
        title: format!("Task {n}"),
        description: "Do it.".into(),
        state: TaskState::InProgress,
        folder: "/home/me/project".into(),
        profile_id: ProfileId::from_bytes(id(7, 0)),
        session_id: None,
        created_at: at(n),
        updated_at: at(n),
    }
}

/// A session of the task `task`.
pub(crate) fn session(n: u64, task: u64) -> Session {
    Session {
        id: session_id(n),
        task_id: task_id(task),
        profile_id: ProfileId::from_bytes(id(7, 0)),
        agent_name: "Claude Code".into(),
        agent: AgentKind::Claude,
        identity: AgentIdentity::default(),
        work_dir: "/home/me/project".into(),
        state: SessionState::Running,
        agent_session_id: None,
        agent_session_seq: 0,
        queue: Vec::new(),
        error: None,
        created_at: at(n),
        updated_at: at(n),
    }
}

pub(crate) fn turn(n: u64, session: SessionId, ended: bool) -> Turn {
    Turn {
        id: turn_id(n),
        session_id: session,
        started_at: at(n),
        ended_at: ended.then(|| at(n + 1)),
        outcome: None,
    }
}

pub(crate) fn message(session: SessionId, seq: u64, content: &str) -> StoredMessage {
    Message {
        id: message_id(session, seq),
        session_id: session,
        turn_id: None,
        seq,
        kind: MessageKind::Message,
        author: Author::Agent,
        content: content.into(),
        metadata: Metadata::default(),
        created_at: at(seq),
        updated_at: at(seq),
    }
}

/// A shell command with this output.
pub(crate) fn shell(session: SessionId, seq: u64, output: Option<OutputRecord>) -> StoredMessage {
    let exec = ShellExec { command: "cargo build".into(), output, ..ShellExec::default() };
    StoredMessage {
        kind: MessageKind::ToolExecute,
        metadata: Metadata {
            status: Some(ToolStatus::Complete),
            tool_call_id: Some(format!("call-{seq}")),
            normalized: Some(Normalized::shell(exec)),
            ..Metadata::default()
        },
        ..message(session, seq, "cargo build")
    }
}

/// A shell command that printed `stdout` and `stderr`, with both bodies.
pub(crate) fn shell_ops(session: SessionId, seq: u64, stdout: &str, stderr: &str) -> Vec<Op> {
    let extent = |text: &str| BodyExtent { start: 0, end: text.len() as u64 };
    let output = OutputRecord {
        exit_code: Some(0),
        stdout: Some(extent(stdout)),
        stderr: Some(extent(stderr)),
        ..OutputRecord::default()
    };
    let body = |stream, text: &str| Op::ChangeBody {
        session_id: session,
        seq,
        stream,
        change: BodyChange::Replace { text: text.into() },
        extent: extent(text),
    };
    vec![
        Op::PutMessage(shell(session, seq, Some(output))),
        body(BodyStream::Stdout, stdout),
        body(BodyStream::Stderr, stderr),
    ]
}

/// What makes a change of a body from the offset `begin` on.
pub(crate) fn append(session: SessionId, seq: u64, begin: u64, text: &str) -> Op {
    Op::ChangeBody {
        session_id: session,
        seq,
        stream: BodyStream::Stdout,
        change: BodyChange::Append { text: text.into(), start: 0 },
        extent: BodyExtent { start: 0, end: begin + text.len() as u64 },
    }
}

pub(crate) fn profile(n: u64) -> AgentProfile {
    AgentProfile {
        id: ProfileId::from_bytes(id(7, n)),
        name: format!("Agent {n}"),
        agent: AgentKind::Generic,
        command: LaunchCommand { program: "agent".into(), args: vec!["acp".into()], env: vec![] },
        sealed_env: Vec::new(),
        mode: None,
        model: None,
        cli_passthrough: false,
        passthrough: Passthrough::default(),
        built_in: false,
    }
}

pub(crate) fn process(session: SessionId, pid: u32) -> AgentProcess {
    AgentProcess { session_id: session, pid, started: 1_784_203_200, program: "agent".into() }
}

pub(crate) fn browser_session(n: u64) -> BrowserSession {
    BrowserSession {
        id: format!("{n:016x}"),
        secret_hash: "ab".repeat(32),
        label: "Firefox".into(),
        created_at: at(n),
        last_seen: at(n),
    }
}

/// One task with one session: what most things belong to.
pub(crate) fn owners() -> Vec<Op> {
    vec![Op::PutTask(task(1)), Op::PutSession(session(1, 1))]
}
