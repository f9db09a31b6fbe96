//! Records for tests.

use model::{
    AgentKind, AgentView, Author, Board, BootState, CommandStatus, InitialState, InstallView,
    Message, MessageId, MessageKind, MessageView, Metadata, Normalized, OutputSummary, Page,
    PermissionOption, PermissionRequest, SessionId, SessionState, SessionView, ShellExec,
    ShellOutput, ShellSnapshot, Standing, Step, StepId, TaskCard, TaskId, TaskState, Timestamp,
    ToolStatus, Turn, TurnId, Workflow, WorkflowId, Workspace, WorkspaceId, board::CardSession,
};

pub const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

pub fn task_id(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}

pub fn session_id() -> SessionId {
    SessionId::from_bytes([7; 16])
}

pub fn message_id(number: u8) -> MessageId {
    MessageId::from_bytes([number; 16])
}

/// The id of a step of [`board`]: 0 is Backlog.
pub fn step(number: u8) -> StepId {
    StepId::from_bytes([100 + number; 16])
}

pub fn board(tasks: Vec<TaskCard>) -> Board {
    let names = ["Backlog", "In Progress", "Review", "Done"];
    let steps = (0..).zip(names).map(|(at, name)| Step { id: step(at), name: name.into() });
    Board {
        workspace: Workspace { id: WorkspaceId::from_bytes([1; 16]), name: "Pelorus".into() },
        workflow: Workflow {
            id: WorkflowId::from_bytes([2; 16]),
            workspace_id: WorkspaceId::from_bytes([1; 16]),
            name: "Delivery".into(),
            steps: steps.collect(),
        },
        tasks,
    }
}

pub fn card(number: u8, title: &str) -> TaskCard {
    TaskCard {
        id: task_id(number),
        step_id: step(0),
        title: title.into(),
        state: TaskState::Todo,
        folder: "/home/me/pelorus".into(),
        agent_name: "OpenCode".into(),
        session: None,
        created_at: NOW,
        updated_at: NOW,
    }
}

/// A task whose session is in this state.
pub fn card_in(number: u8, state: SessionState) -> TaskCard {
    let session = CardSession {
        id: session_id(),
        state,
        outcome: None,
        activity: None,
        error: None,
        ask: None,
    };
    TaskCard { session: Some(session), ..card(number, "in a state") }
}

pub fn permission() -> PermissionRequest {
    let option = |id: &str, name: &str, kind: &str| PermissionOption {
        id: id.into(),
        name: name.into(),
        kind: kind.into(),
    };
    PermissionRequest {
        subject: "git push".into(),
        is_command: true,
        options: vec![
            option("once", "Allow once", "allow_once"),
            option("no", "Deny", "reject_once"),
        ],
        answer: None,
    }
}

pub fn ask() -> (MessageId, PermissionRequest) {
    (message_id(9), permission())
}

pub fn session(state: SessionState) -> SessionView {
    SessionView {
        id: session_id(),
        task_id: task_id(1),
        agent_name: "OpenCode".into(),
        agent_version: Some("1.2.3".into()),
        work_dir: "/home/me/pelorus".into(),
        state,
        error: None,
        turn: None,
        queue: Vec::new(),
        survivors: Vec::new(),
        offers: model::Offers::default(),
    }
}

pub fn turn() -> Turn {
    Turn {
        id: TurnId::from_bytes([3; 16]),
        session_id: session_id(),
        started_at: NOW,
        ended_at: None,
        outcome: None,
    }
}

pub fn message(seq: u8, content: &str) -> MessageView {
    Message {
        id: message_id(seq),
        session_id: session_id(),
        turn_id: None,
        seq: seq.into(),
        kind: MessageKind::Message,
        author: Author::Agent,
        content: content.into(),
        metadata: Metadata { html: vec![format!("<p>{content}</p>")], ..Metadata::default() },
        created_at: NOW,
        updated_at: NOW,
    }
}

pub fn shell(status: ToolStatus, output: OutputSummary) -> MessageView {
    let exec = ShellExec {
        command: "cargo test --workspace".into(),
        work_dir: Some("crates/merger".into()),
        description: Some("SENTINEL-DESCRIPTION".into()),
        output,
        ..ShellExec::default()
    };
    let metadata = Metadata {
        status: Some(status),
        normalized: Some(Normalized::shell(exec)),
        ..Metadata::default()
    };
    Message { kind: MessageKind::ToolExecute, metadata, ..message(4, "Run the tests") }
}

pub fn snapshot(status: CommandStatus, output: ShellOutput) -> ShellSnapshot {
    ShellSnapshot { message_id: message_id(4), status, updated_at: NOW, output }
}

pub fn boot() -> BootState {
    BootState {
        epoch: "a".into(),
        rev: 1,
        now: NOW,
        version: "0.1.0".into(),
        initial_state: InitialState {
            board: Some(board(vec![card(1, "one")])),
            ..InitialState::of(Page::Board)
        },
    }
}

pub fn agent() -> AgentView {
    AgentView {
        key: "pi".into(),
        name: "Pi".into(),
        agent: AgentKind::Pi,
        standing: Standing::Missing,
        warning: None,
        version: None,
        acp: "npx -y pi-acp".into(),
        terminal: Some("pi".into()),
        install: InstallView::Run("npm install -g pi".into()),
        login: Some("pi".into()),
        job: None,
    }
}
