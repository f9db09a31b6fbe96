//! A try: the agent of a profile is started, given one small prompt, and ended.

use std::{
    path::PathBuf,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use acp::{Agent, AgentEvent, Launch, PermissionOutcome, RpcErrorKind};
use model::{AgentProfile, ApiError, ProfileId, SessionId, TaskId, TrialView};
use tokio::time::timeout;

use crate::{
    Engine, clock, internal, not_found,
    safe_text::safe_text,
    session::launch::{self, Cause, Opened},
};

/// What the agent is asked.
const PROMPT: &str = "Reply with the single word OK. Use no tools.";
/// How long all of it may take: a first start may download the agent.
const LIMIT: Duration = Duration::from_secs(180);
/// How long the agent may take to end.
const GRACE: Duration = Duration::from_secs(2);
/// The most of an answer that is shown, in bytes.
const ANSWER_BYTES: usize = 2000;

impl Engine {
    /// Starts the agent of a profile in an empty folder and gives it one small prompt.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a profile that is not there.
    pub async fn try_profile(&self, profile_id: ProfileId) -> Result<TrialView, ApiError> {
        let engine = self.clone();
        self.to_its_end(async move { engine.try_profile_now(profile_id).await }).await
    }

    async fn try_profile_now(&self, profile_id: ProfileId) -> Result<TrialView, ApiError> {
        let profile = self.read(move |reader| reader.profile(profile_id)).await?;
        let profile = profile.ok_or_else(|| not_found("profile"))?;
        let began = Instant::now();
        let view = |outcome: Result<Answer, String>| {
            let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            match outcome {
                Ok((text, version)) => TrialView { answered: true, text, version, millis },
                Err(text) => TrialView { answered: false, text, version: None, millis },
            }
        };
        let outcome = tokio::select! {
            outcome = timeout(LIMIT, self.converse(&profile)) => outcome.unwrap_or_else(|_| {
                Err(format!("{} did not answer within {} s.", profile.name, LIMIT.as_secs()))
            }),
            () = self.shared.stopping.cancelled() => Err("Kandev is ending.".to_owned()),
        };
        Ok(view(outcome))
    }

    /// One prompt, and what was answered; an agent that is dropped is ended.
    async fn converse(&self, profile: &AgentProfile) -> Result<Answer, String> {
        let folder = tempfile::tempdir().map_err(|err| internal(&err).message)?;
        let launch = Launch {
            command: self.launch_command(profile)?,
            work_dir: folder.path().to_owned(),
            session_id: SessionId::new(clock::new_id()),
            task_id: TaskId::new(clock::new_id()),
            tap: None,
        };
        let (agent, mut events) =
            Agent::spawn(launch).map_err(|err| launch::not_spawned(profile, &err))?;
        let agent = Arc::new(agent);
        let mut asking = pin!(ask(Arc::clone(&agent), profile, folder.path().to_owned()));
        let (mut is_asked, mut said, mut version) = (false, String::new(), None);
        let outcome = loop {
            let event = tokio::select! {
                asked = &mut asking, if !is_asked => {
                    is_asked = true;
                    match asked {
                        Ok(reported) => version = reported,
                        // How, its last event says.
                        Err(Cause::Ended) => {}
                        Err(Cause::Refused(reason)) => break Err(reason),
                    }
                    continue;
                }
                event = events.recv() => event,
            };
            match event {
                Some(AgentEvent::Text(text)) if said.len() < ANSWER_BYTES => said.push_str(&text),
                Some(AgentEvent::Permission { key, .. }) => {
                    // An agent that has ended meanwhile says so itself.
                    let _ = agent.respond(key, PermissionOutcome::Cancelled);
                }
                Some(AgentEvent::PromptEnded { result: Ok(_), .. }) => break Ok(said),
                Some(AgentEvent::PromptEnded { result: Err(err), .. })
                    if err.kind != RpcErrorKind::Ended =>
                {
                    break Err(launch::refused_words(profile, "did not answer", &err));
                }
                Some(AgentEvent::Exited(exit)) => {
                    break Err(launch::ended(profile, Some(&exit)));
                }
                None => break Err(launch::ended(profile, None)),
                Some(_) => {}
            }
        };
        // Its events are drained meanwhile, so that it can end.
        let drained = async { while events.recv().await.is_some() {} };
        let ending = async {
            agent.shutdown(GRACE).await;
        };
        tokio::select! {
            () = ending => {}
            () = drained => {}
        }
        outcome.and_then(|said| answer(&profile.name, &said, version))
    }
}

/// What it said, and the version that it reported.
type Answer = (String, Option<String>);

/// An answer without a word is none: some agents end a turn well after a failure (D-015).
fn answer(name: &str, said: &str, version: Option<String>) -> Result<Answer, String> {
    let said = safe_text(said);
    if said.is_empty() {
        return Err(format!("{name} ended its turn without a word."));
    }
    Ok((said, version))
}

/// Opens a session and sends the prompt; the version that the agent reports.
async fn ask(
    agent: Arc<Agent>,
    profile: &AgentProfile,
    folder: PathBuf,
) -> Result<Option<String>, Cause> {
    let initialized = launch::initialize(Arc::clone(&agent), profile.clone()).await;
    let initialized = initialized.map_err(|failure| failure.cause)?;
    let version = initialized.identity.version.clone();
    let opening =
        launch::open_session(Arc::clone(&agent), profile.clone(), initialized, None, folder);
    let (Opened::New(session) | Opened::Resumed(session)) =
        opening.await.map_err(|failure| failure.cause)?;
    agent.prompt(&session.id, PROMPT, 0).map_err(|_| Cause::Ended)?;
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_015_a_turn_without_a_word_is_no_answer() {
        assert!(answer("Pi", " \n", None).is_err());
        assert_eq!(answer("Pi", "OK\n", None), Ok(("OK".into(), None)));
    }
}
