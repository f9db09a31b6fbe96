//! How an end is put into words for a person.

use acp::StopReason;

pub(crate) fn exit_words(exit: &acp::Exit) -> String {
    match (exit.code, exit.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".into(),
    }
}

pub(super) const fn limit_note(reason: &StopReason) -> Option<&'static str> {
    match reason {
        StopReason::MaxTokens => Some("The agent stopped: its answer reached the length limit."),
        StopReason::MaxTurnRequests => Some("The agent stopped: it reached its limit of steps."),
        _ => None,
    }
}
