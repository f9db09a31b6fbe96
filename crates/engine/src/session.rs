//! Sessions at work. Each has one task, the [`driver`], which owns the agent's process and the
//! session's writes. What it does is decided by two pure parts: the [`machine`] (turns, the agent's
//! life) and the [`transcript`] (messages, as the agent's updates change them).

mod changes;
mod driver;
mod known;
pub(crate) mod launch;
pub(crate) mod machine;
mod recall;
pub(crate) mod transcript;
pub(crate) mod words;

use std::{collections::HashMap, time::Duration};

use model::{
    ApiError, Author, ErrorCode, MessageId, MessageKind, OptionKind, QueuedPrompt, SessionId,
    TaskId,
};
use store::{Reader, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::{Engine, history, lock, not_found};

/// Commands that may wait for one session.
const COMMANDS: usize = 32;

/// Between two looks at what streams, and between two changes of one call that are stored and told.
/// The end of a call does not wait, nor does what is left when its session's task ends; with both,
/// no second has more than ten changes of one call (S-027).
pub(crate) const FLUSH_INTERVAL: Duration = Duration::from_millis(130);

/// The longest prompt, in bytes.
const PROMPT_BYTES: usize = 512 * 1024;

/// Reaches a session's task.
#[derive(Clone)]
pub(crate) struct SessionHandle {
    tx: mpsc::Sender<Command>,
}

/// A task that panicked leaves a handle behind that reaches nothing.
fn live_handle(
    sessions: &HashMap<SessionId, SessionHandle>,
    session_id: SessionId,
) -> Option<SessionHandle> {
    sessions.get(&session_id).filter(|handle| !handle.tx.is_closed()).cloned()
}

type Reply<T> = oneshot::Sender<Result<T, ApiError>>;

/// What a person asks of a session.
enum Command {
    Prompt {
        content: String,
        client_message_id: Option<String>,
        reply: Reply<MessageId>,
    },
    /// The same, but only if no turn is under way.
    StartOver {
        content: String,
        reply: Reply<MessageId>,
    },
    /// Choose what the agent offers.
    Choose {
        kind: OptionKind,
        id: String,
        value: String,
        reply: Reply<()>,
    },
    Unqueue {
        id: MessageId,
        reply: Reply<QueuedPrompt>,
    },
    SendQueued {
        id: MessageId,
        reply: Reply<MessageId>,
    },
    Cancel {
        reply: Reply<()>,
    },
    Answer {
        message_id: MessageId,
        option_id: String,
        reply: Reply<()>,
    },
    /// End a command that outlived its cancel.
    EndProcess {
        message_id: MessageId,
        reply: Reply<()>,
    },
    /// End the agent and the task.
    End {
        reply: Reply<()>,
    },
}

impl Engine {
    /// Prompts a session's agent, which is started if it does not run; while a turn is under way the
    /// prompt waits behind it (K-045). Returns when the prompt is stored; the same
    /// `client_message_id` twice is one prompt.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, `VALIDATION_ERROR`, or `CONFLICT` when too many wait already.
    pub async fn prompt(
        &self,
        task_id: TaskId,
        session_id: SessionId,
        content: String,
        client_message_id: Option<String>,
    ) -> Result<MessageId, ApiError> {
        if content.trim().is_empty() {
            return Err(
                ApiError::new(ErrorCode::ValidationError, "Type a message first.").about("content")
            );
        }
        check_prompt_size(&content).map_err(|err| err.about("content"))?;
        let session = self.read(move |reader| reader.session(session_id)).await?;
        if session.is_none_or(|session| session.task_id != task_id) {
            return Err(not_found("session"));
        }
        let prompt = content.clone();
        let asked =
            self.ask(session_id, |reply| Command::Prompt { content, client_message_id, reply });
        let message_id = asked.await?;
        self.draft_was_sent(session_id, &prompt).await;
        Ok(message_id)
    }

    /// Gives a session its last prompt again, or its first if it has had none.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, or `CONFLICT` while a turn is under way.
    pub async fn start_session(&self, session_id: SessionId) -> Result<MessageId, ApiError> {
        let content = self
            .read(move |reader| {
                let Some(session) = reader.session(session_id)? else { return Ok(None) };
                let Some(task) = reader.task(session.task_id)? else { return Ok(None) };
                let last = last_prompt(reader, session_id)?;
                Ok(Some(last.unwrap_or(task.description)))
            })
            .await?
            .ok_or_else(|| not_found("session"))?;
        self.ask(session_id, |reply| Command::StartOver { content, reply }).await
    }

    /// Chooses a value of an option that the agent offers, and waits until the agent has taken it.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND`, `VALIDATION_ERROR` for what it does not offer, `CONFLICT` when it does not run or
    /// refuses.
    pub async fn choose(
        &self,
        session_id: SessionId,
        kind: OptionKind,
        id: String,
        value: String,
    ) -> Result<(), ApiError> {
        self.ask(session_id, |reply| Command::Choose { kind, id, value, reply }).await
    }

    /// Takes a prompt that waits out of the queue, and gives it back whole.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for one that no longer waits.
    pub async fn unqueue(
        &self,
        session_id: SessionId,
        id: MessageId,
    ) -> Result<QueuedPrompt, ApiError> {
        self.ask(session_id, |reply| Command::Unqueue { id, reply }).await
    }

    /// Sends a prompt that waits, now.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for one that no longer waits, `CONFLICT` while a turn is under way.
    pub async fn send_queued(
        &self,
        session_id: SessionId,
        id: MessageId,
    ) -> Result<MessageId, ApiError> {
        self.ask(session_id, |reply| Command::SendQueued { id, reply }).await
    }

    /// Stops the turn that is under way. Without one it is no error: it has just ended.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a session that is not there.
    pub async fn cancel(&self, session_id: SessionId) -> Result<(), ApiError> {
        self.ask(session_id, |reply| Command::Cancel { reply }).await
    }

    /// Answers a permission request.
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a request that is not open, `VALIDATION_ERROR` for an option it has not.
    pub async fn answer_permission(
        &self,
        session_id: SessionId,
        message_id: MessageId,
        option_id: String,
    ) -> Result<(), ApiError> {
        self.ask(session_id, |reply| Command::Answer { message_id, option_id, reply }).await
    }

    /// Ends the process of a command that outlived its cancel, and waits for that (S-025).
    ///
    /// # Errors
    ///
    /// `NOT_FOUND` for a session that is not there, and for a command that does not run.
    pub async fn end_command(
        &self,
        session_id: SessionId,
        message_id: MessageId,
    ) -> Result<(), ApiError> {
        self.ask(session_id, |reply| Command::EndProcess { message_id, reply }).await
    }

    /// Ends a session's agent and waits for it.
    pub(crate) async fn end_session(&self, session_id: SessionId) {
        let handle = lock(&self.shared.sessions).get(&session_id).cloned();
        let Some(handle) = handle else { return };
        let (reply, ended) = oneshot::channel();
        if handle.tx.send(Command::End { reply }).await.is_ok() {
            // An error means that the task is gone, which is what was asked for.
            let _ = ended.await;
        }
    }

    async fn ask<T>(
        &self,
        session_id: SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, ApiError> {
        let gone = || ApiError::new(ErrorCode::Conflict, "The session is being ended.");
        let (reply, answer) = oneshot::channel();
        let mut command = command(reply);
        // A task without work ends; it may do so between the look-up and the send.
        for _ in 0..3 {
            let handle = self.session_handle(session_id).await?;
            match handle.tx.send(command).await {
                Ok(()) => return answer.await.map_err(|_| gone())?,
                Err(mpsc::error::SendError(unsent)) => command = unsent,
            }
        }
        Err(gone())
    }

    /// The session's task, started if it does not run.
    async fn session_handle(&self, session_id: SessionId) -> Result<SessionHandle, ApiError> {
        if let Some(handle) = live_handle(&lock(&self.shared.sessions), session_id) {
            return Ok(handle);
        }
        if self.shared.stopping.is_cancelled() {
            return Err(ApiError::new(ErrorCode::Conflict, "Kandev is shutting down."));
        }
        let seed = driver::Seed::read(self, session_id).await?;
        let mut sessions = lock(&self.shared.sessions);
        if let Some(handle) = live_handle(&sessions, session_id) {
            return Ok(handle);
        }
        let (tx, rx) = mpsc::channel(COMMANDS);
        let handle = SessionHandle { tx };
        sessions.insert(session_id, handle.clone());
        self.shared.tasks.spawn(driver::run(self.clone(), seed, rx));
        Ok(handle)
    }
}

/// Refuses a prompt that is better kept in a file.
pub(crate) fn check_prompt_size(content: &str) -> Result<(), ApiError> {
    if content.len() <= PROMPT_BYTES {
        return Ok(());
    }
    Err(ApiError::new(ErrorCode::ValidationError, "The message is over 512 KiB.")
        .with_hint("Put the text in a file and name the file."))
}

fn last_prompt(reader: &Reader, session_id: SessionId) -> Result<Option<String>, StoreError> {
    for page in history::newest_first(reader, session_id) {
        let prompt = page?.into_iter().rfind(|message| {
            message.author == Author::User && message.kind == MessageKind::Message
        });
        if prompt.is_some() {
            return Ok(prompt.map(|message| message.content));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handle_of_a_task_that_is_gone_is_not_handed_out() {
        let id = SessionId::from_bytes([1; 16]);
        let (tx, rx) = mpsc::channel(1);
        let sessions = HashMap::from([(id, SessionHandle { tx })]);
        assert!(live_handle(&sessions, id).is_some());
        drop(rx);
        assert!(live_handle(&sessions, id).is_none());
    }
}
