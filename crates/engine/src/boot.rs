//! What pages start from, and what they ask for later.

use model::{
    ApiError, BodyStream, BootState, InitialState, MessageId, Page, SessionId, SessionView,
    ShellOutput, ShellSnapshot, StoredMessage, TaskId, ToolContent, ToolStatus,
    wire::{BoardSnapshot, MAX_PAGE_MESSAGES, MessagePage, SessionSnapshot, Since},
};
use store::{Reader, StoreError};

use crate::{Engine, board::live_facts, clock, not_found, view::view};

/// The most tasks' folders that are offered again.
const FOLDERS: usize = 20;

/// A page that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The login page: shown to strangers, so it knows nothing.
    Login,
    /// The board.
    Board,
    /// A task.
    Task(TaskId),
    /// The agents.
    Agents,
    /// Nothing of ours.
    NotFound,
}

impl Engine {
    /// The state from which a page is rendered.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a task that is not there.
    pub async fn boot(&self, route: Route) -> Result<BootState, ApiError> {
        // Taken before anything is read: what changes meanwhile has a later revision.
        let rev = self.rev();
        let initial_state = match route {
            Route::Login => InitialState::of(Page::Login),
            Route::NotFound => InitialState::of(Page::NotFound),
            Route::Board => self.board_page().await?,
            Route::Agents => InitialState {
                page: Page::Agents,
                agents: Some(self.agents()),
                ..self.board_page().await?
            },
            Route::Task(task_id) => self.task_page(task_id).await?,
        };
        Ok(BootState {
            epoch: self.epoch().to_owned(),
            rev,
            now: clock::now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            initial_state,
        })
    }

    async fn board_page(&self) -> Result<InitialState, ApiError> {
        let board = self.board().await?;
        let (profiles, mut folders) =
            self.read(|reader| Ok((reader.profiles()?, reader.folders()?))).await?;
        folders.truncate(FOLDERS);
        Ok(InitialState {
            board: Some(board),
            profiles: profiles.iter().map(model::AgentProfile::to_view).collect(),
            folders,
            ..InitialState::of(Page::Board)
        })
    }

    async fn task_page(&self, task_id: TaskId) -> Result<InitialState, ApiError> {
        let task = self.card(task_id).await?;
        let mut state = InitialState { page: Page::Task, ..self.board_page().await? };
        if let Some(session) = &task.session {
            let (view, page, draft) = self.session_page(session.id).await?;
            state.session = Some(view);
            state.messages = page.messages;
            state.has_older = page.has_older;
            state.draft = draft;
        }
        state.task = Some(task);
        Ok(state)
    }

    /// The board, unless the client's own is current.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn board_snapshot(&self, since: Option<&Since>) -> Result<BoardSnapshot, ApiError> {
        let rev = self.rev();
        let is_current = since.is_some_and(|since| self.shared.fanout.board_is_current(since));
        let board = if is_current { None } else { Some(self.board().await?) };
        Ok(BoardSnapshot { epoch: self.epoch().to_owned(), rev, board })
    }

    /// A session with its newest messages, unless the client's own is current.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a session that is not there.
    pub async fn session_snapshot(
        &self,
        session_id: SessionId,
        since: Option<&Since>,
    ) -> Result<SessionSnapshot, ApiError> {
        let rev = self.rev();
        let is_current =
            since.is_some_and(|since| self.shared.fanout.session_is_current(session_id, since));
        let epoch = self.epoch().to_owned();
        if is_current {
            let found = self.read(move |reader| reader.session(session_id)).await?;
            found.ok_or_else(|| not_found("session"))?;
            return Ok(SessionSnapshot { epoch, rev, session: None, page: None, draft: None });
        }
        let (session, page, draft) = self.session_page(session_id).await?;
        let (session, page, draft) = (Some(session), Some(page), Some(draft));
        Ok(SessionSnapshot { epoch, rev, session, page, draft })
    }

    async fn session_page(
        &self,
        session_id: SessionId,
    ) -> Result<(SessionView, MessagePage, String), ApiError> {
        let facts = live_facts(&self.shared.live, session_id);
        self.read(move |reader| {
            let Some(session) = reader.session(session_id)? else { return Ok(None) };
            let turn = reader.last_turn(session_id)?;
            Ok(Some((
                facts.complete(session.to_view(turn)),
                read_page(reader, session_id, None, MAX_PAGE_MESSAGES)?,
                reader.draft(session_id)?,
            )))
        })
        .await?
        .ok_or_else(|| not_found("session"))
    }

    /// A page of a session's messages, oldest first.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a session that is not there.
    pub async fn messages(
        &self,
        session_id: SessionId,
        before: Option<u64>,
        limit: Option<u32>,
    ) -> Result<MessagePage, ApiError> {
        let limit = limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(MAX_PAGE_MESSAGES)
            .clamp(1, MAX_PAGE_MESSAGES);
        self.read(move |reader| {
            let session = reader.session(session_id)?;
            session.map(|_| read_page(reader, session_id, before, limit)).transpose()
        })
        .await?
        .ok_or_else(|| not_found("session"))
    }

    /// The retained output of a shell command (S-033).
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, the same for a message that is elsewhere and one that is no shell command.
    pub async fn shell_output(
        &self,
        session_id: SessionId,
        message_id: MessageId,
    ) -> Result<ShellSnapshot, ApiError> {
        self.read(move |reader| {
            let message = reader.message(session_id, message_id)?;
            message.map_or(Ok(None), |message| read_output(reader, &message))
        })
        .await?
        .ok_or_else(|| not_found("shell output"))
    }

    /// What a tool call has to be opened.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, the same for a message that is elsewhere and one that has no content.
    pub async fn tool_content(
        &self,
        session_id: SessionId,
        message_id: MessageId,
    ) -> Result<ToolContent, ApiError> {
        self.read(move |reader| {
            let message = reader.message(session_id, message_id)?;
            let message = message.filter(|message| message.metadata.content.is_some());
            message.map_or(Ok(None), |message| reader.content(session_id, message.seq))
        })
        .await?
        .ok_or_else(|| not_found("content"))
    }
}

fn read_page(
    reader: &Reader,
    session_id: SessionId,
    before: Option<u64>,
    limit: usize,
) -> Result<MessagePage, StoreError> {
    let (messages, has_older) = reader.messages(session_id, before, limit)?;
    Ok(MessagePage { messages: messages.iter().map(view).collect(), has_older })
}

fn read_output(
    reader: &Reader,
    message: &StoredMessage,
) -> Result<Option<ShellSnapshot>, StoreError> {
    let Some(exec) = message.shell_exec() else { return Ok(None) };
    let output = match &exec.output {
        None => ShellOutput::default(),
        Some(record) => {
            let body = |stream: BodyStream| {
                record
                    .extent(stream)
                    .map(|extent| reader.body(message.session_id, message.seq, stream, extent))
                    .transpose()
            };
            ShellOutput {
                exit_code: record.exit_code,
                signal: record.signal.clone(),
                stdout: body(BodyStream::Stdout)?,
                stderr: body(BodyStream::Stderr)?,
                truncated: Some(record.truncated),
            }
        }
    };
    Ok(Some(ShellSnapshot {
        message_id: message.id,
        status: message.metadata.status.unwrap_or(ToolStatus::InProgress).into(),
        updated_at: message.updated_at,
        output,
    }))
}
