//! The command line.

mod client;
mod maintain;
mod qr;
mod replay;
mod run_server;

use std::{
    ffi::OsString,
    io::{IsTerminal as _, Write as _},
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Parser, Subcommand};
use model::AgentKind;

use crate::{
    Config,
    config::DEFAULT_PORT,
    data_dir,
    guard::AllowedHost,
    secret::{self, AccessToken},
};

/// Runs coding agents on a board of tasks, in your browser.
#[derive(Debug, Parser)]
#[command(name = "kandev", version, about, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "Without a command, `serve` runs: `kandev serve --help` has its options.\n\
    Logs go to stderr; KANDEV_LOG=debug shows more of them.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server and print a link that opens it (the default)
    Serve(Serve),
    /// Print another one-time link, with a QR code for a phone
    Link(Data),
    /// Print the token that scripts send as `Authorization: Bearer`
    Token(Data),
    /// Copy everything into a new file, also while the server runs
    Backup(WithFile),
    /// Put a backup in the place of the data; what was there is kept beside it
    Restore(WithFile),
    /// Read the whole store and say what does not fit
    Check(Data),
    /// Give unused space in the store back to the system
    Compact(Data),
    /// Print the tool messages that a recorded conversation comes to, as JSON lines
    Replay(Replay),
}

#[derive(Debug, Args)]
struct Serve {
    /// Address to listen on; others than loopback need --allow-host too
    #[arg(long, env = "KANDEV_HOST", default_value = "127.0.0.1", value_parser = parse_host)]
    host: IpAddr,
    /// Port to listen on; 0 takes any free one
    #[arg(long, env = "KANDEV_PORT", default_value_t = DEFAULT_PORT)]
    port: u16,
    /// Name that browsers may use for this server, besides localhost; may be repeated
    #[arg(
        long = "allow-host",
        env = "KANDEV_ALLOW_HOST",
        value_name = "NAME[:PORT]",
        value_delimiter = ','
    )]
    allow_hosts: Vec<AllowedHost>,
    /// Write what passes between Kandev and its agents into this directory, secrets removed; look
    /// through a file before you give it away
    #[arg(long, env = "KANDEV_RECORD", value_name = "DIR")]
    record: Option<PathBuf>,
    #[command(flatten)]
    data: Data,
}

#[derive(Debug, Args)]
struct Replay {
    /// A recording, as `kandev serve --record DIR` writes them; `-` reads standard input
    file: PathBuf,
    /// The agent whose dialect is read until the recorded program names itself
    #[arg(long, value_name = "NAME", default_value = "generic", value_parser = parse_agent)]
    agent: AgentKind,
    /// Print what a browser gets: without output, but with its size
    #[arg(long)]
    view: bool,
}

#[derive(Debug, Args)]
struct Data {
    /// Where everything is kept; by default `kandev` in your data directory (XDG_DATA_HOME)
    #[arg(long = "data-dir", env = "KANDEV_DATA_DIR", value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct WithFile {
    /// The backup
    file: PathBuf,
    #[command(flatten)]
    data: Data,
}

/// Why a command failed: a sentence with the next step.
type Failure = Box<dyn std::error::Error>;

