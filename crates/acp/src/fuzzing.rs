//! What fuzzing reaches of the transport, which is private otherwise.

use tokio::sync::mpsc;

use crate::{
    AgentEvent,
    connection::Connection,
    lines::{Line, Splitter},
};

/// Lines that are longer are cut, in bytes; small, so that fuzzing finds them.
const LINE_BYTES: usize = 512;
const KEPT_BYTES: usize = 64;
/// Answers that wait for nobody.
const OUTGOING: usize = 64;

/// Reads what an agent writes, in chunks of this size, as a live connection that waits for the
/// answer to a prompt.
///
/// # Panics
///
/// When the chunks matter, or the prompt has not ended exactly once.
pub fn read(bytes: &[u8], chunk: usize) {
    let lines = split(bytes, chunk.max(1));
    assert_eq!(lines, split(bytes, bytes.len().max(1)), "chunks matter");
    let (outgoing, _sent) = mpsc::channel(OUTGOING);
    let connection = Connection::new(outgoing);
    let asked = connection.prompt("s", "hi", 1).is_ok();
    let mut events: Vec<AgentEvent> =
        lines.iter().flat_map(|line| connection.receive(line)).collect();
    events.extend(connection.close());
    let is_end = |event: &&AgentEvent| matches!(event, AgentEvent::PromptEnded { .. });
    assert_eq!(events.iter().filter(is_end).count(), usize::from(asked), "one prompt, one end");
}

fn split(bytes: &[u8], chunk: usize) -> Vec<Line> {
    Splitter::new(LINE_BYTES, KEPT_BYTES).split(bytes, chunk)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn s_017_any_bytes_in_any_chunks_end_a_prompt_once() {
        let long = format!("{{\"id\":0,\"result\":\"{}\"}}\n", "x".repeat(2000));
        for bytes in [&b"{\"id\":0,\"result\":{}}\n{\"id\":0}"[..], b"\xff\n\n[1", long.as_bytes()]
        {
            (1..9).for_each(|chunk| read(bytes, chunk));
        }
    }
}
