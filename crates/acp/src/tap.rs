//! What passes between us and an agent, for someone who writes it down.

use std::{fmt, sync::Arc};

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the agent.
    In,
    /// To the agent.
    Out,
    /// From the agent, on its standard error.
    Err,
}

/// Hears every line, without its line end, as it passes. Of a line that is too long to be read it
/// hears both ends. The connection does not wait for it, so it may not block.
#[derive(Clone)]
pub struct Tap(Arc<Hear>);

type Hear = dyn Fn(Direction, &[u8]) + Send + Sync;

impl Tap {
    /// Calls this for every line.
    pub fn new(hear: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn hear(&self, direction: Direction, line: &[u8]) {
        (self.0)(direction, line);
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tap").finish()
    }
}
