//! `/ws`: requests and their answers, and notifications of what the connection follows.
//!
//! Nothing queues for a slow browser: while it does not read, the fan-out runs ahead, and then it is
//! told to start over.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        State,
        ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code},
    },
    response::Response,
};
use engine::Engine;
use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use model::wire::{Frame, MAX_FRAME_BYTES, Notification};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::Instant,
};

use super::connection::{self, Following};
use crate::{AppState, auth::Caller};

/// Requests of one connection that are worked on at once.
const MAX_PENDING: usize = 32;
/// Between two pings; a connection that answers none for two of them is over.
const PING: Duration = Duration::from_secs(20);

pub(super) async fn upgrade(
    State(state): State<AppState>,
    Extension(caller): Extension<Caller>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .max_message_size(MAX_FRAME_BYTES)
        .max_frame_size(MAX_FRAME_BYTES)
        .on_upgrade(move |socket| serve(state, caller, socket))
}

/// Why the loop goes on.
enum Wake {
    Incoming(Option<Result<Message, axum::Error>>),
    Told(Result<Arc<Notification>, RecvError>),
    Answered(Frame),
    Ping,
    Closing,
    /// The browser was signed out.
    Revoked,
}

async fn serve(state: AppState, caller: Caller, socket: WebSocket) {
    let ended = Connection::new(&state, socket).run(&state, &caller).await;
    if let Ended::Said { mut socket, code, reason } = ended {
        let frame = CloseFrame { code, reason: reason.into() };
        // A peer that is gone cannot hear why.
        let _ = socket.send(Message::Close(Some(frame))).await;
    }
}

struct Connection {
    engine: Engine,
    socket: WebSocket,
    told: broadcast::Receiver<Arc<Notification>>,
    following: Following,
    pending: FuturesUnordered<BoxFuture<'static, Frame>>,
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
        Self {
            engine: state.engine.clone(),
            socket,
            told: state.engine.subscribe(),
            following: Following::default(),
            pending: FuturesUnordered::new(),
            heard: Instant::now(),
        }
    }

    async fn run(mut self, state: &AppState, caller: &Caller) -> Ended {
        let mut ping = tokio::time::interval_at(Instant::now() + PING, PING);
        loop {
            let wake = tokio::select! {
                incoming = self.socket.recv(), if self.pending.len() < MAX_PENDING => {
                    Wake::Incoming(incoming)
                }
                notification = self.told.recv() => Wake::Told(notification),
                Some(frame) = self.pending.next() => Wake::Answered(frame),
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
            Wake::Told(Ok(notification)) if self.following.wants(&notification) => {
                self.send(&connection::notification(&notification)).await
            }
            Wake::Told(Ok(_)) => Next::Go,
            Wake::Told(Err(RecvError::Lagged(missed))) => {
                tracing::debug!(missed, "web socket fell behind");
                let resync = Notification::Resync { rev: self.engine.rev() };
                self.send(&connection::notification(&resync)).await
            }
            Wake::Answered(frame) => self.send(&frame).await,
            Wake::Ping if self.heard.elapsed() > PING * 5 / 2 => Next::Gone,
            Wake::Ping => go(self.socket.send(Message::Ping(Vec::new().into())).await.is_ok()),
            Wake::Revoked => Next::Close { code: close_code::POLICY, reason: "signed out" },
            Wake::Told(Err(RecvError::Closed)) | Wake::Closing => {
                Next::Close { code: close_code::RESTART, reason: "the server ends" }
            }
        }
    }

    async fn on_message(&mut self, message: Message) -> Next {
        match message {
            Message::Text(text) => self.on_text(&text).await,
            Message::Binary(_) => {
                Next::Close { code: close_code::UNSUPPORTED, reason: "text frames only" }
            }
            Message::Ping(_) | Message::Pong(_) => Next::Go,
            Message::Close(_) => Next::Gone,
        }
    }

    async fn on_text(&mut self, text: &str) -> Next {
        let asked = match connection::read(text) {
            Ok(asked) => asked,
            Err(frame) => return self.send(&frame).await,
        };
        if let Err(error) = self.following.note(&asked.request) {
            return self.send(&connection::refusal(asked, &error)).await;
        }
        self.pending.push(Box::pin(connection::answer(self.engine.clone(), asked)));
        Next::Go
    }

    async fn send(&mut self, frame: &Frame) -> Next {
        match serde_json::to_string(frame) {
            Ok(text) => go(self.socket.send(Message::Text(text.into())).await.is_ok()),
            Err(err) => {
                tracing::error!(%err, "cannot write a frame");
                Next::Gone
            }
        }
    }
}

const fn go(sent: bool) -> Next {
    if sent { Next::Go } else { Next::Gone }
}
