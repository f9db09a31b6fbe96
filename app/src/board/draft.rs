//! A task that is being written. It outlives the dialog, so that closing it loses nothing.

use leptos::prelude::*;
use model::{
    ProfileId, ProfileView,
    wire::{CustomCommand, NewTask, NewTaskAgent},
};

/// Which agent is to work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One that is there.
    Profile(ProfileId),
    /// A command that speaks ACP.
    Custom,
}

/// The fields of the task dialog.
#[derive(Debug, Clone, Copy)]
pub struct Draft {
    pub title: RwSignal<String>,
    pub prompt: RwSignal<String>,
    pub folder: RwSignal<String>,
    /// None until one was chosen: then it is the first.
    pub choice: RwSignal<Option<Choice>>,
    pub custom_name: RwSignal<String>,
    pub command_line: RwSignal<String>,
    pub env: RwSignal<String>,
    pub start: RwSignal<bool>,
}

impl Default for Draft {
    fn default() -> Self {
        let empty = || RwSignal::new(String::new());
        Self {
            title: empty(),
            prompt: empty(),
            folder: empty(),
            choice: RwSignal::new(None),
            custom_name: empty(),
            command_line: empty(),
            env: empty(),
            start: RwSignal::new(true),
        }
    }
}

impl Draft {
    /// The agent that would get the task now. Tracked.
    pub fn chosen(self, profiles: &[ProfileView]) -> Choice {
        let first = profiles.first().map_or(Choice::Custom, |profile| Choice::Profile(profile.id));
        self.choice.get().unwrap_or(first)
    }

    /// What is sent.
    pub fn to_new_task(self, profiles: &[ProfileView]) -> NewTask {
        let text = |field: RwSignal<String>| field.get_untracked();
        let agent = match untrack(|| self.chosen(profiles)) {
            Choice::Profile(id) => NewTaskAgent::Profile(id),
            Choice::Custom => NewTaskAgent::Custom(CustomCommand {
                name: text(self.custom_name),
                command_line: text(self.command_line),
                env: text(self.env),
            }),
        };
        NewTask {
            title: text(self.title),
            prompt: text(self.prompt),
            folder: text(self.folder),
            agent,
            start: self.start.get_untracked(),
        }
    }

    /// Forgets what was sent; folder and agent are likely to be the same next time.
    pub fn clear(self) {
        self.title.set(String::new());
        self.prompt.set(String::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::AgentKind;

    fn profile(number: u8) -> ProfileView {
        ProfileView {
            id: ProfileId::from_bytes([number; 16]),
            name: "OpenCode".into(),
            agent: AgentKind::OpenCode,
            command_line: "opencode acp".into(),
            env_names: Vec::new(),
            mode: None,
            model: None,
            built_in: true,
        }
    }

    fn with_draft(test: impl FnOnce(Draft)) {
        Owner::new().with(|| test(Draft::default()));
    }

    #[test]
    fn the_first_agent_is_chosen_until_another_one_is() {
        with_draft(|draft| {
            let profiles = [profile(1), profile(2)];
            assert_eq!(draft.chosen(&profiles), Choice::Profile(profiles[0].id));
            assert_eq!(draft.chosen(&[]), Choice::Custom);
            draft.choice.set(Some(Choice::Profile(profiles[1].id)));
            let task = draft.to_new_task(&profiles);
            assert_eq!(task.agent, NewTaskAgent::Profile(profiles[1].id));
        });
    }

    #[test]
    fn a_custom_command_is_sent_as_it_was_typed() {
        with_draft(|draft| {
            draft.choice.set(Some(Choice::Custom));
            draft.command_line.set("node 'my agent.js'".into());
            draft.env.set("KEY=value".into());
            let NewTaskAgent::Custom(custom) = draft.to_new_task(&[profile(1)]).agent else {
                panic!("another agent was sent")
            };
            assert_eq!(
                (custom.command_line.as_str(), custom.env.as_str()),
                ("node 'my agent.js'", "KEY=value")
            );
        });
    }

    #[test]
    fn clearing_keeps_the_folder() {
        with_draft(|draft| {
            draft.prompt.set("Fix it".into());
            draft.folder.set("/home/me".into());
            draft.clear();
            let task = draft.to_new_task(&[]);
            assert_eq!((task.prompt.as_str(), task.folder.as_str()), ("", "/home/me"));
        });
    }
}
