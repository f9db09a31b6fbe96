//! Which requests are ours to answer, before anybody asks who sent them.
//!
//! A page of another site can make a browser send requests here. It cannot choose `Host`, `Origin`
//! and `Sec-Fetch-*`: so these are checked, exactly, on every route.

use std::{fmt, net::SocketAddr, str::FromStr};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{
    HeaderMap, HeaderName, Method, StatusCode, Uri,
    header::{AUTHORIZATION, HOST, ORIGIN, UPGRADE},
};

use crate::{AppState, Problem, pages::is_page};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// A name under which the server may be asked, as `--allow-host` takes it: `NAME[:PORT]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost {
    name: String,
    port: Option<u16>,
}

/// The text is no host name with an optional port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host: write NAME or NAME:PORT, for example kandev.example.com or 192.168.1.20:8080"
)]
pub struct InvalidHost(String);

impl FromStr for AllowedHost {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.into());
        let (name, port) = match text.rsplit_once(':') {
            // The colons of a bare `[::1]` are its own.
            Some((name, port)) if !port.ends_with(']') => {
                (name, Some(port.parse().map_err(|_| invalid())?))
            }
            _ => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let is_ipv6 = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .is_some_and(|ip| ip.parse::<std::net::Ipv6Addr>().is_ok());
        if !is_ipv6 && (name.is_empty() || !name.chars().all(is_name)) {
            return Err(invalid());
        }
        Ok(Self { name: name.to_ascii_lowercase(), port })
    }
}

impl AllowedHost {
    /// The address that a browser opens, when the server itself listens on `port`.
    pub(crate) fn url(&self, port: u16) -> String {
        match self.port.unwrap_or(port) {
            80 => format!("http://{}", self.name),
            443 => format!("https://{}", self.name),
            port => format!("http://{}:{port}", self.name),
        }
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The names and origins that are ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Allowed {
    /// This machine's own names at `addr`'s port, and `others`.
    ///
    /// One of `others` without a port is allowed at the server's port, and with none, as behind a
    /// proxy on 80 or 443.
    pub fn new(addr: SocketAddr, others: &[AllowedHost]) -> Self {
        let mut allowed = Self { hosts: Vec::new(), origins: Vec::new() };
        for name in ["127.0.0.1", "localhost", "[::1]"] {
            allowed.add("http", name, addr.port());
        }
        for AllowedHost { name, port } in others {
            let ports = port.map_or_else(|| vec![addr.port(), 80, 443], |port| vec![port]);
            for port in ports {
                for scheme in ["http", "https"] {
                    // 80 and 443 say which scheme they mean.
                    if !matches!((scheme, port), ("https", 80) | ("http", 443)) {
                        allowed.add(scheme, name, port);
                    }
                }
            }
        }
        allowed
    }

    fn add(&mut self, scheme: &str, name: &str, port: u16) {
        let with_port = format!("{name}:{port}");
        if matches!((scheme, port), ("http", 80) | ("https", 443)) {
            self.hosts.push(name.into());
            self.origins.push(format!("{scheme}://{name}"));
        } else {
            self.origins.push(format!("{scheme}://{with_port}"));
        }
        self.hosts.push(with_port);
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(host))
    }

    fn has_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed == origin)
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
    MissingOrigin,
    CrossSite,
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Host => {
                let mut problem = Self::forbidden("This server does not answer to that host name.");
                problem.error = problem
                    .error
                    .with_hint("If the name is yours, start it with `--allow-host NAME[:PORT]`.");
                problem.with_status(StatusCode::MISDIRECTED_REQUEST)
            }
            Refusal::Origin => Self::forbidden("This request comes from another site."),
            Refusal::MissingOrigin => Self::forbidden(
                "This request has no Origin. Send one, or use `Authorization: Bearer`.",
            ),
            Refusal::CrossSite => Self::forbidden("Another site may not load this."),
        }
    }
}

/// Refuses what is not ours.
pub(crate) async fn guard(State(state): State<AppState>, request: Request, next: Next) -> Response {
    match check(&state.allowed, request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            tracing::warn!(?refusal, method = %request.method(), "request refused");
            Problem::from(refusal).into_response()
        }
    }
}

fn check(
    allowed: &Allowed,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    check_host(allowed, uri, headers)?;
    check_fetch_site(method, uri, headers)?;
    check_origin(allowed, method, headers)
}

fn check_host(allowed: &Allowed, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let ours = only(headers, &HOST).is_some_and(|host| allowed.has_host(host))
        && uri.authority().is_none_or(|authority| allowed.has_host(authority.as_str()));
    if ours { Ok(()) } else { Err(Refusal::Host) }
}

/// Another site, or another port of this machine, may send people to a page, and nothing else.
fn check_fetch_site(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
    let is = |name: HeaderName, value| only(headers, &name) == Some(value);
    let foreign = headers.contains_key(SEC_FETCH_SITE)
        && !is(SEC_FETCH_SITE, "same-origin")
        && !is(SEC_FETCH_SITE, "none");
    let follows_link = *method == Method::GET
        && is(SEC_FETCH_MODE, "navigate")
        && is(SEC_FETCH_DEST, "document")
        && is_page(uri.path());
    if foreign && !follows_link { Err(Refusal::CrossSite) } else { Ok(()) }
}

fn check_origin(allowed: &Allowed, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    if method.is_safe() && !headers.contains_key(UPGRADE) {
        return Ok(());
    }
    if !headers.contains_key(ORIGIN) {
        // No browser sends this header for another site; a script has no Origin to send.
        return if has_bearer(headers) { Ok(()) } else { Err(Refusal::MissingOrigin) };
    }
    match only(headers, &ORIGIN) {
        Some(origin) if allowed.has_origin(origin) => Ok(()),
        _ => Err(Refusal::Origin),
    }
}

fn has_bearer(headers: &HeaderMap) -> bool {
    only(headers, &AUTHORIZATION).is_some_and(|value| value.starts_with("Bearer "))
}

/// The value of a header that is there exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Whether the browser comes from a page of another site: then it keeps its cookie back.
pub(crate) fn comes_from_elsewhere(headers: &HeaderMap) -> bool {
    only(headers, &SEC_FETCH_SITE) == Some("cross-site")
}

/// Whether the request's own origin is served over TLS.
pub(crate) fn is_https(headers: &HeaderMap) -> bool {
    only(headers, &ORIGIN).is_some_and(|origin| origin.starts_with("https://"))
}

#[cfg(test)]
mod tests;
