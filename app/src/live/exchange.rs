//! What is said on a connection, without the connection: requests wait for their answers, and
//! everything else changes the board or a session.

use std::collections::HashMap;

use model::{
    ApiError, SessionId,
    wire::{Notification, Request, SessionSnapshot},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{AskError, Command, Reply};
use crate::state::{
    agents::LiveAgents,
    board::LiveBoard,
    frames::{self, Incoming},
    session::LiveSession,
};

/// One page's talk with the server. Lives on when a connection ends; what waits does not.
pub struct Exchange {
    board: LiveBoard,
    agents: LiveAgents,
    followed: Vec<LiveSession>,
    waiting: HashMap<u64, Waiter>,
    last_id: u64,
}

enum Waiter {
    Caller(Reply),
    Board,
    Session(SessionId),
    /// Nobody asks how it went.
    Nobody,
}

impl Exchange {
    pub fn new(board: LiveBoard, agents: LiveAgents) -> Self {
        Self { board, agents, followed: Vec::new(), waiting: HashMap::new(), last_id: 0 }
    }

    /// The frames that begin a connection: follow everything that the page shows.
    pub fn begin(&mut self) -> Vec<String> {
        let mut frames = vec![self.follow_board()];
        for session in self.followed.clone() {
            frames.push(self.follow_session(&session));
        }
        frames
    }

    /// Takes a command of the page. Gives the frame to be sent.
    pub fn command(&mut self, command: Command) -> Option<String> {
        match command {
            Command::Ask { request, reply } => Some(self.ask(&request, Waiter::Caller(reply))),
            Command::Follow(session) => {
                let frame = self.follow_session(&session);
                self.followed.push(session);
                Some(frame)
            }
            Command::Unfollow(session_id) => {
                let at = self.followed.iter().position(|session| session.id == session_id)?;
                self.followed.remove(at);
                let is_left = !self.followed.iter().any(|session| session.id == session_id);
                let request = Request::SessionUnsubscribe { session_id };
                is_left.then(|| self.ask(&request, Waiter::Nobody))
            }
            Command::TryNow => None,
        }
    }

    /// Takes a command while there is no connection.
    pub fn command_offline(&mut self, command: Command) {
        match command {
            Command::Ask { reply, .. } => refuse(reply, AskError::Offline),
            Command::Follow(session) => self.followed.push(session),
            Command::Unfollow(session_id) => {
                if let Some(at) = self.followed.iter().position(|session| session.id == session_id)
                {
                    self.followed.remove(at);
                }
            }
            Command::TryNow => {}
        }
    }

    /// Takes a frame of the server. Gives the frames to be sent.
    pub fn incoming(&mut self, text: &str) -> Vec<String> {
        match frames::read(text) {
            Some(Incoming::Answer { id, result }) => {
                self.answer(id, result);
                Vec::new()
            }
            Some(Incoming::News(news)) => self.news(&news),
            None => Vec::new(),
        }
    }

    /// The connection ended: nobody will answer what waits.
    pub fn end(&mut self) {
        for (_, waiter) in self.waiting.drain() {
            if let Waiter::Caller(reply) = waiter {
                refuse(reply, AskError::Lost);
            }
        }
    }

    fn news(&mut self, news: &Notification) -> Vec<String> {
        if matches!(news, Notification::Resync { .. }) {
            return self.start_over();
        }
        self.board.apply(news);
        self.agents.apply(news);
        for session in &self.followed {
            session.apply(news);
        }
        Vec::new()
    }

    fn answer(&mut self, id: u64, result: Result<Value, ApiError>) {
        match self.waiting.remove(&id) {
            Some(Waiter::Caller(reply)) => {
                // A caller that no longer listens has left its page.
                let _ = reply.send(result.map_err(AskError::Refused));
            }
            Some(Waiter::Board) => {
                if let Some(snapshot) = parsed(result) {
                    self.board.take(snapshot);
                }
            }
            Some(Waiter::Session(id)) => {
                let Some(snapshot) = parsed::<SessionSnapshot>(result) else { return };
                for session in self.followed.iter().filter(|session| session.id == id) {
                    session.take(snapshot.clone());
                }
            }
            Some(Waiter::Nobody) | None => {}
        }
    }

    fn start_over(&mut self) -> Vec<String> {
        self.board.forget();
        for session in &self.followed {
            session.forget();
        }
        self.begin()
    }

    fn follow_board(&mut self) -> String {
        let since = self.board.since();
        self.ask(&Request::BoardSubscribe { since }, Waiter::Board)
    }

    fn follow_session(&mut self, session: &LiveSession) -> String {
        let request = Request::SessionSubscribe { session_id: session.id, since: session.since() };
        self.ask(&request, Waiter::Session(session.id))
    }

    fn ask(&mut self, request: &Request, waiter: Waiter) -> String {
        self.last_id += 1;
        self.waiting.insert(self.last_id, waiter);
        frames::write(self.last_id, request)
    }
}

fn parsed<T: DeserializeOwned>(result: Result<Value, ApiError>) -> Option<T> {
    serde_json::from_value(result.ok()?).ok()
}

fn refuse(reply: Reply, error: AskError) {
    // A caller that no longer listens has left its page.
    let _ = reply.send(Err(error));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::samples;
    use futures::channel::oneshot;
    use model::{
        ErrorCode, SessionState,
        wire::{BoardSnapshot, FrameType, MessagePage, Since},
    };
    use serde_json::json;

    fn exchange() -> Exchange {
        let board = samples::board(vec![samples::card(1, "one")]);
        let agents = LiveAgents::new(None, Vec::new());
        Exchange::new(LiveBoard::new(Some(board), "a", 5), agents)
    }

    fn frame(text: &str) -> model::wire::Frame {
        serde_json::from_str(text).unwrap()
    }

    fn response(request: &str, payload: &Value) -> String {
        json!({"id": frame(request).id, "type": "response", "action": "", "payload": payload})
            .to_string()
    }

    fn cancel() -> (Command, oneshot::Receiver<Result<Value, AskError>>) {
        let (reply, answer) = oneshot::channel();
        let request = Request::AgentCancel { session_id: samples::session_id() };
        (Command::Ask { request, reply }, answer)
    }

    fn known_session() -> LiveSession {
        let view = samples::session(SessionState::Running);
        let page = MessagePage { messages: vec![samples::message(1, "one")], has_older: false };
        LiveSession::known(view, page, String::new(), "a", 5)
    }

    #[test]
    fn k_001_a_connection_begins_where_the_page_stands() {
        let mut exchange = exchange();
        exchange.command_offline(Command::Follow(known_session()));
        let frames: Vec<_> = exchange.begin().iter().map(|text| frame(text)).collect();
        assert_eq!(frames[0].action, "board.subscribe");
        assert_eq!(frames[1].action, "session.subscribe");
        for frame in frames {
            assert_eq!(frame.kind, FrameType::Request);
            assert_eq!(frame.payload["since"], json!(Since { epoch: "a".into(), rev: 5 }));
        }
    }

    #[test]
    fn an_answer_reaches_the_one_who_asked() {
        let mut exchange = exchange();
        let (first, mut first_answer) = cancel();
        let (second, mut second_answer) = cancel();
        exchange.command(first).unwrap();
        let request = exchange.command(second).unwrap();
        exchange.incoming(&response(&request, &json!({"done": 1})));
        assert_eq!(second_answer.try_recv(), Ok(Some(Ok(json!({"done": 1})))));
        assert_eq!(first_answer.try_recv(), Ok(None), "the other one still waits");
    }

    #[test]
    fn a_refusal_carries_the_servers_words() {
        let mut exchange = exchange();
        let (command, mut answer) = cancel();
        let request = exchange.command(command).unwrap();
        let error = ApiError::new(ErrorCode::Conflict, "busy");
        let id = frame(&request).id;
        let text = json!({"id": id, "type": "error", "action": "", "payload": error}).to_string();
        exchange.incoming(&text);
        assert_eq!(answer.try_recv(), Ok(Some(Err(AskError::Refused(error)))));
    }

    #[test]
    fn what_waits_when_the_connection_ends_is_told_so() {
        let mut exchange = exchange();
        let (command, mut answer) = cancel();
        exchange.command(command);
        exchange.end();
        assert_eq!(answer.try_recv(), Ok(Some(Err(AskError::Lost))));
        let (command, mut answer) = cancel();
        exchange.command_offline(command);
        assert_eq!(answer.try_recv(), Ok(Some(Err(AskError::Offline))));
    }

    #[test]
    fn k_001_a_client_that_fell_behind_subscribes_again_without_a_revision() {
        let mut exchange = exchange();
        exchange.command(Command::Follow(known_session()));
        let news = json!({"type": "notification", "action": "resync", "payload": {"rev": 90}});
        let frames = exchange.incoming(&news.to_string());
        assert_eq!(frames.len(), 2);
        assert!(frames.iter().all(|text| frame(text).payload["since"].is_null()));
        let snapshot = BoardSnapshot {
            epoch: "a".into(),
            rev: 91,
            board: Some(samples::board(vec![samples::card(2, "two")])),
        };
        exchange.incoming(&response(&frames[0], &json!(snapshot)));
        assert!(exchange.board.tasks.find(samples::task_id(1)).is_none());
        assert!(exchange.board.tasks.find(samples::task_id(2)).is_some());
    }

    #[test]
    fn a_session_that_is_shown_again_while_its_old_page_leaves_stays_followed() {
        let mut exchange = exchange();
        exchange.command(Command::Follow(known_session()));
        exchange.command(Command::Follow(known_session()));
        assert_eq!(exchange.command(Command::Unfollow(samples::session_id())), None);
        let last = exchange.command(Command::Unfollow(samples::session_id())).unwrap();
        assert_eq!(frame(&last).action, "session.unsubscribe");
    }
}
