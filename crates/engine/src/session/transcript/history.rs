//! What an agent repeats when it takes up a session again. None of it is stored or shown; but the
//! full text of a command may repair a row whose live stream lost some of it (S-026).

use model::MessageKind;
use shell_output::{FrameOrigin, ShellCall, ToolFrame};

use super::{Stamp, Transcript};

/// Repeated calls that are held at once, each with 512 KiB of output at most. An agent repeats one
/// after the other.
const HELD: usize = 2;

/// A call as the agent's history tells it.
pub(super) struct Repeated {
    call_id: String,
    call: ShellCall,
    /// A frame said that it is a command; another text may be anything.
    is_command: bool,
}

impl Transcript {
    /// A frame of the agent's history. Only of a call that is held can anything be repaired.
    pub(crate) fn history(&mut self, at: Stamp, frame: &ToolFrame) {
        let Some(seq) = self.calls.get(&frame.call_id).copied() else { return };
        self.repeat(frame);
        let repeated = self.repeated.back().filter(|repeated| repeated.is_complete());
        if let Some(repeated) = repeated
            && let Some(live) = self.live.get_mut(&seq)
            && live.repair(&repeated.call, &self.dialect)
        {
            live.touch(at.now);
        }
    }

    /// Adds the frame to its call, which is the last of the repeated ones then.
    fn repeat(&mut self, frame: &ToolFrame) {
        let known = self.repeated.iter().position(|repeated| repeated.call_id == frame.call_id);
        let known = known.and_then(|at| self.repeated.remove(at));
        // What begins anew is not said twice.
        let known = known.filter(|_| frame.origin != FrameOrigin::Call);
        let mut repeated = known.unwrap_or_else(|| {
            let call = ShellCall::new(self.dialect.clone());
            Repeated { call_id: frame.call_id.clone(), call, is_command: false }
        });
        repeated.is_command |= frame.message_kind() == Some(MessageKind::ToolExecute);
        let _ = repeated.call.apply(frame);
        self.repeated.push_back(repeated);
        let surplus = self.repeated.len().saturating_sub(HELD);
        self.repeated.drain(..surplus);
    }
}

impl Repeated {
    fn is_complete(&self) -> bool {
        self.is_command && self.call.status().is_terminal()
    }
}
