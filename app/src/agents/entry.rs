//! One agent: how it stands, and what can be done about it.

use leptos::prelude::*;
use model::{AgentView, AgentsView, InstallView, JobState, ProfileDraft, Standing, wire::Request};

use super::profile::Writing;
use crate::{
    browser,
    context::Act,
    controls::{CopyButton, Problem},
    dynamic::part,
    icon::{Icon, icon},
    state::agents::{is_installing, standing_words},
};

/// One agent of the catalogue.
#[component]
pub fn Entry(
    agents: ArcRwSignal<Option<AgentsView>>,
    agent_key: String,
    writing: Writing,
) -> impl IntoView {
    let agent = Memo::new(move |_| {
        agents
            .with(|view| view.as_ref()?.agents.iter().find(|agent| agent.key == agent_key).cloned())
    });
    // Apart from the rest, so that a line of it takes no focus away.
    let log = Memo::new(move |_| {
        agent.with(|agent| agent.as_ref()?.job.as_ref().map(|job| job.log.join("\n")))
    });
    let standing = Memo::new(move |_| {
        let mut agent = agent.get()?;
        agent.job.iter_mut().for_each(|job| job.log.clear());
        Some(agent)
    });
    let act = Act::new();
    part(move || {
        let agent = standing.get()?;
        let (state, words) = standing_words(&agent);
        let button = main_button(&agent, act, writing);
        let version = agent.version.clone();
        let kinds = agent.terminal.is_some().then(|| view! { <span class="tag">"CLI"</span> });
        Some(view! {
            <article class="agent" aria-label=agent.name.clone()>
                <h3 class="agent__name">
                    {agent.name.clone()}
                    " "
                    {version.map(|version| view! { <span class="mono">{version}</span> })}
                </h3>
                <p>
                    <span class="tag">"ACP"</span>
                    {kinds}
                    <code>{agent.acp.clone()}</code>
                </p>
                <div class="button-row">
                    <span class="signal" data-state=state.name()>
                        {icon(state.icon())}
                        {words}
                    </span>
                    {button}
                </div>
                <div class="agent__wide">
                    {details(&agent)}
                    {job_log(&agent, log)}
                    <Problem text=act.error />
                </div>
            </article>
        })
    })
}

/// The one thing to do with an agent as it stands.
fn main_button(agent: &AgentView, act: Act, writing: Writing) -> Option<AnyView> {
    let key = agent.key.clone();
    if is_installing(agent) {
        let cancel = Request::AgentInstallCancel { key };
        return Some(job_button(&agent.key, act, Icon::Stop, "Cancel", cancel));
    }
    match (&agent.standing, &agent.install) {
        (Standing::Ready | Standing::Fetched, _) => {
            let draft = ProfileDraft {
                name: agent.name.clone(),
                agent: agent.agent,
                command_line: agent.acp.clone(),
                ..ProfileDraft::default()
            };
            let label = format!("New profile of {}", agent.name);
            Some(
                view! {
                    <button
                        class="button"
                        type="button"
                        data-variant="quiet"
                        aria-label=label
                        on:click=move |_| writing.begin(None, false, draft.clone())
                    >
                        {icon(Icon::Plus)}
                        "Profile"
                    </button>
                }
                .into_any(),
            )
        }
        (Standing::Missing | Standing::Unknown, InstallView::Run(_)) => {
            let install = Request::AgentInstall { key };
            Some(job_button(&agent.key, act, Icon::Down, "Install", install))
        }
        _ => None,
    }
}

/// Begins or ends an installation; the focus goes to the one that takes its place.
fn job_button(key: &str, act: Act, mark: Icon, words: &'static str, request: Request) -> AnyView {
    let id = format!("agent-{key}");
    let place = id.clone();
    let press = move |_| {
        let place = place.clone();
        act.send_then(request.clone(), move || {
            request_animation_frame(move || browser::focus(&place));
        });
    };
    view! {
        <button
            class="button"
            type="button"
            id=id
            disabled=move || act.is_pending.get()
            on:click=press
        >
            {icon(mark)}
            {words}
        </button>
    }
    .into_any()
}

/// What there is to know and to run.
fn details(agent: &AgentView) -> AnyView {
    let reason = match &agent.standing {
        Standing::Broken { reason } => Some(reason.clone()),
        _ => agent.warning.clone(),
    };
    let is_here = matches!(agent.standing, Standing::Ready | Standing::Fetched);
    let fetched = (agent.standing == Standing::Fetched)
        .then(|| view! { <p class="muted">"It is downloaded at its first start."</p> });
    let login = agent.login.clone().filter(|_| is_here).map(|login| {
        view! {
            <details class="fold">
                <summary>{icon(Icon::Chevron)} "If it asks for a login"</summary>
                <div class="fold__body">
                    {command(
                        "Run this once, in a terminal on this machine:",
                        login,
                        "Copy the login command",
                    )}
                </div>
            </details>
        }
    });
    let install = match &agent.install {
        _ if is_here => None,
        InstallView::Run(line) => {
            Some(command("Installs it:", line.clone(), "Copy the install command"))
        }
        InstallView::ByHand(address) => Some(by_hand(address.clone())),
    };
    view! {
        {reason.map(|reason| view! { <p class="plain">{reason}</p> })}
        {fetched}
        {login}
        {install}
    }
    .into_any()
}

/// What an installation prints, until it has ended well.
fn job_log(agent: &AgentView, log: Memo<Option<String>>) -> Option<AnyView> {
    agent.job.as_ref().filter(|job| job.state != JobState::Succeeded)?;
    let label = format!("Installation of {}", agent.name);
    let text = part(move || log.get());
    Some(
        view! {
            <pre class="log" role="log" aria-label=label tabindex="0">
                {text}
            </pre>
        }
        .into_any(),
    )
}

fn command(words: &'static str, line: String, label: &'static str) -> AnyView {
    let text = line.clone();
    view! {
        <p class="muted">{words}</p>
        <p class="command">
            <code>{line}</code>
            <CopyButton label text=move |()| text.clone() />
        </p>
    }
    .into_any()
}

fn by_hand(address: String) -> AnyView {
    let href = address.clone();
    view! {
        <p class="muted">
            "Its maker says how it is installed: "
            <a href=href target="_blank" rel="noopener noreferrer">
                {address}
            </a>
        </p>
    }
    .into_any()
}
