//! The output of a command, shortened to its beginning and end.

use std::collections::VecDeque;

use engine::{Redactor, StreamRedactor};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::cut;

/// Largest number of bytes shown of one stream.
const SHOWN: usize = 64 << 10;

/// One stream of a command. Secrets are removed before anything is kept.
#[derive(Debug)]
pub(super) struct Output {
    hiding: StreamRedactor,
    kept: BothEnds,
}

impl Output {
    pub(super) fn new(secrets: Redactor) -> Self {
        Self { hiding: StreamRedactor::new(secrets), kept: BothEnds::default() }
    }

    /// Reads to the end of the stream. Output read so far is kept when this future is dropped.
    pub(super) async fn read(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 16 << 10];
        // A read error counts as the end of the stream.
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let kept = &mut self.kept;
            self.hiding.push(&buffer[..count], &mut |bytes| kept.push(bytes));
        }
    }

    /// The text, and whether it was cut.
    pub(super) fn finish(mut self) -> (String, bool) {
        let kept = &mut self.kept;
        self.hiding.finish(&mut |bytes| kept.push(bytes));
        self.kept.text()
    }
}

/// Beginning and end of a long stream.
#[derive(Debug, Default)]
struct BothEnds {
    beginning: Vec<u8>,
    end: VecDeque<u8>,
    total: u64,
}

impl BothEnds {
    fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(SHOWN / 2 - self.beginning.len()));
        self.beginning.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(SHOWN / 2)..];
        let over = (self.end.len() + rest.len()).saturating_sub(SHOWN / 2);
        self.end.drain(..over);
        self.end.extend(rest);
    }

    fn text(self) -> (String, bool) {
        let shown = (self.beginning.len() + self.end.len()) as u64;
        let end: Vec<u8> = self.end.into();
        if shown == self.total {
            let whole = [self.beginning, end].concat();
            return (String::from_utf8_lossy(&whole).into_owned(), false);
        }
        let (beginning, end) = (String::from_utf8_lossy(&self.beginning), String::from_utf8_lossy(&end).into_owned());
        (format!("{beginning}\n{}\n{end}", cut::mark(shown, self.total, "bytes")), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&[u8]]) -> (String, bool) {
        let mut kept = BothEnds::default();
        pieces.iter().for_each(|piece| kept.push(piece));
        kept.text()
    }

    #[test]
    fn short_output_is_kept_whole() {
        let long = vec![b'x'; SHOWN];
        assert_eq!(kept(&[&long]), ("x".repeat(SHOWN), false));
        assert_eq!(kept(&[b"a", b"", b"b"]), ("ab".to_owned(), false));
    }

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        let half = SHOWN / 2;
        let expected = format!("{}\n[cut: 65,536 of 65,538 bytes shown]\n{}z", "x".repeat(half), "y".repeat(half - 1));
        let (first, second) = (vec![b'x'; half], vec![b'y'; half + 1]);
        assert_eq!(kept(&[&first, &second, b"z"]), (expected.clone(), true));
        let whole = [first, second, b"z".to_vec()].concat();
        assert_eq!(kept(&[&whole]), (expected, true));
    }
}
