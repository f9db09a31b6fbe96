//! `/ws`: requests and their answers, and notifications of what the connection follows.
//!
//! Nothing queues for a slow browser: while it does not read, the fan-out runs ahead, and then it is
//! told to start over.

use std::time::Duration;

use axum::{
    Extension,
    extract::{
        State,
        ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code},
    },
    response::Response,
};
use futures::{Sink, SinkExt as _};
use model::wire::{Frame, MAX_FRAME_BYTES};
use tokio::time::{Instant, timeout};

use super::connection::Conversation;
use crate::{AppState, auth::Caller};

/// What is read of a frame that is too large, in bytes. Only who has read the whole of it can say
/// so: closing a connection with something unread resets it, and the peer loses the close frame.
const MAX_READ_BYTES: usize = 4 * MAX_FRAME_BYTES;
/// Between two pings; a connection that answers none for two of them is over.
const PING: Duration = Duration::from_secs(20);
/// How long a browser may take to make room for a frame.
const SEND: Duration = Duration::from_secs(30);
/// How long a browser may take to hear that it is over.
const CLOSE: Duration = Duration::from_secs(2);
const TOO_LARGE: Next = Next::Close { code: close_code::SIZE, reason: "a frame is over 1 MiB" };

pub(super) async fn upgrade(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .max_message_size(MAX_READ_BYTES)
        .max_frame_size(MAX_READ_BYTES)
        .on_upgrade(move |socket| serve(state, caller, socket))
}

/// Why the loop goes on.
enum Wake {
    Incoming(Option<Result<Message, axum::Error>>),
    /// There is something to say; none when the engine has ended.
    Say(Option<Frame>),
    Ping,
    Closing,
    /// The browser was signed out.
    Revoked,
}

async fn serve(state: AppState, caller: Caller, socket: WebSocket) {
    let ended = Connection::new(&state, socket).run(&state, &caller).await;
    if let Ended::Said { socket, code, reason } = ended {
        let frame = CloseFrame { code, reason: reason.into() };
        // A peer that is gone cannot hear why.
        let _ = timeout(CLOSE, close(*socket, frame)).await;
    }
}

/// Says that it is over, and reads on until the peer says so too: see [`MAX_READ_BYTES`].
async fn close(mut socket: WebSocket, frame: CloseFrame) {
    if socket.send(Message::Close(Some(frame))).await.is_ok() {
        while let Some(Ok(_)) = socket.recv().await {}
    }
}

struct Connection {
    socket: WebSocket,
    conversation: Conversation,
    heard: Instant,
}

/// How a connection ended.
enum Ended {
    /// The peer went.
    Gone,
    /// We end it, and say why.
    Said { socket: Box<WebSocket>, code: u16, reason: &'static str },
}

/// What follows from one wake.
enum Next {
    Go,
    Gone,
    Close { code: u16, reason: &'static str },
}

impl Connection {
    fn new(state: &AppState, socket: WebSocket) -> Self {
        let conversation = Conversation::new(state.engine.clone());
        Self { socket, conversation, heard: Instant::now() }
    }

    async fn run(mut self, state: &AppState, caller: &Caller) -> Ended {
        let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
        loop {
            let has_room = self.conversation.has_room();
            let wake = tokio::select! {
                incoming = self.socket.recv(), if has_room => Wake::Incoming(incoming),
                frame = self.conversation.next() => Wake::Say(frame),
                _ = ping.tick() => Wake::Ping,
                () = state.closing.cancelled() => Wake::Closing,
                () = caller.revoked() => Wake::Revoked,
            };
            match self.on(wake).await {
                Next::Go => {}
                Next::Gone => return Ended::Gone,
                Next::Close { code, reason } => {
                    return Ended::Said { socket: Box::new(self.socket), code, reason };
                }
            }
        }
    }

    async fn on(&mut self, wake: Wake) -> Next {
        match wake {
            Wake::Incoming(None) => Next::Gone,
            Wake::Incoming(Some(Ok(message))) => {
                self.heard = Instant::now();
                self.on_message(message).await
            }
            Wake::Incoming(Some(Err(err))) => {
                tracing::debug!(%err, "web socket failed");
                Next::Close { code: close_code::SIZE, reason: "unreadable, or over 1 MiB" }
            }
            Wake::Say(Some(frame)) => self.send(&frame).await,
            Wake::Ping if self.heard.elapsed() > PING * 5 / 2 => Next::Gone,
            Wake::Ping => deliver(&mut self.socket, Message::Ping(Vec::new().into()), SEND).await,
            Wake::Revoked => Next::Close { code: close_code::POLICY, reason: "signed out" },
            Wake::Say(None) | Wake::Closing => {
                Next::Close { code: close_code::RESTART, reason: "the server ends" }
            }
        }
    }

    async fn on_message(&mut self, message: Message) -> Next {
        match message {
            Message::Text(text) if text.len() > MAX_FRAME_BYTES => TOO_LARGE,
            Message::Text(text) => match self.conversation.take_up(&text) {
                Ok(()) => Next::Go,
                Err(refusal) => self.send(&refusal).await,
            },
            Message::Binary(_) => {
                Next::Close { code: close_code::UNSUPPORTED, reason: "text frames only" }
            }
            Message::Ping(_) | Message::Pong(_) => Next::Go,
            Message::Close(_) => Next::Gone,
        }
    }

    async fn send(&mut self, frame: &Frame) -> Next {
        match serde_json::to_string(frame) {
            Ok(text) => deliver(&mut self.socket, Message::Text(text.into()), SEND).await,
            Err(err) => {
                tracing::error!(%err, "cannot write a frame");
                Next::Gone
            }
        }
    }
}

/// Sends a message. Whoever makes no room for it within the limit is gone: it would hold up
/// everything that this connection owns.
async fn deliver<S>(socket: &mut S, message: Message, limit: Duration) -> Next
where
    S: Sink<Message> + Unpin,
{
    match timeout(limit, socket.send(message)).await {
        Ok(Ok(())) => Next::Go,
        Ok(Err(_)) | Err(_) => Next::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::channel::mpsc;

    #[tokio::test]
    async fn a_browser_that_takes_nothing_is_gone() {
        let (mut socket, browser) = mpsc::channel(1);
        let mut send = async |text: &str| {
            let message = Message::Text(text.to_owned().into());
            let sent = deliver(&mut socket, message, Duration::from_millis(10));
            timeout(SEND, sent).await.expect("it gives up")
        };
        assert!(matches!(send("taken").await, Next::Go));
        assert!(matches!(send("in the way").await, Next::Gone));
        drop(browser);
    }
}
