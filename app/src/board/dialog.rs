//! The task dialog: prompt, folder, agent.

use leptos::{ev, prelude::*, task::spawn_local};
use leptos_router::{components::A, hooks::use_navigate};
use model::{ApiError, ProfileView};

use super::draft::{Choice, Draft};
use crate::{
    FormError,
    api::create_task,
    browser,
    context::{Shared, shared},
    controls::{Modal, Problem},
    dynamic::part,
    icon::{Icon, icon},
    live::with_hint,
};

/// A form under way.
#[derive(Clone, Copy)]
struct Form {
    draft: Draft,
    is_sending: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
}

impl Form {
    /// What is wrong with a field. Tracked.
    fn problem(self, field: &'static str) -> Option<String> {
        let error = self.error.get()?;
        (error.field.as_deref() == Some(field)).then(|| with_hint(&error))
    }

    /// The ids of the texts that describe a field. Tracked.
    fn described_by(self, field: &'static str, has_hint: bool) -> Option<String> {
        let id = field_id(field);
        let problem = self.problem(field).map(|_| format!("{id}-problem"));
        let hint = has_hint.then(|| format!("{id}-hint"));
        match (problem, hint) {
            (Some(problem), Some(hint)) => Some(format!("{problem} {hint}")),
            (problem, hint) => problem.or(hint),
        }
    }

    /// The field has changed, so what was wrong with it is out of date.
    fn forget_problem(self, field: &str) {
        let is_about_it = |error: &ApiError| error.field.as_deref() == Some(field);
        if self.error.with_untracked(|error| error.as_ref().is_some_and(is_about_it)) {
            self.error.set(None);
        }
    }

    /// What is wrong with none of the fields. Tracked.
    fn general_problem(self) -> Option<String> {
        let error = self.error.get()?;
        let has_place = error.field.as_deref().is_some_and(|field| FIELDS.contains(&field));
        (!has_place).then(|| with_hint(&error))
    }
}

/// The fields that say themselves what is wrong with them.
const FIELDS: [&str; 6] = ["prompt", "title", "folder", "agent", "command_line", "env"];

/// The dialog in which a task is written. What was typed stays when it closes.
#[component]
pub fn TaskDialog() -> impl IntoView {
    let Shared { draft, is_writing, folders, .. } = shared();
    let form = Form { draft, is_sending: RwSignal::new(false), error: RwSignal::new(None) };
    Effect::new(move |_| {
        if !is_writing.get() {
            form.error.set(None);
        }
    });
    Effect::new(move |_| {
        if is_writing.get() && draft.folder.with_untracked(String::is_empty) {
            let newest = folders.with_untracked(|folders| folders.first().cloned());
            draft.folder.set(newest.unwrap_or_default());
        }
    });
    let contents = ViewFn::from(move || view! { <TaskForm form /> });
    view! { <Modal is_open=is_writing title_id="task-dialog-title" contents /> }
}

#[component]
fn TaskForm(form: Form) -> impl IntoView {
    let is_writing = shared().is_writing;
    let submit = submission(form);
    let on_submit = {
        let submit = submit.clone();
        move |event: ev::SubmitEvent| {
            event.prevent_default();
            submit();
        }
    };
    let on_keydown = move |event: ev::KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            submit();
        }
    };
    view! {
        <form on:submit=on_submit on:keydown=on_keydown novalidate=true>
            <header class="dialog__head">
                <h2 id="task-dialog-title">"New task"</h2>
                <button
                    class="button"
                    type="button"
                    data-variant="quiet"
                    data-icon=""
                    aria-label="Close"
                    on:click=move |_| is_writing.set(false)
                >
                    {icon(Icon::Close)}
                </button>
            </header>
            <Fields form />
            <Foot form is_writing />
        </form>
    }
}

/// Sends the form, unless it is under way; then shows the task.
fn submission(form: Form) -> impl Fn() + Clone + 'static {
    let shared = shared();
    let navigate = use_navigate();
    move || {
        if form.is_sending.get_untracked() {
            return;
        }
        form.is_sending.set(true);
        form.error.set(None);
        let (shared, navigate) = (shared.clone(), navigate.clone());
        let task =
            shared.agents.profiles.with_untracked(|profiles| form.draft.to_new_task(profiles));
        spawn_local(async move {
            let answer = create_task(task).await;
            form.is_sending.set(false);
            match answer {
                Ok(created) => {
                    shared.is_writing.set(false);
                    form.draft.clear();
                    let path = format!("/tasks/{}", created.id);
                    navigate(&path, leptos_router::NavigateOptions::default());
                }
                Err(FormError(error)) => {
                    if let Some(field) = &error.field {
                        browser::focus(&field_id(field));
                    }
                    form.error.set(Some(error));
                }
            }
        });
    }
}

fn field_id(name: &str) -> String {
    format!("new-task-{name}")
}

#[component]
fn Fields(form: Form) -> impl IntoView {
    let folders = shared().folders;
    let draft = form.draft;
    let options = part(move || {
        folders
            .get()
            .into_iter()
            .map(|folder| view! { <option value=folder></option> })
            .collect_view()
    });
    view! {
        <div class="dialog__body">
            <div class="field">
                <label class="field__label" for="new-task-prompt">
                    "Prompt"
                </label>
                <textarea
                    class="input"
                    id="new-task-prompt"
                    rows="5"
                    autofocus=true
                    placeholder="What is to be done?"
                    aria-invalid=move || form.problem("prompt").map(|_| "true")
                    aria-describedby=move || form.described_by("prompt", false)
                    prop:value=move || draft.prompt.get()
                    on:input=move |event| {
                        form.forget_problem("prompt");
                        draft.prompt.set(event_target_value(&event));
                    }
                ></textarea>
                <FieldProblem form name="prompt" />
            </div>
            <TextField form name="title" label="Title, if it should have its own" value=draft.title />
            <TextField
                form
                name="folder"
                label="Folder"
                value=draft.folder
                placeholder="/home/me/project"
                list="new-task-folders"
                hint="The agent works in this folder and changes it."
            />
            <datalist id="new-task-folders">{options}</datalist>
            <Agents form />
            <Problem text=Signal::derive(move || form.general_problem()) />
        </div>
    }
}

