//! Limits the length of lines that are read from a child process.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that ends at the first line that is too long. Buffering the line would take memory, and skipping it would
/// lose an answer that a call waits for.
pub(crate) struct LineLimitedReader<R> {
    inner: R,
    most: usize,
    line: usize,
    exceeded: Arc<AtomicBool>,
}

impl<R> LineLimitedReader<R> {
    /// Wraps a reader. Returns also a flag that is set when a line was too long.
    pub(crate) fn new(inner: R, most: usize) -> (Self, Arc<AtomicBool>) {
        let exceeded = Arc::new(AtomicBool::new(false));
        (Self { inner, most, line: 0, exceeded: exceeded.clone() }, exceeded)
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineLimitedReader<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.exceeded.load(Ordering::Relaxed) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(cx, buffer);
        let read = &buffer.filled()[before..];
        let mut longest = 0;
        for (at, part) in read.split(|byte| *byte == b'\n').enumerate() {
            self.line = if at == 0 { self.line + part.len() } else { part.len() };
            longest = longest.max(self.line);
        }
        if longest > self.most {
            self.exceeded.store(true, Ordering::Relaxed);
            buffer.set_filled(before);
            return Poll::Ready(Ok(()));
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(text: &[u8], most: usize) -> (String, bool) {
        let (mut limited, exceeded) = LineLimitedReader::new(text, most);
        let mut read = String::new();
        limited.read_to_string(&mut read).await.unwrap();
        (read, exceeded.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn lines_within_the_limit_pass() {
        assert_eq!(read(b"abc\ndef\nghi", 3).await, ("abc\ndef\nghi".to_owned(), false));
    }

    #[tokio::test]
    async fn line_beyond_the_limit_ends_the_input() {
        assert_eq!(read(b"abc\ndefg\nhi", 3).await, (String::new(), true));
    }

    #[tokio::test]
    async fn length_of_a_line_in_pieces_is_added_up() {
        let pieces: &[&[u8]] = &[b"ab", b"c\nde", b"fg", b"\n"];
        let (first, rest) = pieces.split_first().unwrap();
        let text = first.chain(rest[0]).chain(rest[1]).chain(rest[2]);
        let (mut limited, exceeded) = LineLimitedReader::new(text, 3);
        let mut read = String::new();
        limited.read_to_string(&mut read).await.unwrap();
        assert_eq!((read.as_str(), exceeded.load(Ordering::Relaxed)), ("abc\nde", true));
    }
}
