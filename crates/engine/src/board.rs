//! Board commands: create, move and delete tasks; and cards, made from what is stored and what is live.

use std::{path::PathBuf, sync::Arc};

use model::{
    AgentProfile, ApiError, Board, ErrorCode, MessageId, Offers, PermissionRequest, ProfileId,
    Session, SessionId, SessionState, SessionView, StepId, Task, TaskCard, TaskId, TaskState, Turn,
    TurnOutcome, Workflow,
    board::CardSession,
    wire::{CustomCommand, NewTask, NewTaskAgent, Notification},
};
use store::{Op, Reader, StoreError};

use crate::{
    Engine, clock, command_line, folder, internal, lock, not_found, profile,
    session::check_prompt_size,
};

/// The longest title, in characters.
const TITLE_CHARS: usize = 120;

/// What is nowhere stored of a session: it is true only while its agent lives.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LiveFacts {
    pub(crate) activity: Option<String>,
    pub(crate) ask: Option<(MessageId, PermissionRequest)>,
    /// Commands that were cancelled and run on.
    pub(crate) survivors: Vec<MessageId>,
    pub(crate) offers: Arc<Offers>,
}

impl LiveFacts {
    /// Adds what is not stored.
    pub(crate) fn complete(&self, view: SessionView) -> SessionView {
        SessionView { survivors: self.survivors.clone(), offers: (*self.offers).clone(), ..view }
    }
}

impl Engine {
    /// Creates a task with its session, and gives it to its agent at once if asked to.
    ///
    /// # Errors
    ///
    /// `VALIDATION_ERROR` with the name of the field that cannot be.
    pub async fn create_task(&self, new: NewTask) -> Result<TaskCard, ApiError> {
        let engine = self.clone();
        self.to_its_end(async move { engine.create_task_now(new).await }).await
    }

    async fn create_task_now(&self, new: NewTask) -> Result<TaskCard, ApiError> {
        let prompt = new.prompt.trim();
        if prompt.is_empty() {
            return Err(ApiError::new(ErrorCode::ValidationError, "Say what the agent is to do.")
                .about("prompt"));
        }
        check_prompt_size(prompt).map_err(|err| err.about("prompt"))?;
        let folder = folder::check(&new.folder, home().as_deref())?;
        let (profile, is_new) = self.profile_for(&new.agent).await?;
        let workflow = self.workflow().await?;
        let step = workflow.steps.get(usize::from(new.start)).or_else(|| workflow.steps.first());
        let step_id = step.ok_or_else(|| not_found("step"))?.id;

        let now = clock::now();
        let task = Task {
            id: TaskId::new(clock::new_id()),
            workflow_id: workflow.id,
            step_id,
            title: title(&new.title, prompt),
            description: prompt.to_owned(),
            state: TaskState::Todo,
            folder: folder.clone(),
            profile_id: profile.id,
            session_id: Some(SessionId::new(clock::new_id())),
            created_at: now,
            updated_at: now,
        };
        let session = session_of(&task, &profile);
        let mut ops = vec![
            Op::PutTask(task.clone()),
            Op::PutSession(session.clone()),
            Op::RememberFolder { path: folder, at: now },
        ];
        if is_new {
            ops.push(Op::PutProfile(profile));
        }
        self.store().commit(ops).await.map_err(|err| internal(&err))?;
        let created = card(&task, Some(&session), None, LiveFacts::default(), &session.agent_name);
        self.shared.fanout.publish(|rev| Notification::TaskCreated { rev, task: created });
        if new.start {
            self.prompt(task.id, session.id, task.description, None).await?;
        }
        self.card(task.id).await
    }

    /// Moves a task to another step. The last step is where work is done.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a task or a step that is not there.
    pub async fn move_task(&self, task_id: TaskId, step_id: StepId) -> Result<TaskCard, ApiError> {
        let engine = self.clone();
        self.to_its_end(async move { engine.move_task_now(task_id, step_id).await }).await
    }

    async fn move_task_now(&self, task_id: TaskId, step_id: StepId) -> Result<TaskCard, ApiError> {
        let steps = self.workflow().await?.steps;
        let is_last = steps.last().is_some_and(|last| last.id == step_id);
        if !steps.iter().any(|step| step.id == step_id) {
            return Err(not_found("step"));
        }
        self.update_task(task_id, move |task| {
            task.step_id = step_id;
            task.state = match (is_last, task.state) {
                (true, _) => TaskState::Completed,
                (false, TaskState::Completed) => TaskState::Review,
                (false, state) => state,
            };
        })
        .await
    }

