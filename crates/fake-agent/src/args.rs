//! The command line.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::dialect::Dialect;

const USAGE: &str = "usage: fake-agent acp [--dialect generic|opencode|codex|claude] [--name NAME] \
[--version V] [--no-identity] [--script FILE] [--load FILE] [--resume] [--fail METHOD] \
[--mute METHOD] [--die METHOD] [--ignore-eof] [--ignore-term] | fake-agent replay FILE.jsonl [--speed FACTOR]";

/// What the program is to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Mode {
    /// Start over with these arguments, with SIGTERM ignored.
    IgnoreTerm { rest: Vec<String> },
    /// Do what the prompts say.
    Acp(Options),
    /// Play a recording; 2.0 is twice as fast, 0.0 without any pause.
    Replay { file: PathBuf, speed: f64 },
}

/// How the scripted agent behaves.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Options {
    /// Whose frames it sends.
    pub(crate) dialect: Dialect,
    /// Its name, instead of the dialect's.
    pub(crate) name: Option<String>,
    /// Its version, instead of the dialect's.
    pub(crate) version: Option<String>,
    /// It does not say who it is.
    pub(crate) no_identity: bool,
    /// Directives: a section for each prompt, with `---` lines between them.
    pub(crate) script: Option<PathBuf>,
    /// It loads sessions, and repeats these `update` objects then, one a line; a file that is not
    /// there is a session that it does not know.
    pub(crate) load: Option<PathBuf>,
    /// It resumes sessions, any of them.
    pub(crate) resume: bool,
    /// Methods that are answered with "Authentication required".
    pub(crate) fail: Vec<String>,
    /// Methods that are never answered.
    pub(crate) mute: Vec<String>,
    /// Methods that end it.
    pub(crate) die: Vec<String>,
    /// It stays when its stdin ends.
    pub(crate) ignore_eof: bool,
}

pub(crate) fn parse(args: &[String]) -> anyhow::Result<Mode> {
    if let Some(at) = args.iter().position(|arg| arg == "--ignore-term") {
        let mut rest = args.to_vec();
        rest.remove(at);
        return Ok(Mode::IgnoreTerm { rest });
    }
    let mut args = args.iter().map(String::as_str);
    match args.next() {
        Some("acp") => acp(args).map(Mode::Acp),
        Some("replay") => replay(args),
        _ => bail!(USAGE),
    }
}

fn acp<'a>(mut args: impl Iterator<Item = &'a str>) -> anyhow::Result<Options> {
    let mut options = Options::default();
    while let Some(flag) = args.next() {
        let mut value = || args.next().with_context(|| format!("{flag} wants a value"));
        match flag {
            "--dialect" => options.dialect = Dialect::named(value()?).context(USAGE)?,
            "--name" => options.name = Some(value()?.to_owned()),
            "--version" => options.version = Some(value()?.to_owned()),
            "--script" => options.script = Some(value()?.into()),
            "--load" => options.load = Some(value()?.into()),
            "--resume" => options.resume = true,
            "--die" => options.die.push(value()?.to_owned()),
            "--fail" => options.fail.push(value()?.to_owned()),
            "--mute" => options.mute.push(value()?.to_owned()),
            "--no-identity" => options.no_identity = true,
            "--ignore-eof" => options.ignore_eof = true,
            _ => bail!("unknown flag {flag}\n{USAGE}"),
        }
    }
    Ok(options)
}

fn replay<'a>(mut args: impl Iterator<Item = &'a str>) -> anyhow::Result<Mode> {
    let file = args.next().context(USAGE)?.into();
    let speed = match (args.next(), args.next()) {
        (None, _) => 1.0,
        (Some("--speed"), Some(factor)) => factor.parse().context("--speed wants a number")?,
        _ => bail!(USAGE),
    };
    Ok(Mode::Replay { file, speed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> anyhow::Result<Mode> {
        parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn flags_are_read() {
        let Mode::Acp(options) = of("acp --dialect codex --name N --fail a --fail b").unwrap()
        else {
            panic!("not acp")
        };
        assert_eq!((options.dialect, options.name.as_deref()), (Dialect::Codex, Some("N")));
        assert_eq!(options.fail, ["a", "b"]);
        assert_eq!(
            of("replay f.jsonl --speed 0").unwrap(),
            Mode::Replay { file: "f.jsonl".into(), speed: 0.0 }
        );
    }

    #[test]
    fn ignoring_a_signal_comes_first_and_is_taken_out() {
        let rest = vec!["acp".to_owned(), "--ignore-eof".to_owned()];
        assert_eq!(of("acp --ignore-term --ignore-eof").unwrap(), Mode::IgnoreTerm { rest });
    }

    #[test]
    fn what_cannot_be_understood_is_refused() {
        for line in ["", "acp --dialect", "acp --dialect klingon", "acp --nope", "replay", "dance"]
        {
            assert!(of(line).is_err(), "{line:?}");
        }
    }
}
