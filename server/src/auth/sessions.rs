//! Sessions of browsers: held in memory, kept in the store.

use std::{collections::BTreeMap, sync::Mutex};

use model::Timestamp;
use store::{BrowserSession, Op, Store, StoreError};
use tokio_util::sync::CancellationToken;

use super::{Caller, lock};
use crate::token::{TokenHash, random_id, random_token};

/// How long a session lasts, in seconds.
pub(super) const SESSION_SECONDS: u64 = 90 * 24 * 60 * 60;
/// Between two writes of when a browser was last seen, in seconds.
const TOUCH_SECONDS: u64 = 60 * 60;
/// Browsers that are signed in at the same time; the one unseen for longest gives way.
const MAX_SESSIONS: usize = 64;

pub(super) struct Sessions {
    store: Store,
    live: Mutex<BTreeMap<String, Live>>,
    /// Held from reading a session to having stored what follows from it: what is written late
    /// must not bring back what was deleted meanwhile.
    writes: tokio::sync::Mutex<()>,
}

struct Live {
    session: BrowserSession,
    revoked: CancellationToken,
}

/// What a cookie is worth.
pub(super) enum Verdict {
    /// A session.
    Valid(Caller),
    /// A session's id with another secret.
    Forged,
    /// Nothing: it ended, or never was.
    Unknown,
}

impl Sessions {
    /// Those of earlier runs; the expired are deleted.
    pub(super) async fn open(store: Store, now: Timestamp) -> Result<Self, StoreError> {
        let reading = store.clone();
        let stored =
            tokio::task::spawn_blocking(move || reading.read(store::Reader::browser_sessions));
        let stored = stored.await.map_err(|_| StoreError::Closed)??;
        let (expired, live): (Vec<_>, Vec<_>) =
            stored.into_iter().partition(|session| is_expired(session, now));
        if !expired.is_empty() {
            store
                .commit(expired.into_iter().map(|one| Op::DeleteBrowserSession(one.id)).collect())
                .await?;
        }
        let live = live.into_iter().map(|session| (session.id.clone(), Live::new(session)));
        Ok(Self { store, live: Mutex::new(live.collect()), writes: tokio::sync::Mutex::default() })
    }

    /// Begins a session; returns its cookie's value, which is stored nowhere.
    pub(super) async fn begin(&self, label: String, now: Timestamp) -> Result<String, StoreError> {
        self.make_room(now).await?;
        let (id, secret) = (random_id(), random_token());
        let session = BrowserSession {
            id: id.clone(),
            secret_hash: TokenHash::of(&secret).to_hex(),
            label,
            created_at: now,
            last_seen: now,
        };
        self.store.commit(vec![Op::PutBrowserSession(session.clone())]).await?;
        lock(&self.live).insert(id.clone(), Live::new(session));
        Ok(format!("{id}.{secret}"))
    }

    /// Looks a cookie's value up.
    pub(super) fn verify(&self, cookie: &str, now: Timestamp) -> Verdict {
        let Some((id, secret)) = cookie.split_once('.') else { return Verdict::Unknown };
        match lock(&self.live).get(id) {
            Some(live) if is_expired(&live.session, now) => Verdict::Unknown,
            Some(live) if TokenHash::of(secret).is_hex(&live.session.secret_hash) => {
                Verdict::Valid(Caller::Browser {
                    session_id: id.into(),
                    revoked: live.revoked.clone(),
                })
            }
            Some(_) => Verdict::Forged,
            None => Verdict::Unknown,
        }
    }

    /// Notes that a browser was here, once an hour. Not worth failing a request for, nor waiting
    /// for another write: the next request does it.
    pub(super) async fn touch(&self, caller: &Caller, now: Timestamp) {
        let Ok(_writes) = self.writes.try_lock() else { return };
        let Some(session) = caller.session_id().and_then(|id| self.due(id, now)) else { return };
        if let Err(err) = self.store.commit_lazy(vec![Op::PutBrowserSession(session)]).await {
            tracing::warn!(%err, "cannot note when a browser was last seen");
        }
    }

