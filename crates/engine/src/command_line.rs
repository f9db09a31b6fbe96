//! A custom ACP command as a person types it: a command line, and lines of variables.

use model::{ApiError, ErrorCode, LaunchCommand, wire::CustomCommand};

/// Reads a custom command.
pub(crate) fn parse(custom: &CustomCommand) -> Result<LaunchCommand, ApiError> {
    Ok(LaunchCommand { env: environment(&custom.env)?, ..words(&custom.command_line)? })
}

/// Reads program and arguments.
pub(crate) fn words(line: &str) -> Result<LaunchCommand, ApiError> {
    let mut words = shell_words::split(line)
        .map_err(|_| refusal("command_line", "A quote is not closed."))?
        .into_iter();
    let program = words
        .next()
        .filter(|program| !program.is_empty())
        .ok_or_else(|| refusal("command_line", "Name the command that starts the agent."))?;
    Ok(LaunchCommand { program, args: words.collect(), env: Vec::new() })
}

/// Reads `NAME=value` lines.
pub(crate) fn environment(lines: &str) -> Result<Vec<(String, String)>, ApiError> {
    lines
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.split_once('=')
                .filter(|(name, _)| is_name(name))
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .ok_or_else(|| refusal("env", "Write one NAME=value on each line."))
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn refusal(field: &str, message: &str) -> ApiError {
    ApiError::new(ErrorCode::ValidationError, message).about(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn custom(command_line: &str, env: &str) -> CustomCommand {
        CustomCommand { name: String::new(), command_line: command_line.into(), env: env.into() }
    }

    #[test]
    fn words_are_split_as_a_shell_would() {
        let command =
            parse(&custom("node \"my agent.js\" --flag='a b'", "# note\nKEY=a=b\n\n")).unwrap();
        assert_eq!(command.program, "node");
        assert_eq!(command.args, ["my agent.js", "--flag=a b"]);
        assert_eq!(command.env, [("KEY".to_owned(), "a=b".to_owned())]);
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_field() {
        let field = |command, env| parse(&custom(command, env)).unwrap_err().field;
        assert_eq!(field("", "").as_deref(), Some("command_line"));
        assert_eq!(field("node 'x", "").as_deref(), Some("command_line"));
        assert_eq!(field("node", "NOVALUE").as_deref(), Some("env"));
        assert_eq!(field("node", "1X=1").as_deref(), Some("env"));
    }
}
