//! Qwen.

use super::{Grammar, Scene, Trim, generic::Generic};
use crate::{body::Output, exit::Exit, frame::ToolFrame};

#[derive(Debug)]
pub(super) struct Qwen;

impl Grammar for Qwen {
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