    fn due(&self, id: &str, now: Timestamp) -> Option<BrowserSession> {
        let mut live = lock(&self.live);
        let session = &mut live.get_mut(id)?.session;
        if now.seconds_since(session.last_seen) < TOUCH_SECONDS {
            return None;
        }
        session.last_seen = now;
        Some(session.clone())
    }

    /// Ends a session for good. False if there is none. One that could not be deleted goes on, so
    /// that it can be ended again.
    pub(super) async fn end(&self, id: &str) -> Result<bool, StoreError> {
        let _writes = self.writes.lock().await;
        let Some(live) = lock(&self.live).remove(id) else { return Ok(false) };
        // Whoever asked may hang up meanwhile; then the session has ended all the same.
        let revoked = live.revoked.clone().drop_guard();
        if let Err(err) = self.store.commit(vec![Op::DeleteBrowserSession(id.into())]).await {
            revoked.disarm();
            lock(&self.live).insert(id.into(), live);
            return Err(err);
        }
        Ok(true)
    }

    /// Those that are not expired, last seen first.
    pub(super) fn list(&self, now: Timestamp) -> Vec<BrowserSession> {
        let mut sessions: Vec<_> = lock(&self.live)
            .values()
            .map(|live| live.session.clone())
            .filter(|session| !is_expired(session, now))
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.last_seen));
        sessions
    }

    async fn make_room(&self, now: Timestamp) -> Result<(), StoreError> {
        let gone: Vec<String> = {
            let live = lock(&self.live);
            let expired = live.values().filter(|live| is_expired(&live.session, now));
            let oldest = live.values().min_by_key(|live| live.session.last_seen);
            let oldest = oldest.filter(|_| live.len() >= MAX_SESSIONS);
            expired.chain(oldest).map(|live| live.session.id.clone()).collect()
        };
        for id in gone {
            self.end(&id).await?;
        }
        Ok(())
    }
}

impl Live {
    fn new(session: BrowserSession) -> Self {
        Self { session, revoked: CancellationToken::new() }
    }
}

