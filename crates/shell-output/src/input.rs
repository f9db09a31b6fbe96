//! What a command is: the part of a tool call that is known before it runs.

use serde_json::Value;

use crate::frame::ToolFrame;

/// What a frame says about the command, or what is known of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Input {
    /// The command as people type it.
    pub(crate) command: Option<String>,
    pub(crate) work_dir: Option<String>,
    pub(crate) description: Option<String>,
    /// Milliseconds.
    pub(crate) timeout: Option<u64>,
    pub(crate) background: bool,
}

impl Input {
    /// Reads `rawInput` and the terminal info.
    pub(crate) fn read(frame: &ToolFrame) -> Self {
        let raw = frame.raw_input.as_ref();
        let field = |key: &str| raw.and_then(|raw| raw.get(key));
        let text = |key: &str| field(key).and_then(filled);
        let terminal_cwd = || filled(frame.meta_field("terminal_info")?.get("cwd")?);
        let seconds = || Some(field("max_wait_seconds")?.as_u64()?.saturating_mul(1000));
        Self {
            command: field("command").and_then(command),
            work_dir: text("cwd").or_else(terminal_cwd),
            description: text("description"),
            timeout: field("timeout").and_then(Value::as_u64).or_else(seconds),
            background: field("run_in_background") == Some(&Value::Bool(true))
                || field("wait") == Some(&Value::Bool(false)),
        }
    }

    /// Fills what is not known yet; a background command stays one. Returns whether that was new.
    pub(crate) fn fill(&mut self, later: Self) -> bool {
        let known = std::mem::take(self);
        *self = Self {
            command: known.command.clone().or(later.command),
            work_dir: known.work_dir.clone().or(later.work_dir),
            description: known.description.clone().or(later.description),
            timeout: known.timeout.or(later.timeout),
            background: known.background || later.background,
        };
        *self != known
    }
}

fn filled(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A string as it is; of an argv the script of its shell wrapper, else its words, quoted.
fn command(value: &Value) -> Option<String> {
    let Some(items) = value.as_array() else { return filled(value) };
    let argv: Vec<&str> = items.iter().map(Value::as_str).collect::<Option<_>>()?;
    if let [shell, flags, script] = argv[..]
        && is_shell(shell)
        && runs_a_script(flags)
    {
        return Some(script.to_owned());
    }
    let words: Vec<String> = argv.into_iter().map(quoted).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh" | "fish")
}

/// `-c`, `-lc`, `-ic` and the like.
fn runs_a_script(flags: &str) -> bool {
    flags.strip_prefix('-').is_some_and(|letters| {
        letters.ends_with('c') && letters.bytes().all(|letter| letter.is_ascii_alphabetic())
    })
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameOrigin;
    use serde_json::json;

    fn read(raw_input: &Value) -> Input {
        let frame = json!({"toolCallId": "a", "rawInput": raw_input});
        Input::read(&ToolFrame::parse(FrameOrigin::Call, &frame).unwrap())
    }

    #[test]
    fn s_003_a_shell_wrapper_is_shown_as_its_script() {
        let command = |argv: Value| read(&json!({ "command": argv })).command;
        assert_eq!(command(json!(["bash", "-lc", "a | b"])).as_deref(), Some("a | b"));
        assert_eq!(command(json!(["/bin/zsh", "-c", "a"])).as_deref(), Some("a"));
        assert_eq!(command(json!("ls -la")).as_deref(), Some("ls -la"));
    }

    #[test]
    fn s_003_another_argv_is_shown_quoted() {
        let command = |argv: Value| read(&json!({ "command": argv })).command;
        assert_eq!(command(json!(["git", "log", "-1"])).as_deref(), Some("git log -1"));
        assert_eq!(command(json!(["echo", "it's a"])).as_deref(), Some(r"echo 'it'\''s a'"));
        assert_eq!(command(json!(["bash", "-x", "a b"])).as_deref(), Some("bash -x 'a b'"));
    }

    #[test]
    fn s_017_a_malformed_command_is_none() {
        for value in [json!(null), json!(""), json!(4), json!([]), json!(["a", 4]), json!({})] {
            assert_eq!(read(&json!({"command": value})).command, None, "{value}");
        }
        assert_eq!(read(&json!("ls")), Input::default());
    }

    #[test]
    fn s_003_later_frames_only_fill_what_is_empty() {
        let mut input = Input::default();
        assert!(!input.fill(read(&json!({}))));
        assert!(input.fill(read(&json!({"command": "ls", "run_in_background": true}))));
        let later = json!({"command": "rm", "cwd": "/d", "run_in_background": false});
        assert!(input.fill(read(&later)));
        assert!(!input.fill(read(&later)));
        let expected = Input {
            command: Some("ls".into()),
            work_dir: Some("/d".into()),
            background: true,
            ..Input::default()
        };
        assert_eq!(input, expected);
    }

    #[test]
    fn s_004_the_working_directory_may_stand_in_the_terminal_info() {
        let frame = json!({"toolCallId": "a", "_meta": {"terminal_info": {"cwd": "/d"}}});
        let frame = ToolFrame::parse(FrameOrigin::Call, &frame).unwrap();
        assert_eq!(Input::read(&frame).work_dir.as_deref(), Some("/d"));
    }

    #[test]
    fn s_001_limits_and_background_are_read() {
        let input = read(&json!({"timeout": 2000, "wait": false, "description": "d"}));
        assert_eq!((input.timeout, input.background), (Some(2000), true));
        assert_eq!(input.description.as_deref(), Some("d"));
        assert_eq!(read(&json!({"max_wait_seconds": 3})).timeout, Some(3000));
    }
}
