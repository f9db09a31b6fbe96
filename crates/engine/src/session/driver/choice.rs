//! A person's choice of what the agent offers, on its way to the agent and back (K-042).

use std::{future::Future, pin::Pin, time::Duration};

use model::{AgentOption, ApiError, ErrorCode, OptionKind};

use super::Driver;
use crate::{
    safe_text::safe_text,
    session::{Reply, machine::Chosen},
};

/// What an agent has to take a choice.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What became of a choice.
pub(super) struct Taken {
    chosen: Chosen,
    result: Result<Vec<AgentOption>, ApiError>,
    reply: Reply<()>,
}

pub(super) type Choosing = Pin<Box<dyn Future<Output = Taken> + Send>>;

impl Driver {
    /// Asks the agent; one choice at a time.
    pub(super) fn choose(&mut self, kind: OptionKind, id: &str, value: &str, reply: Reply<()>) {
        let chosen = self.machine.choose(kind, id, value);
        let refused = match (chosen, self.agent.clone()) {
            (Ok(_), _) if self.choosing.is_some() => {
                ApiError::new(ErrorCode::Conflict, "The agent still takes the last choice.")
            }
            (Ok(chosen), Some(agent)) => {
                self.choosing = Some(Box::pin(async move {
                    let Chosen { agent_session, kind, id, value } = &chosen;
                    let answer = agent.set_option(agent_session, *kind, id, value);
                    let result = match tokio::time::timeout(TIMEOUT, answer).await {
                        Ok(Ok(options)) => Ok(options),
                        Ok(Err(err)) => Err(safe_text(&err.to_string())),
                        Err(_) => Err("it did not answer".into()),
                    };
                    let result = result.map_err(|why| {
                        ApiError::new(ErrorCode::Conflict, format!("The agent refused: {why}."))
                    });
                    Taken { chosen, result, reply }
                }));
                return;
            }
            (Ok(_), None) => ApiError::new(ErrorCode::Conflict, "The agent does not run."),
            (Err(err), _) => err,
        };
        // Whoever asked may have gone.
        let _ = reply.send(Err(refused));
    }

    pub(super) fn on_chosen(&mut self, taken: Taken) {
        self.choosing = None;
        let Taken { chosen, result, reply } = taken;
        let answer = result.map(|options| self.machine.chosen(&chosen, options));
        let _ = reply.send(answer);
    }
}
