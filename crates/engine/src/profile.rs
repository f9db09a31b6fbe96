//! Profiles: how agents are started. What is secret in them is kept sealed (K-003).

use model::{
    AgentProfile, ApiError, ErrorCode, LaunchCommand, Passthrough, ProfileDraft, ProfileId,
    ProfileView, wire::Notification,
};
use store::{Op, Store, StoreError};

use crate::{Engine, clock, command_line, internal, not_found, secrets::Secrets};

/// The longest name, in characters.
const NAME_CHARS: usize = 80;

impl Engine {
    /// Keeps a profile: a new one, or another form of one that is there. A profile that came with
    /// Kandev keeps its command.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, or `VALIDATION_ERROR` with the name of the field that cannot be.
    pub async fn save_profile(
        &self,
        profile_id: Option<ProfileId>,
        draft: ProfileDraft,
    ) -> Result<ProfileView, ApiError> {
        let engine = self.clone();
        self.to_its_end(async move { engine.save_profile_now(profile_id, draft).await }).await
    }

    async fn save_profile_now(
        &self,
        profile_id: Option<ProfileId>,
        draft: ProfileDraft,
    ) -> Result<ProfileView, ApiError> {
        let known = match profile_id {
            None => None,
            Some(id) => {
                let known = self.read(move |reader| reader.profile(id)).await?;
                Some(known.ok_or_else(|| not_found("profile"))?)
            }
        };
        let profile = drawn_up(known, &draft, &self.shared.secrets)?;
        let view = profile.to_view();
        self.commit_profiles(vec![Op::PutProfile(profile)]).await?;
        Ok(view)
    }