    /// Deletes a task with its sessions and messages; its agent is ended first.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a task that is not there.
    pub async fn delete_task(&self, task_id: TaskId) -> Result<(), ApiError> {
        let engine = self.clone();
        self.to_its_end(async move { engine.delete_task_now(task_id).await }).await
    }

    async fn delete_task_now(&self, task_id: TaskId) -> Result<(), ApiError> {
        let sessions = self
            .read(move |reader| {
                let task = reader.task(task_id)?;
                task.map(|_| reader.sessions_of(task_id)).transpose()
            })
            .await?
            .ok_or_else(|| not_found("task"))?;
        for session in &sessions {
            self.end_session(session.id).await;
        }
        let writes = self.shared.task_writes.lock().await;
        self.store().commit(vec![Op::DeleteTask(task_id)]).await.map_err(|err| internal(&err))?;
        for session in &sessions {
            // Whoever prompted in between started an agent for a task that is gone.
            self.end_session(session.id).await;
            lock(&self.shared.live).remove(&session.id);
            self.shared.fanout.forget(session.id);
        }
        self.shared.fanout.publish(|rev| Notification::TaskDeleted { rev, task_id });
        drop(writes);
        Ok(())
    }

    /// Changes a task's record and tells everyone.
    pub(crate) async fn update_task(
        &self,
        task_id: TaskId,
        change: impl FnOnce(&mut Task) + Send,
    ) -> Result<TaskCard, ApiError> {
        let writes = self.shared.task_writes.lock().await;
        let mut task = self
            .read(move |reader| reader.task(task_id))
            .await?
            .ok_or_else(|| not_found("task"))?;
        let before = task.clone();
        change(&mut task);
        if task != before {
            task.updated_at = clock::now();
            self.store().commit(vec![Op::PutTask(task)]).await.map_err(|err| internal(&err))?;
        }
        let card = self.card(task_id).await?;
        let told = card.clone();
        self.shared.fanout.publish(|rev| Notification::TaskUpdated { rev, task: told });
        drop(writes);
        Ok(card)
    }

    /// The card of a task as it is now.
    pub(crate) async fn card(&self, task_id: TaskId) -> Result<TaskCard, ApiError> {
        let shared = self.shared.clone();
        self.read(move |reader| {
            let task = reader.task(task_id)?;
            task.map(|task| read_card(reader, &task, |id| live_facts(&shared.live, id))).transpose()
        })
        .await?
        .ok_or_else(|| not_found("task"))
    }

    pub(crate) async fn board(&self) -> Result<Board, ApiError> {
        let shared = self.shared.clone();
        self.read(move |reader| {
            let workspaces = reader.workspaces()?;
            let workflows = reader.workflows()?;
            let (Some(workspace), Some(workflow)) =
                (workspaces.into_iter().next(), workflows.into_iter().next())
            else {
                return Ok(None);
            };
            let tasks = reader
                .tasks()?
                .iter()
                .map(|task| read_card(reader, task, |id| live_facts(&shared.live, id)))
                .collect::<Result<_, _>>()?;
            Ok(Some(Board { workspace, workflow, tasks }))
        })
        .await?
        .ok_or_else(|| not_found("workspace"))
    }

    async fn workflow(&self) -> Result<Workflow, ApiError> {
        self.read(|reader| Ok(reader.workflows()?.into_iter().next()))
            .await?
            .ok_or_else(|| not_found("workflow"))
    }

    /// The profile of a new task, and whether it has yet to be stored.
    async fn profile_for(&self, agent: &NewTaskAgent) -> Result<(AgentProfile, bool), ApiError> {
        match agent {
            NewTaskAgent::Profile(id) => {
                let id = *id;
                let found = self.read(move |reader| reader.profile(id)).await?;
                let unknown =
                    || ApiError::new(ErrorCode::ValidationError, "Choose an agent.").about("agent");
                Ok((found.ok_or_else(unknown)?, false))
            }
            NewTaskAgent::Custom(custom) => {
                let mut profile = custom_profile(custom)?;
                let profiles = self.read(Reader::profiles).await?;
                let is_same = |known: &AgentProfile| {
                    known.name == profile.name
                        && self.launch_command(known).as_ref() == Ok(&profile.command)
                };
                if let Some(known) = profiles.into_iter().find(is_same) {
                    return Ok((known, false));
                }
                profile.sealed_env = profile::sealed(&mut profile.command, &self.shared.secrets);
                Ok((profile, true))
            }
        }
    }
}

