//! Requests for leave: shown, answered once, closed with their turn or their agent.

use acp::PermissionKey;
use model::{
    Author, MessageId, MessageKind, Metadata, PermissionAnswer, PermissionOption, PermissionRequest,
};
use shell_output::{ShellCall, ToolFrame};

use super::{
    LINE_BYTES, Stamp, Transcript,
    live::{TEXT_BYTES, bounded},
};

/// An answer that cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskError {
    NotOpen,
    NoSuchOption,
}

impl Transcript {
    /// The agent asks leave.
    pub(crate) fn ask(
        &mut self,
        at: Stamp,
        key: PermissionKey,
        tool: Option<&ToolFrame>,
        options: Vec<PermissionOption>,
    ) {
        if let Some(frame) = tool {
            self.tool(at, frame);
        }
        let (subject, is_command) = tool.map_or_else(Default::default, |frame| self.subject(frame));
        let permission = PermissionRequest { subject, is_command, options, answer: None };
        let metadata = Metadata {
            tool_call_id: tool.map(|frame| frame.call_id.clone()),
            permission: Some(permission),
            ..Metadata::default()
        };
        self.text = None;
        let kind = MessageKind::PermissionRequest;
        let seq = self.add(at, kind, Author::Agent, String::new(), metadata).message.seq;
        self.asks.push((key, seq));
    }

    /// Takes a person's answer; the key tells the agent which request it is.
    pub(crate) fn answer_ask(
        &mut self,
        at: Stamp,
        message_id: MessageId,
        option_id: &str,
    ) -> Result<PermissionKey, AskError> {
        let position = self
            .asks
            .iter()
            .position(|(_, seq)| {
                self.live.get(seq).is_some_and(|live| live.message.id == message_id)
            })
            .ok_or(AskError::NotOpen)?;
        let (key, seq) = self.asks[position].clone();
        let has_option = self
            .live
            .get(&seq)
            .and_then(|live| live.message.metadata.permission.as_ref())
            .is_some_and(|ask| ask.options.iter().any(|option| option.id == option_id));
        if !has_option {
            return Err(AskError::NoSuchOption);
        }
        self.asks.remove(position);
        self.answer(at, seq, PermissionAnswer::Selected { option_id: option_id.to_owned() });
        Ok(key)
    }

    /// Closes the requests that wait, with this answer; their keys.
    pub(crate) fn close_asks(
        &mut self,
        at: Stamp,
        answer: &PermissionAnswer,
    ) -> Vec<PermissionKey> {
        let asks = std::mem::take(&mut self.asks);
        asks.into_iter()
            .map(|(key, seq)| {
                self.answer(at, seq, answer.clone());
                key
            })
            .collect()
    }

    /// The oldest request that waits.
    pub(crate) fn first_ask(&self) -> Option<(MessageId, PermissionRequest)> {
        let (_, seq) = self.asks.first()?;
        let message = &self.live.get(seq)?.message;
        Some((message.id, message.metadata.permission.clone()?))
    }

    fn answer(&mut self, at: Stamp, seq: u64, answer: PermissionAnswer) {
        let Some(live) = self.live.get_mut(&seq) else { return };
        if let Some(ask) = &mut live.message.metadata.permission {
            ask.answer = Some(answer);
        }
        live.touch(at.now);
    }

    /// What a request is about: the command, never its description; else the title.
    fn subject(&self, frame: &ToolFrame) -> (String, bool) {
        let row = self.calls.get(&frame.call_id).and_then(|seq| self.live.get(seq));
        let command = match row {
            Some(live) => live.message.shell_exec().map(|exec| exec.command.clone()),
            None => {
                let mut call = ShellCall::new(self.dialect.clone());
                call.apply(frame).changed.then(|| call.exec().command)
            }
        };
        match command.filter(|command| !command.is_empty()) {
            Some(command) => (bounded(&command, TEXT_BYTES), true),
            None => {
                let title = row.map(|live| live.message.content.clone());
                let title = title.or_else(|| frame.title.clone()).unwrap_or_default();
                (bounded(&title, LINE_BYTES), false)
            }
        }
    }
}
