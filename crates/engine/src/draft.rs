//! What is written to an agent and not sent yet: kept for every page, through reloads and restarts.

use model::{ApiError, SessionId, wire::Notification};
use store::{Op, StoreError};

use crate::{Engine, internal, not_found, session::check_prompt_size};

impl Engine {
    /// Keeps what is written to a session's agent. The last write stands.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a session that is not there, `VALIDATION_ERROR` for a text that is longer than
    /// any prompt.
    pub async fn set_draft(&self, session_id: SessionId, text: String) -> Result<(), ApiError> {
        check_prompt_size(&text).map_err(|err| err.about("text"))?;
        let engine = self.clone();
        self.to_its_end(async move { engine.keep_draft(session_id, text).await }).await
    }

    /// A prompt was taken: what was written of it is no longer to be sent.
    pub(crate) async fn draft_was_sent(&self, session_id: SessionId, prompt: &str) {
        let known = self.read(move |reader| reader.draft(session_id)).await.unwrap_or_default();
        if !known.is_empty() && prompt.starts_with(known.trim_end()) {
            // The prompt is taken all the same; a draft that stays is seen and can be removed.
            let _ = self.keep_draft(session_id, String::new()).await;
        }
    }

    async fn keep_draft(&self, session_id: SessionId, text: String) -> Result<(), ApiError> {
        let _writing = self.shared.draft_writes.lock().await;
        let op = Op::PutDraft { session_id, text: text.clone() };
        match self.shared.store.commit(vec![op]).await {
            Ok(()) => {}
            Err(StoreError::Orphan { .. }) => return Err(not_found("session")),
            Err(err) => return Err(internal(&err)),
        }
        let change = |rev| Notification::DraftChanged { rev, session_id, text };
        self.shared.fanout.publish(change);
        Ok(())
    }
}
