//! Secrets taken out of what is recorded, so that a recording can be attached to a bug report.
//!
//! Two nets: the values that this machine knows to be secret (variables whose name says so), and
//! what looks like a secret wherever it stands. What slips through both cannot be known, so the
//! reader of a recording is told to look through it.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// Stands where a secret stood.
pub(crate) const REDACTED: &str = "[redacted]";
/// A shorter value is no secret, and replacing it everywhere would garble the rest.
const SHORTEST_SECRET: usize = 8;

/// What is secret on this machine.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// Longest first: one secret may be a part of another.
    secrets: Vec<String>,
}

impl Redactor {
    /// Knows the values of those variables whose names say that they are secret.
    pub(crate) fn new(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut secrets: Vec<String> = variables
            .into_iter()
            .filter(|(name, value)| is_secret_name(name) && value.len() >= SHORTEST_SECRET)
            .map(|(_, value)| value)
            .collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without what is secret in it.
    pub(crate) fn text(&self, text: &str) -> String {
        let known = self.secrets.iter().filter(|secret| text.contains(secret.as_str()));
        let text = known.fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED));
        let kept = |found: &Captures<'_>| {
            let part = |group| found.get(group).map_or("", |label| label.as_str());
            format!("{}{}{REDACTED}{}", part(1), part(2), part(3))
        };
        let text = LABELLED.replace_all(&text, kept);
        KEY.replace_all(&text, REDACTED).into_owned()
    }

    /// Takes what is secret out of every text of a frame.
    pub(crate) fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                // `{"name": "API_KEY", "value": "..."}` is how ACP passes variables and headers.
                let names_secret =
                    members.get("name").and_then(Value::as_str).is_some_and(is_secret_name);
                for (name, member) in members {
                    let is_secret = is_secret_name(name) || (names_secret && name == "value");
                    match member {
                        Value::String(text) if is_secret && !text.is_empty() => {
                            REDACTED.clone_into(text);
                        }
                        _ => self.value(member),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether a variable, a header or a member of that name holds a secret.
fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    const ENDINGS: [&str; 11] = [
        "apikey",
        "accesskey",
        "privatekey",
        "secretkey",
        "authkey",
        "token",
        "secret",
        "password",
        "passphrase",
        "authorization",
        "cookie",
    ];
    ENDINGS.iter().any(|ending| plain.ends_with(ending))
        || ["credential", "sessionauth"].iter().any(|part| plain.contains(part))
}

/// A secret behind the word that says it is one; the word stays.
static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    let names = r"(?:api[_-]?key|access[_-]?key|secret(?:[_-]?key)?|auth[_-]?token|token|password|passphrase)";
    let assigned = format!(r#"\b[A-Za-z0-9_]*{names}["']?\s*[:=]\s*["']?"#);
    let header = r"\b(?:bearer|basic)\s+";
    let user_info = r"\b[a-z][a-z0-9+.-]*://[^\s/@:]*:";
    pattern(&format!(
        r#"(?i)((?:{assigned}|{header}))[^\s"',;<>()\[\]{{}}]{{8,}}|({user_info})[^\s/@]+(@)"#
    ))
});

/// A secret that its own form gives away.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    let forms = [
        r"\bsk-[A-Za-z0-9_-]{8,}",
        r"\bgh[opsur]_[A-Za-z0-9]{16,}",
        r"\bgithub_pat_[A-Za-z0-9_]{16,}",
        r"\bglpat-[A-Za-z0-9_-]{16,}",
        r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"\bAKIA[A-Z0-9]{16}\b",
        r"\bAIza[A-Za-z0-9_-]{30,}",
        r"\bhf_[A-Za-z0-9]{16,}",
        r"\bnpm_[A-Za-z0-9]{20,}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ];
    pattern(&forms.join("|"))
});

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns here are constants, and each is tried in a test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redacted(text: &str) -> String {
        Redactor::default().text(text)
    }

    #[test]
    fn what_looks_like_a_secret_goes_wherever_it_stands() {
        for (text, expected) in [
            ("key sk-ant-0123456789abcdef end", "key [redacted] end"),
            ("ghp_abcdefghijklmnop1234", "[redacted]"),
            ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"),
            ("OPENAI_API_KEY=abcdefgh123 make", "OPENAI_API_KEY=[redacted] make"),
            ("password: \"hunter2hunter2\"", "password: \"[redacted]\""),
            ("https://me:letmein@example.com/x", "https://me:[redacted]@example.com/x"),
            ("eyJhbGciOi1234.eyJzdWIiOi1234.sig_nature", "[redacted]"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----!", "[redacted]!"),
            ("-----BEGIN PRIVATE KEY-----\ncut off", "[redacted]"),
        ] {
            assert_eq!(redacted(text), expected);
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "one\ntwo\n",
            "max_tokens: 4096, tokens used",
            "git log --oneline a1b2c3d4e5f6a7b8",
            "token: short",
            "https://example.com:8080/path",
            "01a22e10-104c-7b02-982d-392013254a8d",
            "skip-this-long-word-please",
        ] {
            assert_eq!(redacted(text), text);
        }
    }

    #[test]
    fn values_of_secret_variables_are_known() {
        let variables = [
            ("MY_TOKEN", "plain-words-only"),
            ("MY_TOKEN_2", "plain-words-only-longer"),
            ("HOME", "/home/dev/place"),
            ("SHORT_SECRET", "abc"),
        ];
        let owned = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let redactor = Redactor::new(owned);
        let text = "plain-words-only-longer plain-words-only /home/dev/place abc";
        assert_eq!(redactor.text(text), "[redacted] [redacted] /home/dev/place abc");
    }

    #[test]
    fn members_and_variables_that_say_so_are_emptied_and_nothing_else() {
        let mut frame = json!({
            "apiKey": "x", "token": 5, "tokens": "7", "password": "", "cwd": "/d",
            "env": [{"name": "ACME_TOKEN", "value": "v"}, {"name": "LANG", "value": "C"}],
            "nested": {"Authorization": "z", "text": ["sk-0123456789abcdef"]}
        });
        Redactor::default().value(&mut frame);
        assert_eq!(
            frame,
            json!({
                "apiKey": REDACTED, "token": 5, "tokens": "7", "password": "", "cwd": "/d",
                "env": [{"name": "ACME_TOKEN", "value": REDACTED}, {"name": "LANG", "value": "C"}],
                "nested": {"Authorization": REDACTED, "text": [REDACTED]}
            })
        );
    }
}
