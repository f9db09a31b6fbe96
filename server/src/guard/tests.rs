//! The guard's table of requests.

use super::*;

fn allowed(others: &[&str]) -> Allowed {
    let others: Vec<_> = others.iter().map(|host| host.parse().unwrap()).collect();
    Allowed::new(SocketAddr::from(([127, 0, 0, 1], 38429)), &others)
}

fn verdict(method: &Method, path: &str, pairs: &[(&str, &str)]) -> Result<(), Refusal> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, value.parse().unwrap());
    }
    check(&allowed(&["box.lan", "kandev.example:443"]), method, &path.parse().unwrap(), &headers)
}

const HOME: (&str, &str) = ("host", "127.0.0.1:38429");

#[test]
fn q_003_hosts_are_exact() {
    for ours in [
        "127.0.0.1:38429",
        "localhost:38429",
        "LOCALHOST:38429",
        "[::1]:38429",
        "box.lan",
        "box.lan:38429",
        "kandev.example",
        "kandev.example:443",
    ] {
        assert_eq!(verdict(&Method::GET, "/", &[("host", ours)]), Ok(()), "{ours}");
    }
    for foreign in [
        "",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.:38429",
        "evil.example:38429",
        "127.0.0.1.evil.example:38429",
        "x127.0.0.1:38429",
        "user@127.0.0.1:38429",
        "kandev.example:38429",
        "sub.box.lan",
    ] {
        let verdict = verdict(&Method::GET, "/", &[("host", foreign)]);
        assert_eq!(verdict, Err(Refusal::Host), "{foreign}");
    }
}

#[test]
fn q_003_a_host_that_is_missing_or_doubled_is_refused() {
    assert_eq!(verdict(&Method::GET, "/", &[]), Err(Refusal::Host));
    assert_eq!(verdict(&Method::GET, "/", &[HOME, HOME]), Err(Refusal::Host));
}

#[test]
fn q_003_the_target_of_an_absolute_request_counts_too() {
    let verdict = verdict(&Method::GET, "http://evil.example/", &[HOME]);
    assert_eq!(verdict, Err(Refusal::Host));
}

#[test]
fn q_003_unsafe_methods_need_an_origin_of_ours() {
    let post =
        |more: &[(&str, &str)]| verdict(&Method::POST, "/api/v1/tasks", &[&[HOME], more].concat());
    assert_eq!(post(&[]), Err(Refusal::MissingOrigin));
    assert_eq!(post(&[("origin", "http://127.0.0.1:38429")]), Ok(()));
    assert_eq!(post(&[("origin", "https://kandev.example")]), Ok(()));
    assert_eq!(post(&[("authorization", "Bearer x")]), Ok(()));
    for foreign in [
        "null",
        "http://evil.example",
        "http://127.0.0.1:3000",
        "http://127.0.0.1",
        "https://127.0.0.1:38429",
        "http://127.0.0.1:38429.evil.example",
        "http://kandev.example",
    ] {
        assert_eq!(post(&[("origin", foreign)]), Err(Refusal::Origin), "{foreign}");
        let with_bearer = post(&[("origin", foreign), ("authorization", "Bearer x")]);
        assert_eq!(with_bearer, Err(Refusal::Origin), "{foreign}");
    }
}

#[test]
fn q_003_a_websocket_needs_an_origin_of_ours() {
    let upgrade = |more: &[(&str, &str)]| {
        verdict(&Method::GET, "/ws", &[&[HOME, ("upgrade", "websocket")], more].concat())
    };
    assert_eq!(upgrade(&[]), Err(Refusal::MissingOrigin));
    assert_eq!(upgrade(&[("origin", "http://evil.example")]), Err(Refusal::Origin));
    assert_eq!(upgrade(&[("origin", "http://localhost:38429")]), Ok(()));
    assert_eq!(upgrade(&[("authorization", "Bearer x")]), Ok(()));
}

#[test]
fn q_003_other_sites_may_link_to_pages_and_nothing_else() {
    let from = |site, mode, dest, path| {
        let fetch = [("sec-fetch-site", site), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)];
        verdict(&Method::GET, path, &[&[HOME], &fetch[..]].concat())
    };
    for site in ["cross-site", "same-site", "anything"] {
        assert_eq!(from(site, "navigate", "document", "/tasks/1"), Ok(()));
        assert_eq!(from(site, "navigate", "document", "/api/v1/boot"), Err(Refusal::CrossSite));
        assert_eq!(from(site, "navigate", "iframe", "/"), Err(Refusal::CrossSite));
        assert_eq!(from(site, "no-cors", "script", "/assets/a.js"), Err(Refusal::CrossSite));
        assert_eq!(from(site, "no-cors", "image", "/"), Err(Refusal::CrossSite));
    }
    assert_eq!(from("same-origin", "cors", "empty", "/api/v1/boot"), Ok(()));
    assert_eq!(from("none", "navigate", "document", "/"), Ok(()));
}

#[test]
fn hosts_are_parsed_strictly() {
    for good in ["box", "box.lan:8080", "192.168.1.20", "[::1]", "[fe80::1]:80"] {
        assert_eq!(good.parse::<AllowedHost>().unwrap().to_string(), good);
    }
    for bad in ["", ":80", "box:", "box:99999", "http://box", "a b", "*.lan", "[::1", "a/b", "::1"]
    {
        assert!(bad.parse::<AllowedHost>().is_err(), "{bad}");
    }
}

#[test]
fn the_address_to_open_names_the_scheme_that_its_port_means() {
    let url = |text: &str| text.parse::<AllowedHost>().unwrap().url(38429);
    assert_eq!(url("box.lan"), "http://box.lan:38429");
    assert_eq!(url("box.lan:443"), "https://box.lan");
    assert_eq!(url("box.lan:80"), "http://box.lan");
    assert_eq!(url("box.lan:8080"), "http://box.lan:8080");
}
