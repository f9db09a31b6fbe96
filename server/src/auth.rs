//! Who may ask: browsers by a session of their own, scripts by the token.
//!
//! Every route is closed unless it stands in the list of open ones. A browser gets in by a one-time
//! link; what it then holds is a session, listed and revocable, and never the token itself.

mod attempts;
mod device;
mod links;
mod routes;
mod sessions;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use axum::{
    extract::{ConnectInfo, MatchedPath, Request, State},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use http::{
    HeaderMap, Method,
    header::{AUTHORIZATION, COOKIE},
};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    AppState, Problem, clock, guard::comes_from_elsewhere, pages::is_page, secret::AccessToken,
    token::TokenHash,
};
use attempts::{Attempts, Failed};
use links::Links;
use sessions::{Sessions, Verdict};

pub(crate) use links::LINK_LIFETIME;
pub(crate) use routes::{NewLink, routes};

/// Routes that need no credentials: method, and path as the router knows it.
const OPEN: [(&Method, &str); 4] = [
    (&Method::GET, "/health"),
    (&Method::GET, "/login"),
    (&Method::GET, "/assets/{name}"),
    (&Method::POST, "/api/v1/auth/login"),
];

/// Stands where a page was asked for by a link from another site. The browser kept its cookie back
/// then; it sends it when this page, which is ours, asks again.
const ASK_AGAIN: &str = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta http-equiv=\"refresh\" content=\"0\"><title>Kandev</title>";

/// Who asks. Handlers take it as an extension.
#[derive(Debug, Clone)]
pub enum Caller {
    /// A program with the token.
    Script,
    /// A browser.
    Browser {
        /// Its session's public id.
        session_id: String,
        /// Cancelled when the session is revoked: its sockets have to end.
        revoked: CancellationToken,
    },
}

impl Caller {
    /// # Errors
    ///
    /// 403 for a browser.
    pub fn require_script(&self) -> Result<(), Problem> {
        match self {
            Self::Script => Ok(()),
            Self::Browser { .. } => {
                Err(Problem::forbidden("Only the command line may ask for this."))
            }
        }
    }

    /// Ends when the caller loses its right to be here; never, for a script.
    pub async fn revoked(&self) {
        match self {
            Self::Script => std::future::pending().await,
            Self::Browser { revoked, .. } => revoked.cancelled().await,
        }
    }

    fn session_id(&self) -> Option<&str> {
        match self {
            Self::Script => None,
            Self::Browser { session_id, .. } => Some(session_id),
        }
    }
}

/// Tokens, links and sessions of one server; cheap to clone.
#[derive(Clone)]
pub struct Auth {
    shared: Arc<Shared>,
}

struct Shared {
    token: TokenHash,
    cookie_name: String,
    public_url: String,
    sessions: Sessions,
    links: Mutex<Links>,
    attempts: Mutex<Attempts>,
}

impl Auth {
    /// Reads the sessions of earlier runs.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    pub(crate) async fn open(
        store: Store,
        token: &AccessToken,
        port: u16,
        public_url: String,
    ) -> Result<Self, StoreError> {
        let shared = Shared {
            token: TokenHash::of(token.expose()),
            // Cookies do not know ports: without it, two servers would sign each other's users out.
            cookie_name: format!("kandev_{port}"),
            public_url,
            sessions: Sessions::open(store, clock::now()).await?,
            links: Mutex::default(),
            attempts: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A link that lets one browser in, once, within 15 minutes. The token stands in the fragment,
    /// which browsers send to nobody.
    pub fn one_time_link(&self) -> String {
        let token = lock(&self.shared.links).create(Instant::now());
        format!("{}/login#{token}", self.shared.public_url)
    }

    /// Who sends these headers.
    async fn identify(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Caller, Problem> {
        if let Some(value) = headers.get(AUTHORIZATION) {
            let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
            let token = token.ok_or_else(Problem::unauthorized)?;
            return self
                .attempt(peer, || self.shared.token.matches(token).then_some(Caller::Script));
        }
        let now = clock::now();
        let mut is_forged = false;
        for value in cookies(headers, &self.shared.cookie_name) {
            match self.shared.sessions.verify(value, now) {
                Verdict::Valid(caller) => {
                    self.shared.sessions.touch(&caller, now).await;
                    return Ok(caller);
                }
                Verdict::Forged => is_forged = true,
                Verdict::Unknown => {}
            }
        }
        // A cookie of an ended session is no attempt; one with a wrong secret is.
        if is_forged { self.attempt(peer, || None) } else { Err(Problem::unauthorized()) }
    }

    /// Runs a check of credentials, unless this peer has failed too often.
    fn attempt<T>(&self, peer: IpAddr, check: impl FnOnce() -> Option<T>) -> Result<T, Problem> {
        lock(&self.shared.attempts).run(peer, Instant::now(), check).map_err(
            |failed| match failed {
                Failed::Wrong => {
                    tracing::warn!(%peer, "wrong credentials");
                    Problem::unauthorized()
                }
                Failed::Blocked { seconds } => Problem::too_many_attempts(seconds),
            },
        )
    }
}

/// Lets nobody past who has no credentials; handlers find a [`Caller`] in the request.
pub(crate) async fn require(
    State(state): State<AppState>,
    matched: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_open(request.method(), matched.as_ref().map(MatchedPath::as_str)) {
        return next.run(request).await;
    }
    match state.auth.identify(request.headers(), peer(&request)).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => refuse(&request, problem),
    }
}

/// Sends a person to the login page, and tells a program what it lacks.
fn refuse(request: &Request, problem: Problem) -> Response {
    let opens_page = matches!(*request.method(), Method::GET | Method::HEAD)
        && is_page(request.uri().path())
        && !request.headers().contains_key(AUTHORIZATION);
    if !opens_page {
        problem.into_response()
    } else if comes_from_elsewhere(request.headers()) {
        Html(ASK_AGAIN).into_response()
    } else {
        Redirect::to("/login").into_response()
    }
}

fn is_open(method: &Method, route: Option<&str>) -> bool {
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    route.is_some_and(|route| OPEN.contains(&(method, route)))
}

/// The address at the other end of the connection.
fn peer(request: &Request) -> IpAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(addr)| addr.ip())
}

/// All values of a cookie: another server of this machine may have set one of the same name.
fn cookies<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(move |(key, value)| (key == name).then_some(value))
}

/// What these locks guard is changed in one step, so a panic leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_002_only_what_is_listed_is_open() {
        assert!(is_open(&Method::GET, Some("/login")));
        assert!(is_open(&Method::HEAD, Some("/assets/{name}")));
        assert!(is_open(&Method::POST, Some("/api/v1/auth/login")));
        for (method, route) in [
            (Method::GET, None),
            (Method::GET, Some("/api/v1/auth/login")),
            (Method::POST, Some("/login")),
            (Method::GET, Some("/api/v1/boot")),
            (Method::POST, Some("/fn/{*endpoint}")),
        ] {
            assert!(!is_open(&method, route), "{method} {route:?}");
        }
    }

    #[test]
    fn every_cookie_of_the_name_is_looked_at() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, "a=1; kandev_1=x; kandev_12=no".parse().unwrap());
        headers.append(COOKIE, "kandev_1=y".parse().unwrap());
        assert_eq!(cookies(&headers, "kandev_1").collect::<Vec<_>>(), ["x", "y"]);
    }
}
