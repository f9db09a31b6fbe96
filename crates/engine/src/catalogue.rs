//! The agents that Kandev knows, as they stand on this machine: looked for, installed, tried.

mod discovery;
mod install;
mod trial;

use std::{collections::HashMap, sync::Arc};

use agents::{CATALOGUE, CatalogueEntry, Install};
use futures::{StreamExt as _, stream};
use model::{
    AgentView, AgentsView, ApiError, ErrorCode, InstallView, Standing, Timestamp,
    wire::Notification,
};

use crate::{Engine, clock, lock, not_found};
use discovery::{Discovery, Found};
use install::Job;

/// Programs that are asked at once.
const AT_ONCE: usize = 4;
/// Between two looks at an installation's lines.
const TELL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(300);

/// What was found, and what is being installed.
#[derive(Default)]
pub(crate) struct Catalogue {
    found: HashMap<&'static str, Found>,
    jobs: HashMap<&'static str, Job>,
    scanned_at: Option<Timestamp>,
}

impl Engine {
    /// The agents as they stood at the last look.
    pub fn agents(&self) -> AgentsView {
        let catalogue = lock(&self.shared.catalogue);
        AgentsView {
            agents: CATALOGUE.iter().map(|entry| catalogue.view(entry)).collect(),
            scanned_at: catalogue.scanned_at,
        }
    }

    /// Looks for every agent; returns when all were looked at.
    ///
    /// # Errors
    ///
    /// The server is ending.
    pub async fn scan_agents(&self) -> Result<AgentsView, ApiError> {
        let engine = self.clone();
        self.to_its_end(async move {
            // A look that is under way is the look: its end is waited for.
            let _scanning = engine.shared.scanning.lock().await;
            let discovery = Arc::new(Discovery::begin(discovery::search_path()).await);
            stream::iter(CATALOGUE)
                .for_each_concurrent(AT_ONCE, |entry| engine.look(&discovery, entry))
                .await;
            lock(&engine.shared.catalogue).scanned_at = Some(clock::now());
            Ok(engine.agents())
        })
        .await
    }

    /// Begins to install an agent. One that is being installed goes on.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for an agent that is not known, `VALIDATION_ERROR` for one that is installed by
    /// hand.
    pub async fn install_agent(&self, key: &str) -> Result<(), ApiError> {
        let entry = agents::entry(key).ok_or_else(|| not_found("agent"))?;
        let Install::Run(words) = entry.install else {
            let message = format!("{} is installed by hand.", entry.name);
            return Err(ApiError::new(ErrorCode::ValidationError, message));
        };
        let discovery = Discovery::begin(discovery::search_path()).await;
        if let Standing::Broken { reason } = discovery.look(entry).await.standing
            && entry.needs.is_some_and(|need| need.is_strict)
        {
            return Err(ApiError::new(ErrorCode::ValidationError, reason));
        }
        let job = Job::new(words, clock::now());
        {
            let mut catalogue = lock(&self.shared.catalogue);
            if catalogue.jobs.get(entry.key).is_some_and(Job::is_running) {
                return Ok(());
            }
            catalogue.jobs.insert(entry.key, job.clone());
        }
        self.tell_agent(entry);
        let engine = self.clone();
        self.shared.tasks.spawn(async move { engine.follow_install(entry, words, job).await });
        Ok(())
    }

    /// Stops an installation. Without one it is no error: it has just ended.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for an agent that is not known.
    pub fn cancel_install(&self, key: &str) -> Result<(), ApiError> {
        let entry = agents::entry(key).ok_or_else(|| not_found("agent"))?;
        if let Some(job) = lock(&self.shared.catalogue).jobs.get(entry.key) {
            job.cancel();
        }
        Ok(())
    }

    async fn follow_install(&self, entry: &'static CatalogueEntry, words: &[&str], job: Job) {
        {
            let mut running = std::pin::pin!(job.run(words, &self.shared.stopping));
            let mut told = job.view();
            loop {
                tokio::select! {
                    () = &mut running => break,
                    () = tokio::time::sleep(TELL_INTERVAL) => {}
                }
                let view = job.view();
                if view != told {
                    told = view;
                    self.tell_agent(entry);
                }
            }
        }
        let discovery = Discovery::begin(discovery::search_path()).await;
        self.look(&discovery, entry).await;
    }

    async fn look(&self, discovery: &Discovery, entry: &'static CatalogueEntry) {
        let found = discovery.look(entry).await;
        lock(&self.shared.catalogue).found.insert(entry.key, found);
        self.tell_agent(entry);
    }

    fn tell_agent(&self, entry: &CatalogueEntry) {
        let agent = lock(&self.shared.catalogue).view(entry);
        self.shared.fanout.publish(|rev| Notification::AgentUpdated { rev, agent });
    }
}

impl Catalogue {
    fn view(&self, entry: &CatalogueEntry) -> AgentView {
        let found = self.found.get(entry.key);
        let passthrough = entry.passthrough();
        AgentView {
            key: entry.key.to_owned(),
            name: entry.name.to_owned(),
            agent: entry.agent,
            standing: found.map_or(Standing::Unknown, |found| found.standing.clone()),
            warning: found.and_then(|found| found.warning.clone()),
            version: found.and_then(|found| found.version.clone()),
            acp: entry.command().line(),
            terminal: passthrough.command.map(|command| command.line()),
            install: match entry.install {
                Install::Run(words) => InstallView::Run(words.join(" ")),
                Install::ByHand(words) => InstallView::ByHand(words.to_owned()),
            },
            login: entry.login.map(str::to_owned),
            job: self.jobs.get(entry.key).map(Job::view),
        }
    }
}
