//! Prompts that wait for the turn that is under way (K-045). They are sent one after the other as
//! turns complete; behind a turn that was stopped or failed they wait for the person.

use model::{ApiError, ErrorCode, MAX_QUEUED, MessageId, QueuedPrompt};

use super::{Machine, Stamp};

impl Machine {
    /// Puts a prompt behind the turn that is under way. The same sender's id twice is one prompt.
    pub(super) fn queue(
        &mut self,
        at: Stamp,
        content: String,
        client_message_id: Option<String>,
    ) -> Result<MessageId, ApiError> {
        let is_same = |queued: &&QueuedPrompt| {
            client_message_id.is_some() && queued.client_message_id == client_message_id
        };
        if let Some(known) = self.session.queue.iter().find(is_same) {
            return Ok(known.id);
        }
        if self.session.queue.len() >= MAX_QUEUED {
            let message = format!("{MAX_QUEUED} messages wait already.");
            return Err(ApiError::new(ErrorCode::Conflict, message)
                .with_hint("Remove one, or wait until one was sent."));
        }
        let id = MessageId::new((at.new_id)());
        self.session.queue.push(QueuedPrompt { id, content, client_message_id });
        self.queue_changed(at);
        Ok(id)
    }

    /// Sends what waits first, if the turn before it was completed.
    pub(crate) fn go_on(&mut self, at: Stamp) {
        let goes_on = std::mem::take(&mut self.goes_on);
        if goes_on && self.active.is_none() && !self.session.queue.is_empty() {
            let next = self.session.queue.remove(0);
            // Nothing is under way, so it is not refused.
            let _ = self.prompt(at, next.content, next.client_message_id);
        }
    }

    /// Takes a prompt out of the queue.
    pub(crate) fn unqueue(&mut self, at: Stamp, id: MessageId) -> Result<QueuedPrompt, ApiError> {
        let place = self.session.queue.iter().position(|queued| queued.id == id);
        let gone = || ApiError::new(ErrorCode::NotFound, "This message no longer waits.");
        let queued = self.session.queue.remove(place.ok_or_else(gone)?);
        self.queue_changed(at);
        Ok(queued)
    }

    /// Sends a prompt of the queue now.
    pub(crate) fn send_queued(&mut self, at: Stamp, id: MessageId) -> Result<MessageId, ApiError> {
        if self.active.is_some() {
            return Err(super::still_working());
        }
        let queued = self.unqueue(at, id)?;
        self.prompt(at, queued.content, queued.client_message_id)
    }

    fn queue_changed(&mut self, at: Stamp) {
        self.session.updated_at = at.now;
        self.session_changed = true;
    }
}
