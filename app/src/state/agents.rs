//! The agents as the page keeps them, and how they are sorted and put into words.

use leptos::prelude::*;
use model::{
    AgentView, AgentsView, JobState, JobView, ProfileView, Standing, TrialView, wire::Notification,
};

use super::{card::CardState, format};

/// What is known of agents and profiles. Cheap to clone; every clone is the same.
#[derive(Clone)]
pub struct LiveAgents {
    /// The agents; none before the first answer.
    pub agents: ArcRwSignal<Option<AgentsView>>,
    /// All profiles.
    pub profiles: ArcRwSignal<Vec<ProfileView>>,
}

impl LiveAgents {
    /// What came with the page.
    pub fn new(agents: Option<AgentsView>, profiles: Vec<ProfileView>) -> Self {
        Self { agents: ArcRwSignal::new(agents), profiles: ArcRwSignal::new(profiles) }
    }

    /// Takes a notification, if it is about agents.
    pub fn apply(&self, news: &Notification) {
        match news {
            Notification::AgentUpdated { agent, .. } => self.agents.update(|view| {
                let known = view.as_mut().map(|view| view.agents.iter_mut());
                let known = known.and_then(|mut agents| agents.find(|it| it.key == agent.key));
                if let Some(known) = known {
                    known.clone_from(agent);
                }
            }),
            Notification::ProfilesChanged { profiles, .. } => self.profiles.set(profiles.clone()),
            _ => {}
        }
    }
}

/// Where an agent stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// It can be given a task now.
    Ready,
    /// The person has to do something first.
    NeedsYou,
    /// It is not there.
    NotInstalled,
}

impl Group {
    /// All of them, in the order of the page.
    pub const ALL: [Self; 3] = [Self::Ready, Self::NeedsYou, Self::NotInstalled];

    /// Its heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::NeedsYou => "Needs you",
            Self::NotInstalled => "Not installed",
        }
    }

    /// The group of an agent.
    pub const fn of(standing: &Standing) -> Self {
        match standing {
            Standing::Ready | Standing::Fetched => Self::Ready,
            Standing::Broken { .. } => Self::NeedsYou,
            Standing::Missing | Standing::Unknown => Self::NotInstalled,
        }
    }
}

/// The shape and the words of an agent's standing.
pub fn standing_words(agent: &AgentView) -> (CardState, &'static str) {
    match &agent.job {
        Some(JobView { state: JobState::Running, .. }) => {
            return (CardState::Running, "Installing");
        }
        Some(JobView { state: JobState::Failed { .. }, .. }) => {
            return (CardState::Failed, "Installation failed");
        }
        _ => {}
    }
    match agent.standing {
        Standing::Ready | Standing::Fetched => (CardState::Done, "Ready"),
        Standing::Broken { .. } => (CardState::Failed, "Cannot be used"),
        Standing::Missing => (CardState::Queued, "Not installed"),
        Standing::Unknown => (CardState::Queued, "Not looked for yet"),
    }
}

/// Whether a running installation is to be offered an end, and a missing agent an installation.
pub fn is_installing(agent: &AgentView) -> bool {
    agent.job.as_ref().is_some_and(|job| job.state == JobState::Running)
}

/// What came of a try.
pub fn trial_words(trial: &TrialView) -> String {
    if !trial.answered {
        return trial.text.clone();
    }
    let took = format::duration(trial.millis.div_ceil(1000));
    let version =
        trial.version.as_ref().map(|version| format!(" Version {version}.")).unwrap_or_default();
    format!("Answered \u{201c}{}\u{201d} within {took}.{version}", trial.text)
}

/// The lines of variables of a profile that is edited: names alone, which keep their values.
pub fn env_lines(profile: &ProfileView) -> String {
    profile.env_names.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use model::Timestamp;

    fn agent(standing: Standing) -> AgentView {
        AgentView { standing, ..samples::agent() }
    }

    #[test]
    fn k_030_agents_are_sorted_by_what_can_be_done() {
        let broken = Standing::Broken { reason: "x".into() };
        assert_eq!(Group::of(&Standing::Fetched), Group::Ready);
        assert_eq!(Group::of(&broken), Group::NeedsYou);
        assert_eq!(Group::of(&Standing::Missing), Group::NotInstalled);
        assert_eq!(standing_words(&agent(Standing::Ready)), (CardState::Done, "Ready"));
        let job = |state| {
            let started_at = Timestamp::from_millis(0);
            let job = Some(JobView { state, started_at, log: Vec::new() });
            AgentView { job, ..agent(Standing::Missing) }
        };
        assert!(is_installing(&job(JobState::Running)));
        let failed = job(JobState::Failed { exit_code: Some(1) });
        assert_eq!(standing_words(&failed).0, CardState::Failed);
        assert_eq!(standing_words(&job(JobState::Cancelled)).1, "Not installed");
    }

    #[test]
    fn k_030_news_of_an_agent_takes_its_place_and_no_other() {
        let (one, two) = (samples::agent(), AgentView { key: "two".into(), ..samples::agent() });
        let view = AgentsView { agents: vec![one.clone(), two.clone()], scanned_at: None };
        let live = LiveAgents::new(Some(view), Vec::new());
        let ready = AgentView { standing: Standing::Ready, ..two };
        live.apply(&Notification::AgentUpdated { rev: 1, agent: ready.clone() });
        assert_eq!(live.agents.get_untracked().unwrap().agents, [one, ready]);
    }

    #[test]
    fn a_try_says_what_was_answered_or_why_nothing_was() {
        let trial = TrialView {
            answered: true,
            text: "OK".into(),
            version: Some("1.18.33".into()),
            millis: 3100,
        };
        assert_eq!(trial_words(&trial), "Answered \u{201c}OK\u{201d} within 4 s. Version 1.18.33.");
        let failed = TrialView { answered: false, text: "It needs a login.".into(), ..trial };
        assert_eq!(trial_words(&failed), "It needs a login.");
    }
}
