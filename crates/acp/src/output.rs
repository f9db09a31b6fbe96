//! One of an agent's two output streams, read line by line until nobody writes to it any more.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::lines::{Line, Splitter};

/// What is read at once, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;
/// More than this no pipe holds: what an agent wrote before its end lies within it.
const PIPE_BYTES: usize = 1024 * 1024;
/// Once the agent has ended, silence for this long counts as the end: a process that it left
/// behind may hold the pipe open for ever.
const DRAIN_IDLE: Duration = Duration::from_millis(200);

/// The lines of a stream.
pub(crate) struct Output<R> {
    reader: R,
    splitter: Splitter,
    buffer: Box<[u8]>,
    /// What of the buffer is not split yet.
    unread: std::ops::Range<usize>,
    exited: CancellationToken,
    /// What may still be read, once the agent has ended, in bytes.
    left: Option<usize>,
}

impl<R: AsyncRead + Unpin> Output<R> {
    /// Reads from `reader`; `exited` tells that the agent has ended.
    pub(crate) fn new(reader: R, splitter: Splitter, exited: CancellationToken) -> Self {
        let buffer = vec![0; CHUNK_BYTES].into_boxed_slice();
        Self { reader, splitter, buffer, unread: 0..0, exited, left: None }
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Line> {
        loop {
            while !self.unread.is_empty() {
                let (taken, line) = self.splitter.take(&self.buffer[self.unread.clone()]);
                self.unread.start += taken;
                if line.is_some() {
                    return line;
                }
            }
            match self.read().await {
                Ok(count) if count > 0 => self.unread = 0..count,
                Ok(_) => return self.splitter.finish(),
                Err(err) => {
                    tracing::debug!(%err, "an agent's output cannot be read any further");
                    return self.splitter.finish();
                }
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        if self.left.is_none() {
            tokio::select! {
                biased;
                () = self.exited.cancelled() => {}
                count = self.reader.read(&mut self.buffer) => return count,
            }
        }
        let left = self.left.unwrap_or(PIPE_BYTES);
        let end = left.min(self.buffer.len());
        let reading = self.reader.read(&mut self.buffer[..end]);
        let count = timeout(DRAIN_IDLE, reading).await.unwrap_or(Ok(0))?;
        self.left = Some(left - count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn p_013_a_pipe_that_stays_open_ends_with_its_agent() {
        let (mut writer, reader) = tokio::io::duplex(64);
        let exited = CancellationToken::new();
        let mut output = Output::new(reader, Splitter::new(100, 10), exited.clone());
        writer.write_all(b"first\nlast").await.unwrap();
        assert_eq!(output.next().await, Some(Line::Whole(b"first".to_vec())));
        exited.cancel();
        assert_eq!(output.next().await, Some(Line::Whole(b"last".to_vec())));
        assert_eq!(output.next().await, None);
    }

    #[tokio::test]
    async fn p_013_a_pipe_that_is_written_to_for_ever_ends_too() {
        let exited = CancellationToken::new();
        exited.cancel();
        let endless = tokio::io::repeat(b'\n');
        let mut output = Output::new(endless, Splitter::new(100, 10), exited);
        let mut lines = 0;
        while output.next().await.is_some() {
            lines += 1;
        }
        assert_eq!(lines, PIPE_BYTES);
    }
}
