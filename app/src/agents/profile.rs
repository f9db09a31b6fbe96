//! Profiles: listed, tried, written.

use leptos::{ev, prelude::*, task::spawn_local};
use model::{ApiError, ProfileDraft, ProfileId, ProfileView, TrialView, wire::Request};

use super::act_button;
use crate::{
    browser,
    context::{Act, shared},
    controls::{Modal, Problem},
    dynamic::part,
    icon::{Icon, icon},
    live::{AskError, with_hint},
    state::agents::{env_lines, trial_words},
};

/// A profile that is being written.
#[derive(Clone, Copy)]
pub struct Writing {
    is_open: RwSignal<bool>,
    id: RwSignal<Option<ProfileId>>,
    /// Its name and command stay.
    is_built_in: RwSignal<bool>,
    draft: RwSignal<ProfileDraft>,
    is_sending: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
    /// Why it was not sent.
    trouble: RwSignal<Option<String>>,
}

impl Writing {
    pub fn new() -> Self {
        Self {
            is_open: RwSignal::new(false),
            id: RwSignal::new(None),
            is_built_in: RwSignal::new(false),
            draft: RwSignal::new(ProfileDraft::default()),
            is_sending: RwSignal::new(false),
            error: RwSignal::new(None),
            trouble: RwSignal::new(None),
        }
    }

    /// Opens the dialog, for this profile or for a new one.
    pub fn begin(self, id: Option<ProfileId>, is_built_in: bool, draft: ProfileDraft) {
        self.id.set(id);
        self.is_built_in.set(is_built_in);
        self.draft.set(draft);
        self.error.set(None);
        self.trouble.set(None);
        self.is_open.set(true);
    }

    fn send(self) {
        if self.is_sending.get_untracked() {
            return;
        }
        self.is_sending.set(true);
        self.error.set(None);
        self.trouble.set(None);
        let (profile_id, profile) = (self.id.get_untracked(), self.draft.get_untracked());
        let live = shared().live;
        spawn_local(async move {
            let request = Request::ProfileSave { profile_id, profile };
            let answer = live.ask::<ProfileView>(request).await;
            self.is_sending.try_set(false);
            match answer {
                Ok(_) => drop(self.is_open.try_set(false)),
                Err(AskError::Refused(error)) => {
                    if let Some(field) = &error.field {
                        browser::focus(&field_id(field));
                    }
                    self.error.try_set(Some(error));
                }
                Err(other) => drop(self.trouble.try_set(Some(other.to_string()))),
            }
        });
    }

    /// What is wrong with a field. Tracked.
    fn problem(self, field: &'static str) -> Option<String> {
        let error = self.error.get()?;
        (error.field.as_deref() == Some(field)).then(|| with_hint(&error))
    }

    /// What is wrong with none of the fields. Tracked.
    fn general_problem(self) -> Option<String> {
        let refused = self.error.get().filter(|error| error.field.is_none());
        refused.map(|error| with_hint(&error)).or_else(|| self.trouble.get())
    }
}

fn field_id(name: &str) -> String {
    format!("profile-{name}")
}

/// All profiles.
#[component]
pub fn Profiles(writing: Writing) -> impl IntoView {
    let profiles = shared().agents.profiles;
    view! {
        <section class="agents" aria-labelledby="profiles">
            <h2 id="profiles">"Profiles"</h2>
            <div class="work">
                <For
                    each=move || profiles.get()
                    key=|profile| serde_json::to_string(profile).unwrap_or_default()
                    let(profile)
                >
                    <Profile profile writing />
                </For>
            </div>
            <p>
                <button
                    class="button"
                    type="button"
                    on:click=move |_| writing.begin(None, false, ProfileDraft::default())
                >
                    {icon(Icon::Plus)}
                    "Your own command"
                </button>
            </p>
        </section>
    }
}

