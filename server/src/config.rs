//! How a server is started.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use crate::{assets::Site, guard::AllowedHost, secret::AccessToken};

/// The port that Kandev listens on unless told otherwise.
pub const DEFAULT_PORT: u16 = 38429;

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address it listens on.
    pub host: IpAddr,
    /// Its port; 0 for any free one.
    pub port: u16,
    /// Where everything lives.
    pub data_dir: PathBuf,
    /// Names that browsers may use for it, besides this machine's own.
    pub allow_hosts: Vec<AllowedHost>,
    /// Taken instead of the secret in the data directory.
    pub token: Option<AccessToken>,
    /// Where conversations with agents are recorded; nowhere unless that was asked for.
    pub record: Option<PathBuf>,
    /// The built page.
    pub site: Site,
}

/// Others could reach the server, under names that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} can be reached from other machines, and no name is allowed yet: add `--allow-host NAME` \
     for every name or address that you will type into a browser, {example}",
    example = Example(.0)
)]
pub struct Exposed(pub IpAddr);

struct Example<'a>(&'a IpAddr);

impl std::fmt::Display for Example<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            ip if ip.is_unspecified() => {
                f.write_str("such as `--allow-host mybox.lan --allow-host 192.168.1.20`")
            }
            IpAddr::V4(ip) => write!(f, "such as `--allow-host {ip}`"),
            IpAddr::V6(ip) => write!(f, "such as `--allow-host [{ip}]`"),
        }
    }
}

impl Config {
    /// A server of this machine only, with the page that was built into the program.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: DEFAULT_PORT,
            data_dir: data_dir.into(),
            allow_hosts: Vec::new(),
            token: None,
            record: None,
            site: Site::embedded(),
        }
    }

    /// Refuses to be reachable under names that nobody allowed.
    pub(crate) fn check_exposure(&self) -> Result<(), Exposed> {
        if self.host.is_loopback() || !self.allow_hosts.is_empty() {
            Ok(())
        } else {
            Err(Exposed(self.host))
        }
    }

    /// What a browser opens, without a slash at the end.
    pub(crate) fn public_url(&self, addr: SocketAddr) -> String {
        self.allow_hosts
            .first()
            .map_or_else(|| format!("http://{addr}"), |host| host.url(addr.port()))
    }
}

/// Where this machine's own programs reach a server that listens on `addr`.
pub(crate) fn local_addr(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_001_the_default_is_loopback() {
        assert!(Config::new("data").host.is_loopback());
    }

    #[test]
    fn q_001_a_server_for_others_needs_a_name() {
        let mut config = Config { host: "0.0.0.0".parse().unwrap(), ..Config::new("data") };
        let message = config.check_exposure().unwrap_err().to_string();
        assert!(message.contains("--allow-host NAME"), "{message}");
        config.allow_hosts.push("box.lan".parse().unwrap());
        assert_eq!(config.check_exposure(), Ok(()));
    }

    #[test]
    fn programs_of_this_machine_reach_a_wildcard_address_by_loopback() {
        let local = |text: &str| local_addr(text.parse().unwrap()).to_string();
        assert_eq!(local("0.0.0.0:80"), "127.0.0.1:80");
        assert_eq!(local("[::]:80"), "[::1]:80");
        assert_eq!(local("192.168.1.20:80"), "192.168.1.20:80");
    }
}
