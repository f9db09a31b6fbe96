//! What came out of a run of the checks, as a table.

use std::fmt::Write as _;
use std::time::Duration;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
}

/// A step that ran.
pub(super) struct Outcome {
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    pub(super) time: Duration,
}

/// One line for each step, and a closing line that tools which read test output understand.
pub(super) fn table(outcomes: &[Outcome]) -> String {
    let mut table = String::new();
    for Outcome { name, verdict, time } in outcomes {
        let word = match verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "FAILED",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{name:<8} {word} {:>9}", seconds(*time));
    }
    let failed = outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Failed).count();
    let total = outcomes.iter().map(|outcome| outcome.time).sum();
    let passed = outcomes.len() - failed;
    let _ = write!(
        table,
        "{:<8} {:>16}\nsteps: {passed} passed, {failed} failed",
        "all",
        seconds(total)
    );
    table
}

/// Seconds with one decimal.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &'static str, verdict: Verdict, millis: u64) -> Outcome {
        Outcome { name, verdict, time: Duration::from_millis(millis) }
    }

    #[test]
    fn table_counts_and_adds_up() {
        let outcomes = [
            outcome("fmt", Verdict::Passed, 1_250),
            outcome("tidy", Verdict::Passed, 250),
            outcome("clippy", Verdict::Failed, 60_000),
        ];
        let expected = "\
fmt      passed     1.2 s
tidy     passed     0.2 s
clippy   FAILED    60.0 s
all                61.5 s
steps: 2 passed, 1 failed";
        assert_eq!(table(&outcomes), expected);
    }
}
