//! An engine on a store of its own, and an agent that does what its prompt says.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use engine::{Engine, Route};
use model::{
    InitialState, MessageView, SessionId, SessionState, TaskCard, ToolStatus,
    wire::{CustomCommand, NewTask, NewTaskAgent, Notification},
};
use store::Store;
use tempfile::TempDir;
pub(crate) use testkit::fake_agent;
use tokio::sync::broadcast;

/// Long enough for a busy machine; reaching it is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) dir: TempDir,
    told: broadcast::Receiver<Arc<Notification>>,
}

impl Bench {
    pub(crate) async fn new() -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let store = Store::open(&dir.path().join("kandev.redb"), &store::Options::default())?;
        Ok(Self { dir, ..Self::on(store).await? })
    }

    pub(crate) async fn on(store: Store) -> Result<Self> {
        Self::with(Engine::start(store).await?)
    }

    pub(crate) fn with(engine: Engine) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let told = engine.subscribe();
        Ok(Self { engine, dir, told })
    }

    /// A task whose agent is given this prompt at once.
    pub(crate) async fn task(&self, prompt: &str) -> Result<(TaskCard, SessionId)> {
        let card = self.engine.create_task(self.new_task(prompt, &fake_agent()?)).await?;
        let session = card.session.as_ref().context("no session")?.id;
        Ok((card, session))
    }

    pub(crate) fn new_task(&self, prompt: &str, command_line: &str) -> NewTask {
        NewTask {
            title: String::new(),
            prompt: prompt.into(),
            folder: self.dir.path().to_str().unwrap_or_default().into(),
            agent: NewTaskAgent::Custom(CustomCommand {
                name: "Fake".into(),
                command_line: command_line.into(),
                env: String::new(),
            }),
            start: true,
        }
    }

    /// Waits for a notification that `pick` takes.
    pub(crate) async fn until<T>(
        &mut self,
        mut pick: impl FnMut(&Notification) -> Option<T>,
    ) -> Result<T> {
        let wait = async {
            loop {
                if let Some(found) = pick(&*self.told.recv().await?) {
                    return anyhow::Ok(found);
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.context("nothing of the kind was told")?
    }

    pub(crate) async fn until_state(&mut self, wanted: SessionState) -> Result<()> {
        self.until(|told| match told {
            Notification::TurnStarted { session, .. }
            | Notification::TurnCompleted { session, .. }
            | Notification::SessionStateChanged { session, .. } => {
                (session.state == wanted).then_some(())
            }
            _ => None,
        })
        .await
    }

    pub(crate) async fn until_message(
        &mut self,
        mut wanted: impl FnMut(&MessageView) -> bool,
    ) -> Result<MessageView> {
        self.until(|told| match told {
            Notification::MessageAdded { message, .. }
            | Notification::MessageUpdated { message, .. } => {
                wanted(message).then(|| message.clone())
            }
            _ => None,
        })
        .await
    }

    /// Waits for the end of a turn and for a message, whichever comes first.
    pub(crate) async fn until_over_with(
        &mut self,
        mut wanted: impl FnMut(&MessageView) -> bool,
    ) -> Result<MessageView> {
        let (mut is_over, mut found) = (false, None);
        self.until(|told| {
            match told {
                Notification::TurnCompleted { .. } => is_over = true,
                Notification::MessageAdded { message, .. }
                | Notification::MessageUpdated { message, .. }
                    if wanted(message) =>
                {
                    found = Some(message.clone());
                }
                _ => {}
            }
            found.clone().filter(|_| is_over)
        })
        .await
    }

    pub(crate) async fn until_tool(&mut self, wanted: ToolStatus) -> Result<MessageView> {
        self.until_message(|message| message.metadata.status == Some(wanted)).await
    }

    pub(crate) async fn page(&self, card: &TaskCard) -> Result<InitialState> {
        Ok(self.engine.boot(Route::Task(card.id)).await?.initial_state)
    }
}