#[component]
fn Profile(profile: ProfileView, writing: Writing) -> impl IntoView {
    let trial = Trial::new(profile.id);
    let act = Act::new();
    let ProfileView { id, name, built_in, .. } = profile.clone();
    let command_line = profile.command_line.clone();
    let chosen = [("Mode", profile.mode.clone()), ("Model", profile.model.clone())];
    let chosen = chosen.into_iter().filter_map(|(what, value)| {
        value.map(|value| view! { <span class="chip">{format!("{what} {value}")}</span> })
    });
    let env = profile.env_names.iter().map(|name| {
        let name = name.clone();
        view! { <span class="chip mono">{name}</span> }
    });
    let delete = (!built_in)
        .then(|| act_button(act, Icon::Close, "Delete", Request::ProfileDelete { profile_id: id }));
    view! {
        <article class="agent" aria-label=format!("Profile {name}")>
            <h3 class="agent__name">{name.clone()}</h3>
            <p>
                <code>{command_line}</code>
                {chosen.collect_view()}
                {env.collect_view()}
            </p>
            <div class="button-row">
                {trial.button()}
                {edit_buttons(&profile, writing)}
                {delete}
            </div>
            <div class="agent__wide">
                {trial.outcome()}
                <Problem text=act.error />
            </div>
        </article>
    }
}

fn edit_buttons(profile: &ProfileView, writing: Writing) -> AnyView {
    let (id, built_in) = (profile.id, profile.built_in);
    let draft = ProfileDraft {
        name: profile.name.clone(),
        agent: profile.agent,
        command_line: profile.command_line.clone(),
        env: env_lines(profile),
        mode: profile.mode.clone().unwrap_or_default(),
        model: profile.model.clone().unwrap_or_default(),
    };
    // A copy has no values to keep.
    let copy = ProfileDraft {
        name: format!("{} copy", profile.name),
        env: String::new(),
        ..draft.clone()
    };
    let (edit, duplicate) =
        (format!("Edit {}", profile.name), format!("Duplicate {}", profile.name));
    view! {
        <button
            class="button"
            type="button"
            data-variant="quiet"
            aria-label=edit
            on:click=move |_| writing.begin(Some(id), built_in, draft.clone())
        >
            "Edit"
        </button>
        <button
            class="button"
            type="button"
            data-variant="quiet"
            data-icon=""
            aria-label=duplicate.clone()
            title=duplicate
            on:click=move |_| writing.begin(None, false, copy.clone())
        >
            {icon(Icon::Copy)}
        </button>
    }
    .into_any()
}

/// A try of a profile's agent.
#[derive(Clone, Copy)]
struct Trial {
    profile_id: ProfileId,
    is_under_way: RwSignal<bool>,
    outcome: RwSignal<Option<Result<TrialView, String>>>,
}

impl Trial {
    fn new(profile_id: ProfileId) -> Self {
        Self { profile_id, is_under_way: RwSignal::new(false), outcome: RwSignal::new(None) }
    }

    fn begin(self) {
        self.is_under_way.set(true);
        self.outcome.set(None);
        let live = shared().live;
        spawn_local(async move {
            let request = Request::ProfileTry { profile_id: self.profile_id };
            let answer = live.ask::<TrialView>(request).await.map_err(|error| error.to_string());
            self.is_under_way.try_set(false);
            self.outcome.try_set(Some(answer));
        });
    }

    fn button(self) -> AnyView {
        view! {
            <button
                class="button"
                type="button"
                disabled=move || self.is_under_way.get()
                on:click=move |_| self.begin()
            >
                {icon(Icon::Chat)}
                "Try"
            </button>
        }
        .into_any()
    }

    fn outcome(self) -> AnyView {
        let said = part(move || {
            match (self.is_under_way.get(), self.outcome.get()) {
                (true, _) => {
                    Some(("running", Icon::Running, "Waiting for its answer\u{2026}".into()))
                }
                (false, Some(Ok(trial))) if trial.answered => {
                    Some(("done", Icon::Done, trial_words(&trial)))
                }
                (false, Some(Ok(trial))) => Some(("failed", Icon::Failed, trial_words(&trial))),
                (false, Some(Err(error))) => Some(("failed", Icon::Failed, error)),
                (false, None) => None,
            }
            .map(|(state, mark, words): (&'static str, Icon, String)| {
                view! {
                    <p class="signal" data-state=state>
                        {icon(mark)}
                        <span class="plain">{words}</span>
                    </p>
                }
            })
        });
        view! { <div role="status">{said}</div> }.into_any()
    }
}

