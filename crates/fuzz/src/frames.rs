//! Any frames, in any agent's dialect: nothing panics, and what is stored follows what is said.
//!
//! The first byte chooses the agent, the second how its program departs from the rule; after that
//! each line is a frame.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{AgentKind, BodyChange, BodyExtent, BodyStream, Departure, shell::STREAM_LIMIT_BYTES};
use shell_output::{CancelReason, Dialect, FrameOrigin, ShellCall, ToolFrame};

fuzz_target!(|input: &[u8]| {
    let [agent, departures, lines @ ..] = input else { return };
    let agent = AgentKind::ALL[usize::from(*agent) % AgentKind::ALL.len()];
    let mut call = ShellCall::new(Dialect::new(agent, &chosen(*departures)));
    let mut stdout = Stored::default();
    let mut stderr = Stored::default();
    for line in lines.split(|byte| *byte == b'\n') {
        take(&mut call, line);
        let output = call.exec().output.unwrap_or_default();
        for (stream, change) in call.take_body_changes() {
            match stream {
                BodyStream::Stdout => stdout.take(change),
                BodyStream::Stderr => stderr.take(change),
            }
        }
        stdout.check(call.stdout(), output.stdout);
        stderr.check(call.stderr(), output.stderr);
    }
});

/// Departures by the bits of a byte; two bytes would reach more of them than there are programs.
fn chosen(bits: u8) -> Vec<Departure> {
    let rows = agents::DEPARTURES.iter().enumerate();
    rows.filter(|(at, _)| bits >> (at % 8) & 1 == 1).map(|(_, row)| row.departure).collect()
}

/// A frame, or one of the two ways in which a call is cancelled.
fn take(call: &mut ShellCall, line: &[u8]) {
    let was_final = call.status().is_terminal();
    match line {
        b"sweep" => _ = call.cancel(CancelReason::Sweep),
        b"stop" => _ = call.cancel(CancelReason::User),
        _ => {
            let Ok(mut frame) = serde_json::from_slice::<serde_json::Value>(line) else { return };
            if let Some(frame) = frame.as_object_mut() {
                frame.insert("toolCallId".into(), "a".into());
            }
            let origin = match line.len() % 3 {
                0 => FrameOrigin::Call,
                1 => FrameOrigin::Permission,
                _ => FrameOrigin::Update,
            };
            if let Some(frame) = ToolFrame::parse(origin, &frame) {
                _ = call.apply(&frame);
            }
        }
    }
    assert!(!was_final || call.status().is_terminal(), "nothing revives a call");
}

/// A body as a store has it: it knows only what the changes say.
#[derive(Default)]
struct Stored {
    text: String,
    extent: BodyExtent,
}

impl Stored {
    fn take(&mut self, change: BodyChange) {
        match change {
            BodyChange::Append { text, start } => {
                self.extent.end += text.len() as u64;
                self.text.push_str(&text);
                let dropped = start - self.extent.start;
                self.extent.start = start;
                self.text.drain(..dropped as usize);
            }
            BodyChange::Replace { text } => {
                self.extent = BodyExtent { start: 0, end: text.len() as u64 };
                self.text = text;
            }
        }
    }

    fn check(&self, shown: Option<&str>, extent: Option<BodyExtent>) {
        assert_eq!(self.text, shown.unwrap_or_default());
        assert_eq!(self.extent, extent.unwrap_or(self.extent));
        assert!(self.text.len() <= STREAM_LIMIT_BYTES);
    }
}
