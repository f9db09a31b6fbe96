//! What the agent offers, and what is chosen of it (K-042, K-043).

use std::sync::Arc;

use model::{AgentOption, ApiError, ErrorCode, Offers, OptionKind};

use super::{AgentPhase, Machine};

/// A choice that the agent is to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) agent_session: String,
    pub(crate) kind: OptionKind,
    pub(crate) id: String,
    pub(crate) value: String,
}

impl Machine {
    pub(crate) const fn offers(&self) -> &Arc<Offers> {
        &self.offers
    }

    pub(super) fn change_offers(&mut self, change: impl FnOnce(&mut Offers)) {
        let before = Arc::clone(&self.offers);
        change(Arc::make_mut(&mut self.offers));
        self.offers_changed |= self.offers != before;
    }

    /// What can be chosen in a session that was just opened.
    pub(crate) fn opened_with(&mut self, options: Vec<AgentOption>) {
        self.change_offers(|offers| offers.options = options);
    }

    /// Configuration options as they are now; what an agent sets by other means stays.
    pub(super) fn configured(&mut self, options: Vec<AgentOption>) {
        self.change_offers(|offers| {
            offers.options.retain(|option| option.kind != OptionKind::Config);
            offers.options.splice(0..0, options);
        });
    }

    /// The request that a person's choice makes.
    pub(crate) fn choose(
        &self,
        kind: OptionKind,
        id: &str,
        value: &str,
    ) -> Result<Chosen, ApiError> {
        let AgentPhase::Ready { agent_session } = &self.agent else {
            return Err(ApiError::new(ErrorCode::Conflict, "The agent does not run.")
                .with_hint("Send a message: that starts it."));
        };
        let option = self.offers.option(kind, id);
        let is_offered =
            option.is_some_and(|option| option.choices.iter().any(|choice| choice.value == value));
        if !is_offered {
            return Err(ApiError::new(
                ErrorCode::ValidationError,
                "The agent does not offer this.",
            ));
        }
        let agent_session = agent_session.clone();
        Ok(Chosen { agent_session, kind, id: id.to_owned(), value: value.to_owned() })
    }

    /// The agent has taken a choice, and may have said how its options are now.
    pub(crate) fn chosen(&mut self, chosen: &Chosen, options: Vec<AgentOption>) {
        if options.is_empty() {
            self.set_choice(chosen.kind, &chosen.id, &chosen.value);
        } else {
            self.configured(options);
        }
    }

    pub(super) fn set_choice(&mut self, kind: OptionKind, id: &str, value: &str) {
        self.change_offers(|offers| {
            let mut options = offers.options.iter_mut();
            if let Some(option) = options.find(|option| option.kind == kind && option.id == id) {
                value.clone_into(&mut option.value);
            }
        });
    }
}
