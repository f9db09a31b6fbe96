//! Copilot.

use model::Departure;

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{body::Output, exit::Exit, frame::ToolFrame};

#[derive(Debug)]
pub(super) struct Copilot;

impl Copilot {
    pub(super) fn new(_departures: &[Departure]) -> Self {
        Self
    }
}

impl Grammar for Copilot {
    fn exit(&self, frame: &ToolFrame) -> Exit {
        Generic.exit(frame)
    }

    fn outputs<'a>(&self, frame: &'a ToolFrame, is_final: bool) -> Vec<Output<'a>> {
        Generic.outputs(frame, is_final)
    }

    fn trim(&self, text: &str, scene: &Scene<'_>) -> Trim {
        Generic.trim(text, scene)
    }
}