    /// Deletes a profile. Sessions that it began keep their messages, and cannot start their agent
    /// again.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, or `CONFLICT` for one that came with Kandev.
    pub async fn delete_profile(&self, profile_id: ProfileId) -> Result<(), ApiError> {
        let known = self.read(move |reader| reader.profile(profile_id)).await?;
        if known.ok_or_else(|| not_found("profile"))?.built_in {
            let message = "A profile that came with Kandev cannot be deleted.";
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
        let engine = self.clone();
        let delete = vec![Op::DeleteProfile(profile_id)];
        self.to_its_end(async move { engine.commit_profiles(delete).await }).await
    }

    async fn commit_profiles(&self, ops: Vec<Op>) -> Result<(), ApiError> {
        self.store().commit(ops).await.map_err(|err| internal(&err))?;
        let profiles = self.read(store::Reader::profiles).await?;
        let profiles: Vec<_> = profiles.iter().map(AgentProfile::to_view).collect();
        self.shared.fanout.publish(|rev| Notification::ProfilesChanged { rev, profiles });
        Ok(())
    }

    /// The command that starts a profile's agent, with its variables; why there is none, for a
    /// person.
    pub(crate) fn launch_command(&self, profile: &AgentProfile) -> Result<LaunchCommand, String> {
        let mut command = profile.command.clone();
        for (name, sealed) in &profile.sealed_env {
            let value = self.shared.secrets.unseal(sealed).map_err(|_| {
                format!(
                    "The variable {name} of {} cannot be read: the key that sealed it is gone. \
                     Enter it again on the page of agents.",
                    profile.name
                )
            })?;
            command.env.push((name.clone(), value));
        }
        Ok(command)
    }
}

/// Seals a command's variables.
pub(crate) fn sealed(command: &mut LaunchCommand, secrets: &Secrets) -> Vec<(String, String)> {
    let env = std::mem::take(&mut command.env).into_iter();
    env.map(|(name, value)| (name, secrets.seal(&value))).collect()
}

/// Seals the variables that an earlier version kept as they are.
pub(crate) async fn seal_all(store: &Store, secrets: &Secrets) -> Result<(), StoreError> {
    let profiles = store.read(store::Reader::profiles)?;
    let open = profiles.into_iter().filter(|profile| !profile.command.env.is_empty());
    let ops: Vec<_> = open
        .map(|mut profile| {
            let env = sealed(&mut profile.command, secrets);
            profile.sealed_env.extend(env);
            Op::PutProfile(profile)
        })
        .collect();
    if ops.is_empty() { Ok(()) } else { store.commit(ops).await }
}

/// The profile that a draft makes of the one that is known, or of none.
fn drawn_up(
    known: Option<AgentProfile>,
    draft: &ProfileDraft,
    secrets: &Secrets,
) -> Result<AgentProfile, ApiError> {
    let name = draft.name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS {
        let message = format!("Give it a name of at most {NAME_CHARS} characters.");
        return Err(ApiError::new(ErrorCode::ValidationError, message).about("name"));
    }
    let filled = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let kept = known.as_ref().map(|known| known.sealed_env.as_slice()).unwrap_or_default();
    let sealed_env = environment(&draft.env, kept, secrets)?;
    let fresh = || AgentProfile {
        id: ProfileId::new(clock::new_id()),
        name: String::new(),
        agent: draft.agent,
        command: LaunchCommand::default(),
        sealed_env: Vec::new(),
        mode: None,
        model: None,
        cli_passthrough: false,
        passthrough: Passthrough::default(),
        built_in: false,
    };
    let mut profile = known.unwrap_or_else(fresh);
    if !profile.built_in {
        profile.command = command_line::words(&draft.command_line)?;
        profile.agent = draft.agent;
        name.clone_into(&mut profile.name);
    }
    (profile.mode, profile.model) = (filled(&draft.mode), filled(&draft.model));
    profile.sealed_env = sealed_env;
    Ok(profile)
}

/// The variables that these lines make: `NAME=value`, or a name alone for one that is kept.
fn environment(
    lines: &str,
    kept: &[(String, String)],
    secrets: &Secrets,
) -> Result<Vec<(String, String)>, ApiError> {
    let is_known = |line: &&str| kept.iter().any(|(name, _)| name == line.trim());
    let (names, new): (Vec<&str>, Vec<&str>) = lines.lines().partition(is_known);
    let new = command_line::environment(&new.join("\n"))?;
    let is_kept = |(name, _): &&(String, String)| {
        names.iter().any(|line| line.trim() == name) && !new.iter().any(|(other, _)| other == name)
    };
    let mut sealed: Vec<_> = kept.iter().filter(is_kept).cloned().collect();
    sealed.extend(new.iter().map(|(name, value)| (name.clone(), secrets.seal(value))));
    Ok(sealed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(env: &str) -> ProfileDraft {
        ProfileDraft {
            name: "Mine".into(),
            command_line: "my-agent 'a b'".into(),
            env: env.into(),
            ..ProfileDraft::default()
        }
    }

    #[test]
    fn k_003_variables_are_sealed_kept_by_name_changed_and_dropped() {
        let secrets = Secrets::ephemeral();
        let first = drawn_up(None, &draft("KEY=hunter2\nOTHER=x"), &secrets).unwrap();
        assert!(first.command.env.is_empty());
        let json = serde_json::to_string(&first).unwrap();
        assert!(!json.contains("hunter2"), "{json}");
        assert_eq!(first.to_view().env_names, ["KEY", "OTHER"]);

        let second = drawn_up(Some(first.clone()), &draft(" KEY \nNEW=y"), &secrets).unwrap();
        assert_eq!(
            (second.id, second.sealed_env[0].clone()),
            (first.id, first.sealed_env[0].clone())
        );
        assert_eq!(second.to_view().env_names, ["KEY", "NEW"]);
        let third = drawn_up(Some(second), &draft("KEY=changed"), &secrets).unwrap();
        assert_eq!(secrets.unseal(&third.sealed_env[0].1).as_deref(), Ok("changed"));
        assert_eq!(third.sealed_env.len(), 1);
    }

    #[test]
    fn k_003_what_cannot_be_is_refused_by_field() {
        let secrets = Secrets::ephemeral();
        let field = |draft: ProfileDraft| drawn_up(None, &draft, &secrets).unwrap_err().field;
        let named = |name: &str| ProfileDraft { name: name.into(), ..draft("") };
        assert_eq!(field(named(" ")).as_deref(), Some("name"));
        assert_eq!(field(named(&"x".repeat(81))).as_deref(), Some("name"));
        assert_eq!(field(draft("NO VALUE")).as_deref(), Some("env"));
        let unclosed = ProfileDraft { command_line: "a 'b".into(), ..draft("") };
        assert_eq!(field(unclosed).as_deref(), Some("command_line"));
    }

    #[test]
    fn k_003_a_profile_that_came_with_kandev_keeps_its_command() {
        let secrets = Secrets::ephemeral();
        let mut built_in = drawn_up(None, &draft(""), &secrets).unwrap();
        built_in.built_in = true;
        let changed = ProfileDraft {
            name: "Other".into(),
            command_line: "rm -rf x".into(),
            mode: "plan".into(),
            ..draft("KEY=v")
        };
        let saved = drawn_up(Some(built_in.clone()), &changed, &secrets).unwrap();
        assert_eq!((&saved.command, &saved.name), (&built_in.command, &built_in.name));
        assert_eq!((saved.mode.as_deref(), saved.sealed_env.len()), (Some("plan"), 1));
    }
}