/// The dialog in which a profile is written.
#[component]
pub fn ProfileDialog(writing: Writing) -> impl IntoView {
    let contents = ViewFn::from(move || view! { <ProfileForm writing /> });
    view! { <Modal is_open=writing.is_open title_id="profile-title" contents /> }
}

#[component]
fn ProfileForm(writing: Writing) -> impl IntoView {
    let on_submit = move |event: ev::SubmitEvent| {
        event.prevent_default();
        writing.send();
    };
    let is_built_in = writing.is_built_in.get_untracked();
    let title = if writing.id.get_untracked().is_some() { "Profile" } else { "New profile" };
    view! {
        <form on:submit=on_submit novalidate=true>
            <header class="dialog__head">
                <h2 id="profile-title">{title}</h2>
            </header>
            <div class="dialog__body">
                <Field writing name="name" label="Name" is_fixed=is_built_in read=|d| &d.name write=|d, v| d.name = v />
                <Field
                    writing
                    name="command_line"
                    label="ACP command"
                    is_fixed=is_built_in
                    hint="Program and arguments, quoted as in a shell."
                    read=|d| &d.command_line
                    write=|d, v| d.command_line = v
                />
                <Field
                    writing
                    name="mode"
                    label="Mode, if not the agent\u{2019}s own"
                    hint="As the agent calls it, for example plan."
                    read=|d| &d.mode
                    write=|d, v| d.mode = v
                />
                <Field
                    writing
                    name="model"
                    label="Model, if not the agent\u{2019}s own"
                    read=|d| &d.model
                    write=|d, v| d.model = v
                />
                <Environment writing />
                <Problem text=Signal::derive(move || writing.general_problem()) />
            </div>
            <footer class="dialog__foot">
                <span class="button-row">
                    <button
                        class="button"
                        type="button"
                        data-variant="quiet"
                        on:click=move |_| writing.is_open.set(false)
                    >
                        "Cancel"
                    </button>
                    <button
                        class="button"
                        type="submit"
                        data-variant="primary"
                        disabled=move || writing.is_sending.get()
                    >
                        "Save"
                    </button>
                </span>
            </footer>
        </form>
    }
}

#[component]
fn Field(
    writing: Writing,
    name: &'static str,
    label: &'static str,
    #[prop(optional)] hint: Option<&'static str>,
    #[prop(optional)] is_fixed: bool,
    read: fn(&ProfileDraft) -> &String,
    write: fn(&mut ProfileDraft, String),
) -> impl IntoView {
    let id = field_id(name);
    view! {
        <div class="field">
            <label class="field__label" for=id.clone()>
                {label}
            </label>
            <input
                class="input"
                id=id.clone()
                type="text"
                autocomplete="off"
                spellcheck="false"
                readonly=is_fixed
                aria-invalid=move || writing.problem(name).map(|_| "true")
                aria-describedby=format!("{id}-problem")
                prop:value=move || writing.draft.with(|draft| read(draft).clone())
                on:input=move |event| {
                    writing.draft.update(|draft| write(draft, event_target_value(&event)));
                }
            />
            <Problem
                text=Signal::derive(move || writing.problem(name))
                id=format!("{id}-problem")
            />
            {hint.map(|hint| view! { <span class="field__hint">{hint}</span> })}
        </div>
    }
}

#[component]
fn Environment(writing: Writing) -> impl IntoView {
    let id = field_id("env");
    view! {
        <div class="field">
            <label class="field__label" for=id.clone()>
                "Environment"
            </label>
            <textarea
                class="input mono"
                id=id.clone()
                rows="3"
                spellcheck="false"
                placeholder="NAME=value"
                aria-invalid=move || writing.problem("env").map(|_| "true")
                aria-describedby=format!("{id}-problem {id}-hint")
                prop:value=move || writing.draft.with(|draft| draft.env.clone())
                on:input=move |event| {
                    writing.draft.update(|draft| draft.env = event_target_value(&event));
                }
            ></textarea>
            <Problem
                text=Signal::derive(move || writing.problem("env"))
                id=format!("{id}-problem")
            />
            <span class="field__hint" id=format!("{id}-hint")>
                "One variable on each line. Values are stored sealed and never shown again; a name alone keeps its value."
            </span>
        </div>
    }
}
