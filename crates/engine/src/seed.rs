//! What a new store holds: a workspace, the default workflow, the agents that come with Kandev.

use model::{AgentProfile, ProfileId, Step, StepId, Workflow, WorkflowId, Workspace, WorkspaceId};
use store::{Op, Store, StoreError};

use crate::clock;

const STEPS: [&str; 4] = ["Backlog", "In Progress", "Review", "Done"];

/// Adds what is missing; a built-in agent follows the version that Kandev knows.
pub(crate) async fn seed(store: &Store) -> Result<(), StoreError> {
    let (has_workspace, profiles) =
        store.read(|reader| Ok((!reader.workspaces()?.is_empty(), reader.profiles()?)))?;
    let mut ops = if has_workspace { Vec::new() } else { workspace() };
    let brought = built_in_profiles().map(|profile| as_chosen(profile, &profiles));
    ops.extend(brought.filter(|profile| !profiles.contains(profile)).map(Op::PutProfile));
    if ops.is_empty() {
        return Ok(());
    }
    store.commit(ops).await
}

fn workspace() -> Vec<Op> {
    let workspace = Workspace { id: WorkspaceId::new(clock::new_id()), name: "Home".into() };
    let workflow = Workflow {
        id: WorkflowId::new(clock::new_id()),
        workspace_id: workspace.id,
        name: "Delivery".into(),
        steps: STEPS
            .iter()
            .map(|name| Step { id: StepId::new(clock::new_id()), name: (*name).into() })
            .collect(),
    };
    vec![Op::PutWorkspace(workspace), Op::PutWorkflow(workflow)]
}

/// With what a person has chosen in the one that is there.
fn as_chosen(brought: AgentProfile, known: &[AgentProfile]) -> AgentProfile {
    match known.iter().find(|known| known.id == brought.id) {
        None => brought,
        Some(AgentProfile { sealed_env, mode, model, .. }) => AgentProfile {
            sealed_env: sealed_env.clone(),
            mode: mode.clone(),
            model: model.clone(),
            ..brought
        },
    }
}

fn built_in_profiles() -> impl Iterator<Item = AgentProfile> {
    agents::CATALOGUE.iter().filter(|entry| entry.built_in).map(|entry| AgentProfile {
        id: built_in_id(entry.key),
        name: entry.name.to_owned(),
        agent: entry.agent,
        command: entry.command(),
        sealed_env: Vec::new(),
        mode: None,
        model: None,
        cli_passthrough: false,
        passthrough: entry.passthrough(),
        built_in: true,
    })
}

/// The same in every store, so that a later version finds its own.
fn built_in_id(key: &str) -> ProfileId {
    let mut bytes = [0; 16];
    for (to, from) in bytes.iter_mut().zip(key.bytes()) {
        *to = from;
    }
    ProfileId::from_bytes(bytes)
}
