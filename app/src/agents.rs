//! The page of agents: which are here, what the others lack, and how each is started.

mod entry;
mod profile;

use leptos::{prelude::*, task::spawn_local};
use model::{AgentsView, wire::Request};

use crate::{
    context::{Act, Shared, shared, use_title},
    controls::{Age, Problem, skeleton},
    dynamic::part,
    icon::{Icon, icon},
    live::AskError,
    root::Layout,
    state::agents::Group,
    topbar::WorkspaceBar,
};
use entry::Entry;
use profile::{ProfileDialog, Profiles, Writing};

/// The page.
#[component]
pub fn AgentsPage() -> impl IntoView {
    use_title(|| "Agents".to_owned());
    let writing = Writing::new();
    let scan = Scan::new();
    Effect::new(move |_| scan.begin());
    view! {
        <Layout bar=view! { <WorkspaceBar /> }.into_any()>
            <main class="page">
                <Head scan />
                <Groups writing />
                <Profiles writing />
            </main>
            <ProfileDialog writing />
        </Layout>
    }
}

/// Asks how agents stand.
#[derive(Clone, Copy)]
struct Scan {
    is_under_way: RwSignal<bool>,
    error: RwSignal<Option<String>>,
}

impl Scan {
    fn new() -> Self {
        Self { is_under_way: RwSignal::new(false), error: RwSignal::new(None) }
    }

    /// What is known already; looks for them, if nobody has yet.
    fn begin(self) {
        self.ask(Request::AgentsList {}, true);
    }

    /// Looks for all of them again.
    fn again(self) {
        self.ask(Request::AgentsScan {}, false);
    }

    fn ask(self, request: Request, looks_if_unknown: bool) {
        let Shared { live, agents, .. } = shared();
        if self.is_under_way.get_untracked() {
            return;
        }
        self.is_under_way.set(true);
        self.error.set(None);
        spawn_local(async move {
            let mut answer: Result<AgentsView, AskError> = live.ask(request).await;
            let is_unknown =
                matches!(&answer, Ok(view) if looks_if_unknown && view.scanned_at.is_none());
            if is_unknown {
                if let Ok(view) = answer {
                    agents.agents.set(Some(view));
                }
                answer = live.ask(Request::AgentsScan {}).await;
            }
            self.is_under_way.try_set(false);
            match answer {
                Ok(view) => agents.agents.set(Some(view)),
                Err(error) => drop(self.error.try_set(Some(error.to_string()))),
            }
        });
    }
}

#[component]
fn Head(scan: Scan) -> impl IntoView {
    let agents = shared().agents.agents;
    let scanned_at =
        Memo::new(move |_| agents.with(|view| view.as_ref().and_then(|view| view.scanned_at)));
    let looked = part(move || match (scan.is_under_way.get(), scanned_at.get()) {
        (true, _) => Some(view! { <span class="muted">"Looking\u{2026}"</span> }.into_any()),
        (false, Some(at)) => Some(
            view! {
                <span class="muted">"Looked on this machine " <Age at /></span>
            }
            .into_any(),
        ),
        (false, None) => None,
    });
    view! {
        <header class="page__head">
            <h1>"Agents"</h1>
            <span role="status">{looked}</span>
            <button
                class="button"
                type="button"
                disabled=move || scan.is_under_way.get()
                on:click=move |_| scan.again()
            >
                {icon(Icon::Retry)}
                "Look again"
            </button>
        </header>
        <Problem text=scan.error />
    }
}

#[component]
fn Groups(writing: Writing) -> impl IntoView {
    let agents = shared().agents.agents;
    let (known, list) = (agents.clone(), agents.clone());
    let is_known = Memo::new(move |_| known.with(Option::is_some));
    let keys = Memo::new(move |_| {
        list.with(|view| {
            let agents = view.iter().flat_map(|view| &view.agents);
            agents.map(|agent| (Group::of(&agent.standing), agent.key.clone())).collect::<Vec<_>>()
        })
    });
    let section = move |group: Group| {
        let agents = agents.clone();
        let is_empty =
            Memo::new(move |_| !keys.with(|keys| keys.iter().any(|(known, _)| *known == group)));
        let rows = move || {
            let of_group = |(known, key): &(Group, String)| (*known == group).then(|| key.clone());
            keys.with(|keys| keys.iter().filter_map(of_group).collect::<Vec<_>>())
        };
        let id = format!("agents-{}", group.heading().replace(' ', "-").to_lowercase());
        view! {
            <section class="agents" aria-labelledby=id.clone() hidden=move || is_empty.get()>
                <h2 id=id.clone()>{group.heading()}</h2>
                <div class="work">
                    <For
                        each=rows
                        key=|key| key.clone()
                        children=move |key| {
                            view! { <Entry agents=agents.clone() agent_key=key writing /> }
                        }
                    />
                </div>
            </section>
        }
    };
    let sections = Group::ALL.map(section);
    view! {
        {part(move || (!is_known.get()).then(skeleton))}
        {sections.collect_view()}
    }
}

/// A button that asks for one thing, and what went wrong with it.
fn act_button(act: Act, mark: Icon, words: &'static str, request: Request) -> AnyView {
    view! {
        <button
            class="button"
            type="button"
            disabled=move || act.is_pending.get()
            on:click=move |_| act.send(request.clone())
        >
            {icon(mark)}
            {words}
        </button>
    }
    .into_any()
}