fn is_expired(session: &BrowserSession, now: Timestamp) -> bool {
    now.seconds_since(session.created_at) >= SESSION_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGAN: Timestamp = Timestamp::from_millis(1_784_203_200_000);

    fn after(seconds: u64) -> Timestamp {
        Timestamp::from_millis(BEGAN.as_millis() + i64::try_from(seconds).unwrap() * 1000)
    }

    fn open_store(dir: &tempfile::TempDir) -> Store {
        Store::open(&dir.path().join("s"), &store::Options::default()).unwrap()
    }

    /// Sessions on a store of their own, and the cookie of one that has begun.
    async fn begun() -> (tempfile::TempDir, Store, Sessions, String) {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let sessions = Sessions::open(store.clone(), BEGAN).await.unwrap();
        let cookie = sessions.begin("Firefox".into(), BEGAN).await.unwrap();
        (dir, store, sessions, cookie)
    }

    fn is_valid(sessions: &Sessions, cookie: &str, now: Timestamp) -> bool {
        matches!(sessions.verify(cookie, now), Verdict::Valid(_))
    }

    #[tokio::test]
    async fn q_002_a_session_outlives_the_server_and_ends_after_ninety_days() {
        let (dir, store, sessions, cookie) = begun().await;
        store.close();
        drop((sessions, store));

        let store = open_store(&dir);
        let sessions = Sessions::open(store.clone(), BEGAN).await.unwrap();
        assert!(is_valid(&sessions, &cookie, after(SESSION_SECONDS - 1)));
        assert!(!is_valid(&sessions, &cookie, after(SESSION_SECONDS)));
        assert!(sessions.list(after(SESSION_SECONDS)).is_empty());
        Sessions::open(store.clone(), after(SESSION_SECONDS)).await.unwrap();
        assert!(store.read(store::Reader::browser_sessions).unwrap().is_empty());
        store.close();
    }

    #[tokio::test]
    async fn q_002_the_store_does_not_hold_what_the_cookie_holds() {
        let (_dir, store, _sessions, cookie) = begun().await;
        let secret = cookie.split_once('.').unwrap().1;
        let stored = store.read(store::Reader::browser_sessions).unwrap();
        assert_eq!(stored.len(), 1);
        assert!(!format!("{stored:?}").contains(secret));
        store.close();
    }

    #[tokio::test]
    async fn q_002_a_wrong_secret_is_told_from_an_ended_session() {
        let (_dir, store, sessions, cookie) = begun().await;
        let (id, secret) = cookie.split_once('.').unwrap();
        assert!(matches!(sessions.verify(&format!("{id}.x"), BEGAN), Verdict::Forged));
        assert!(matches!(sessions.verify(&format!("x.{secret}"), BEGAN), Verdict::Unknown));
        assert!(matches!(sessions.verify(secret, BEGAN), Verdict::Unknown));
        assert!(sessions.end(id).await.unwrap());
        assert!(!sessions.end(id).await.unwrap());
        assert!(matches!(sessions.verify(&cookie, BEGAN), Verdict::Unknown));
        store.close();
    }

    #[tokio::test]
    async fn q_002_a_session_does_not_end_within_a_write_of_its_record() {
        let (_dir, store, sessions, cookie) = begun().await;
        let (id, _) = cookie.split_once('.').unwrap();
        let Verdict::Valid(caller) = sessions.verify(&cookie, BEGAN) else { panic!("no session") };

        let writing = sessions.writes.lock().await;
        let mut ending = std::pin::pin!(sessions.end(id));
        assert!(futures::poll!(&mut ending).is_pending());
        assert!(is_valid(&sessions, &cookie, BEGAN));
        sessions.touch(&caller, after(TOUCH_SECONDS)).await;
        assert_eq!(sessions.list(BEGAN)[0].last_seen, BEGAN);
        drop(writing);
        assert!(ending.await.unwrap());
        assert!(futures::poll!(std::pin::pin!(caller.revoked())).is_ready());
        sessions.touch(&caller, after(TOUCH_SECONDS)).await;
        assert!(store.read(store::Reader::browser_sessions).unwrap().is_empty());
        store.close();
    }

    #[tokio::test]
    async fn q_002_a_session_that_cannot_be_deleted_is_still_there_to_be_ended() {
        let (_dir, store, sessions, cookie) = begun().await;
        let (id, _) = cookie.split_once('.').unwrap();
        let Verdict::Valid(caller) = sessions.verify(&cookie, BEGAN) else { panic!("no session") };
        store.close();
        for _ in 0..2 {
            assert!(matches!(sessions.end(id).await, Err(StoreError::Closed)));
        }
        assert!(is_valid(&sessions, &cookie, BEGAN));
        assert!(futures::poll!(std::pin::pin!(caller.revoked())).is_pending());
    }

    #[tokio::test]
    async fn a_browser_is_noted_once_an_hour() {
        let (_dir, store, sessions, cookie) = begun().await;
        let Verdict::Valid(caller) = sessions.verify(&cookie, BEGAN) else { panic!("no session") };
        let seen = || store.read(store::Reader::browser_sessions).unwrap()[0].last_seen;
        sessions.touch(&caller, after(TOUCH_SECONDS - 1)).await;
        assert_eq!(seen(), BEGAN);
        sessions.touch(&caller, after(TOUCH_SECONDS)).await;
        assert_eq!(seen(), after(TOUCH_SECONDS));
        store.close();
    }

    #[tokio::test]
    async fn the_browser_unseen_for_longest_gives_way() {
        let dir = tempfile::tempdir().unwrap();
        let store = open_store(&dir);
        let sessions = Sessions::open(store.clone(), BEGAN).await.unwrap();
        let first = sessions.begin("first".into(), BEGAN).await.unwrap();
        let second = sessions.begin("second".into(), after(1)).await.unwrap();
        for n in 0..MAX_SESSIONS as u64 - 1 {
            sessions.begin("later".into(), after(n + 2)).await.unwrap();
        }
        assert_eq!(sessions.list(after(99)).len(), MAX_SESSIONS);
        assert!(!is_valid(&sessions, &first, after(99)));
        assert!(is_valid(&sessions, &second, after(99)));
        store.close();
    }
}