fn custom_profile(custom: &CustomCommand) -> Result<AgentProfile, ApiError> {
    let command = command_line::parse(custom)?;
    let name = match custom.name.trim() {
        "" => command.program.rsplit('/').next().unwrap_or(&command.program).to_owned(),
        name => name.to_owned(),
    };
    Ok(AgentProfile {
        id: ProfileId::new(clock::new_id()),
        name,
        agent: model::AgentKind::Generic,
        command,
        sealed_env: Vec::new(),
        mode: None,
        model: None,
        cli_passthrough: false,
        passthrough: model::Passthrough::default(),
        built_in: false,
    })
}

fn session_of(task: &Task, profile: &AgentProfile) -> Session {
    Session {
        id: task.session_id.unwrap_or_else(|| SessionId::new(clock::new_id())),
        task_id: task.id,
        profile_id: profile.id,
        agent_name: profile.name.clone(),
        agent: profile.agent,
        identity: model::AgentIdentity::default(),
        work_dir: task.folder.clone(),
        state: SessionState::Created,
        agent_session_id: None,
        agent_session_seq: 0,
        queue: Vec::new(),
        error: None,
        created_at: task.created_at,
        updated_at: task.created_at,
    }
}

fn title(typed: &str, prompt: &str) -> String {
    let source = match typed.trim() {
        "" => prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(prompt),
        typed => typed,
    };
    match source.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", source[..end].trim_end()),
        None => source.to_owned(),
    }
}

fn home() -> Option<PathBuf> {
    std::env::home_dir()
}

pub(crate) fn live_facts(
    live: &std::sync::Mutex<std::collections::HashMap<SessionId, LiveFacts>>,
    session_id: SessionId,
) -> LiveFacts {
    lock(live).get(&session_id).cloned().unwrap_or_default()
}

fn read_card(
    reader: &Reader,
    task: &Task,
    live: impl FnOnce(SessionId) -> LiveFacts,
) -> Result<TaskCard, StoreError> {
    let session = task.session_id.map(|id| reader.session(id)).transpose()?.flatten();
    let Some(session) = session else {
        let profile = reader.profile(task.profile_id)?;
        let name = profile.map_or_else(String::new, |profile| profile.name);
        return Ok(card(task, None, None, LiveFacts::default(), &name));
    };
    let turn = reader.last_turn(session.id)?;
    Ok(card(task, Some(&session), turn.as_ref(), live(session.id), &session.agent_name))
}

fn card(
    task: &Task,
    session: Option<&Session>,
    turn: Option<&Turn>,
    live: LiveFacts,
    agent_name: &str,
) -> TaskCard {
    TaskCard {
        id: task.id,
        step_id: task.step_id,
        title: task.title.clone(),
        state: task.state,
        folder: task.folder.clone(),
        agent_name: agent_name.to_owned(),
        session: session.map(|session| CardSession {
            id: session.id,
            state: session.state,
            outcome: turn.and_then(|turn| turn.outcome),
            activity: live.activity,
            error: session.error.clone(),
            ask: live.ask,
        }),
        created_at: task.created_at,
        updated_at: task.updated_at,
    }
}

/// Where a task stands after a turn began or ended.
pub(crate) const fn task_state(session: SessionState, outcome: Option<TurnOutcome>) -> TaskState {
    match (session, outcome) {
        (SessionState::Starting | SessionState::Running, _) => TaskState::InProgress,
        (SessionState::Failed, _) => TaskState::Failed,
        (_, None) => TaskState::Todo,
        (_, Some(_)) => TaskState::Review,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_without_a_title_is_named_by_the_first_line_of_its_prompt() {
        assert_eq!(title("", "\n  Fix the parser \nIt panics."), "Fix the parser");
        assert_eq!(title(" Mine ", "prompt"), "Mine");
        assert_eq!(title("", &"x".repeat(200)).chars().count(), TITLE_CHARS + 1);
    }

    #[test]
    fn a_custom_command_is_named_by_its_program() {
        let custom =
            CustomCommand { command_line: "/opt/bin/agent --acp".into(), ..Default::default() };
        assert_eq!(custom_profile(&custom).unwrap().name, "agent");
    }
}
