//! The WebSocket under an [`Exchange`]: opens it, and opens it again when it ends.

use std::{future::poll_fn, pin::pin};

use futures::{
    SinkExt, StreamExt,
    channel::mpsc,
    future::{Either, select},
    stream,
};
use gloo_net::websocket::{Message, State, WebSocketError, futures::WebSocket};
use leptos::prelude::*;
use serde::de::IgnoredAny;

use super::{Command, Status, exchange::Exchange};
use crate::{
    browser,
    state::{agents::LiveAgents, board::LiveBoard},
};

/// Pauses before the tries that follow a lost connection, in milliseconds; the last one repeats.
const PAUSES: [u32; 4] = [1000, 2000, 4000, 5000];
/// A try that takes longer than this counts as being offline, in milliseconds.
const OPENS_WITHIN: u32 = 1000;

/// Keeps the page connected for as long as it asks for anything.
pub async fn run(
    board: LiveBoard,
    agents: LiveAgents,
    status: ArcRwSignal<Status>,
    mut commands: mpsc::Receiver<Command>,
) {
    let mut exchange = Exchange::new(board, agents);
    let mut tries = 0;
    loop {
        let socket = open(&mut exchange, &status).await;
        let is_refused = socket.is_none();
        if let Some(socket) = socket {
            settle(&status, Status::Online);
            tries = 0;
            serve(socket, &mut exchange, &mut commands).await;
            exchange.end();
        } else {
            settle(&status, Status::Offline);
        }
        let pause = PAUSES[tries.min(PAUSES.len() - 1)];
        tries += 1;
        let probe = pin!(async {
            if is_refused {
                leave_if_logged_out().await;
            }
        });
        let goes_on = match select(pin!(wait(pause, &mut exchange, &mut commands)), probe).await {
            Either::Left((goes_on, _)) => goes_on,
            Either::Right(((), wait)) => wait.await,
        };
        if !goes_on {
            return;
        }
    }
}

/// A socket does not tell why it was refused. A request does, and without a session it opens the
/// login page.
async fn leave_if_logged_out() {
    // Whatever else it says, the next try finds out.
    let _ = browser::get::<IgnoredAny>("/api/v1/auth/sessions").await;
}

/// A socket on which the page has said what it follows; none when the server cannot be reached.
async fn open(exchange: &mut Exchange, status: &ArcRwSignal<Status>) -> Option<WebSocket> {
    let mut socket = WebSocket::open(&browser::socket_address("/ws")).ok()?;
    if !opens(&mut socket, status).await {
        return None;
    }
    match send_all(&mut socket, exchange.begin()).await {
        Ok(()) => Some(socket),
        Err(_) => {
            exchange.end();
            None
        }
    }
}

/// Waits until a socket is open or cannot be.
async fn opens(socket: &mut WebSocket, status: &ArcRwSignal<Status>) -> bool {
    let mut settled = poll_fn(|context| socket.poll_ready_unpin(context));
    if let Either::Right(_) = select(&mut settled, pin!(browser::sleep(OPENS_WITHIN))).await {
        settle(status, Status::Offline);
        // What failed is ready too; the state tells.
        let _ = settled.await;
    }
    matches!(socket.state(), State::Open)
}

async fn send_all(
    socket: &mut (impl futures::Sink<Message, Error = WebSocketError> + Unpin),
    frames: Vec<String>,
) -> Result<(), WebSocketError> {
    for frame in frames {
        socket.send(Message::Text(frame)).await?;
    }
    Ok(())
}

enum Event {
    Frame(String),
    Command(Command),
    Closed,
}

/// Carries frames until the connection ends.
async fn serve(socket: WebSocket, exchange: &mut Exchange, commands: &mut mpsc::Receiver<Command>) {
    let (mut sink, frames) = socket.split();
    let frames = frames.map(|frame| match frame {
        Ok(Message::Text(text)) => Event::Frame(text),
        Ok(Message::Bytes(_)) | Err(_) => Event::Closed,
    });
    let ends = frames.chain(stream::iter([Event::Closed]));
    let mut events = stream::select(ends, commands.map(Event::Command));
    while let Some(event) = events.next().await {
        let replies = match event {
            Event::Frame(text) => exchange.incoming(&text),
            Event::Command(command) => exchange.command(command).into_iter().collect(),
            Event::Closed => return,
        };
        if send_all(&mut sink, replies).await.is_err() {
            return;
        }
    }
}

/// Waits for the next try, or until someone asks for it. False: the page is gone.
async fn wait(
    milliseconds: u32,
    exchange: &mut Exchange,
    commands: &mut mpsc::Receiver<Command>,
) -> bool {
    let mut pause = pin!(browser::sleep(milliseconds));
    loop {
        match select(commands.next(), pause.as_mut()).await {
            Either::Left((None, _)) => return false,
            Either::Left((Some(Command::TryNow), _)) | Either::Right(_) => return true,
            Either::Left((Some(command), _)) => exchange.command_offline(command),
        }
    }
}

fn settle(status: &ArcRwSignal<Status>, now: Status) {
    if status.get_untracked() != now {
        status.set(now);
    }
}