/// Runs the command in `args`, the first of which is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(with_default_command(args)) {
        Ok(cli) => cli,
        // Also how help and version come out.
        Err(err) => err.exit(),
    };
    init_logging();
    match dispatch(cli.command) {
        Ok(code) => code,
        Err(failure) => {
            // Where stderr is gone, the exit code says it.
            let _unseen = writeln!(std::io::stderr(), "kandev: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Serve(serve) => run_server::run(serve.into_config()?)?,
        Command::Link(data) => link(&data.dir()?)?,
        Command::Token(data) => print(format_args!("{}", token(&data.dir()?)?.expose())),
        Command::Backup(WithFile { file, data }) => maintain::backup(&data.dir()?, &file)?,
        Command::Restore(WithFile { file, data }) => maintain::restore(&data.dir()?, &file)?,
        Command::Check(data) => return maintain::check(&data.dir()?),
        Command::Compact(data) => maintain::compact(&data.dir()?)?,
        Command::Replay(Replay { file, agent, view }) => return replay::run(&file, agent, view),
    }
    Ok(ExitCode::SUCCESS)
}

impl Serve {
    fn into_config(self) -> Result<Config, Failure> {
        let token = token_from_environment()?;
        let config = Config::new(self.data.dir()?);
        Ok(Config {
            host: self.host,
            port: self.port,
            allow_hosts: self.allow_hosts,
            token,
            record: self.record,
            ..config
        })
    }
}

impl Data {
    fn dir(&self) -> Result<PathBuf, Failure> {
        self.dir
            .clone()
            .or_else(data_dir::default_dir)
            .ok_or_else(|| "there is no home directory: choose a directory with --data-dir".into())
    }
}

fn link(dir: &Path) -> Result<(), Failure> {
    let link = client::Client::connect(dir)?.create_link()?;
    print(format_args!("{}\n\n{}", link.url, qr::render(&link.url)?));
    print(format_args!("The link works once, within {} minutes.", link.expires_in_seconds / 60));
    if link.url.starts_with("http://127.") || link.url.starts_with("http://[::1]") {
        print(format_args!(
            "It opens on this machine only: a phone needs a server with --host and --allow-host."
        ));
    }
    Ok(())
}

/// `KANDEV_TOKEN`, else the secret of a data directory.
fn token(dir: &Path) -> Result<AccessToken, Failure> {
    match token_from_environment()? {
        Some(token) => Ok(token),
        None => Ok(secret::load(dir)?.ok_or_else(|| {
            format!(
                "{} has no token yet: start `kandev serve` once, or name the right --data-dir",
                dir.display()
            )
        })?),
    }
}

/// A token that is set but weak is refused, also where it would not be used.
fn token_from_environment() -> Result<Option<AccessToken>, Failure> {
    match std::env::var("KANDEV_TOKEN") {
        Err(std::env::VarError::NotPresent) => Ok(None),
        value => Ok(Some(AccessToken::new(value.unwrap_or_default())?)),
    }
}

fn parse_host(text: &str) -> Result<IpAddr, String> {
    if text == "localhost" {
        return Ok(Ipv4Addr::LOCALHOST.into());
    }
    text.parse().map_err(|_| "it is no IP address; 0.0.0.0 stands for all of this machine".into())
}

/// An agent by its short name, or by the name that a program gives itself.
fn parse_agent(name: &str) -> Result<AgentKind, String> {
    let known = AgentKind::ALL.into_iter().find(|agent| agent.name().eq_ignore_ascii_case(name));
    known
        .or_else(|| agents::kind_of(name))
        .ok_or_else(|| format!("it is one of {}", AgentKind::ALL.map(AgentKind::name).join(", ")))
}

/// Puts `serve` where no command stands.
fn with_default_command(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let is_ours = args.get(1).is_none_or(|first| {
        first.to_string_lossy().starts_with('-')
            && !["-h", "--help", "-V", "--version"].iter().any(|own| first == own)
    });
    if is_ours {
        args.insert(1.min(args.len()), "serve".into());
    }
    args
}

fn init_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("KANDEV_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

/// A line on stdout. Where stdout is gone, nobody misses it.
fn print(line: std::fmt::Arguments<'_>) {
    let mut stdout = std::io::stdout().lock();
    let _unseen = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Command, clap::Error> {
        let args = std::iter::once("kandev").chain(args.iter().copied()).map(OsString::from);
        Cli::try_parse_from(with_default_command(args)).map(|cli| cli.command)
    }

    #[test]
    fn the_definition_is_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default() {
        for args in [&[][..], &["serve"], &["--port", "0"], &["serve", "--port", "0"]] {
            assert!(matches!(parse(args), Ok(Command::Serve(_))), "{args:?}");
        }
        assert!(matches!(parse(&["link"]), Ok(Command::Link(_))));
        assert!(parse(&["explode"]).is_err());
        for (flag, kind) in [
            ("--help", clap::error::ErrorKind::DisplayHelp),
            ("--version", clap::error::ErrorKind::DisplayVersion),
        ] {
            assert_eq!(parse(&[flag]).unwrap_err().kind(), kind);
        }
    }

    #[test]
    fn hosts_are_addresses() {
        let host = |text| match parse(&["--host", text]) {
            Ok(Command::Serve(serve)) => Some(serve.host.to_string()),
            _ => None,
        };
        assert_eq!(host("localhost").as_deref(), Some("127.0.0.1"));
        assert_eq!(host("::1").as_deref(), Some("::1"));
        assert_eq!(host("example.com"), None);
    }
}