#[component]
fn TextField(
    form: Form,
    name: &'static str,
    label: &'static str,
    value: RwSignal<String>,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] list: Option<&'static str>,
    #[prop(optional)] hint: Option<&'static str>,
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
                placeholder=placeholder
                list=list
                aria-invalid=move || form.problem(name).map(|_| "true")
                aria-describedby=move || form.described_by(name, hint.is_some())
                prop:value=move || value.get()
                on:input=move |event| {
                    form.forget_problem(name);
                    value.set(event_target_value(&event));
                }
            />
            <FieldProblem form name />
            {hint.map(|hint| view! { <span class="field__hint" id=format!("{id}-hint")>{hint}</span> })}
        </div>
    }
}

#[component]
fn FieldProblem(form: Form, name: &'static str) -> impl IntoView {
    let id = format!("{}-problem", field_id(name));
    view! { <Problem text=Signal::derive(move || form.problem(name)) id /> }
}

#[component]
fn Agents(form: Form) -> impl IntoView {
    let Shared { agents, is_writing, .. } = shared();
    let profiles = Memo::new(move |_| agents.profiles.get());
    let chosen = Memo::new(move |_| profiles.with(|profiles| form.draft.chosen(profiles)));
    view! {
        <fieldset class="field" id="new-task-agent" tabindex="-1">
            <legend class="field__label">"Agent"</legend>
            <div class="choices">
                <For each=move || profiles.get() key=|profile| profile.id let(profile)>
                    <AgentChoice form chosen profile />
                </For>
                <label class="choice">
                    <input
                        type="radio"
                        name="agent"
                        value="custom"
                        prop:checked=move || chosen.get() == Choice::Custom
                        on:change=move |_| form.draft.choice.set(Some(Choice::Custom))
                    />
                    <span>"Custom ACP command"</span>
                    <span class="choice__note">"Any program that speaks the Agent Client Protocol"</span>
                </label>
            </div>
            <FieldProblem form name="agent" />
            <span class="field__hint">
                <A href="/agents" on:click=move |_| is_writing.set(false)>
                    "Find, install and set up agents"
                </A>
            </span>
        </fieldset>
        {part(move || (chosen.get() == Choice::Custom).then(|| view! { <CustomFields form /> }))}
    }
}

#[component]
fn AgentChoice(form: Form, chosen: Memo<Choice>, profile: ProfileView) -> impl IntoView {
    let choice = Choice::Profile(profile.id);
    view! {
        <label class="choice">
            <input
                type="radio"
                name="agent"
                value=profile.id.to_string()
                prop:checked=move || chosen.get() == choice
                on:change=move |_| form.draft.choice.set(Some(choice))
            />
            <span>{profile.name}</span>
            <span class="tag">{icon(Icon::Chat)} "Chat \u{b7} ACP"</span>
            <code class="choice__note">{profile.command_line}</code>
        </label>
    }
}

#[component]
fn CustomFields(form: Form) -> impl IntoView {
    let draft = form.draft;
    let id = field_id("env");
    view! {
        <TextField
            form
            name="command_line"
            label="Command"
            value=draft.command_line
            placeholder="my-agent --acp"
            hint="Program and arguments, quoted as in a shell."
        />
        <TextField form name="custom_name" label="Name, if not the program's" value=draft.custom_name />
        <div class="field">
            <label class="field__label" for=id.clone()>
                "Environment"
            </label>
            <textarea
                class="input mono"
                id=id.clone()
                rows="2"
                spellcheck="false"
                placeholder="NAME=value"
                aria-invalid=move || form.problem("env").map(|_| "true")
                aria-describedby=move || form.described_by("env", true)
                prop:value=move || draft.env.get()
                on:input=move |event| {
                    form.forget_problem("env");
                    draft.env.set(event_target_value(&event));
                }
            ></textarea>
            <FieldProblem form name="env" />
            <span class="field__hint" id=format!("{id}-hint")>
                "One variable on each line. It is stored, and never shown again."
            </span>
        </div>
    }
}

#[component]
fn Foot(form: Form, is_writing: RwSignal<bool>) -> impl IntoView {
    let draft = form.draft;
    let words = part(move || match (form.is_sending.get(), draft.start.get()) {
        (true, _) => "Creating\u{2026}",
        (false, true) => "Create and start",
        (false, false) => "Create",
    });
    view! {
        <footer class="dialog__foot">
            <label class="combo">
                <input
                    class="switch"
                    type="checkbox"
                    role="switch"
                    prop:checked=move || draft.start.get()
                    on:change=move |event| draft.start.set(event_target_checked(&event))
                />
                <span>"Start the agent now"</span>
            </label>
            <span class="button-row">
                <button
                    class="button"
                    type="button"
                    data-variant="quiet"
                    on:click=move |_| is_writing.set(false)
                >
                    "Cancel"
                </button>
                <button
                    class="button"
                    type="submit"
                    data-variant="primary"
                    disabled=move || form.is_sending.get()
                >
                    {words}
                </button>
            </span>
        </footer>
    }
}
