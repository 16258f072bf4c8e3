//! Splits the bytes of an answer into server-sent events, with limits on silence and size.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use eventsource_stream::{EventStreamError, Eventsource};
use futures::stream::{BoxStream, Stream, StreamExt, TryStreamExt, try_unfold};
use tokio::time::timeout;

use super::fault::Fault;

/// Largest answer in bytes: a turn of 128,000 tokens with one event each.
const MAX_ANSWER: usize = 64 << 20;
/// Largest event, in bytes.
const MAX_EVENT: usize = 2 << 20;
/// Largest error body that is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// Body of an answer.
pub(super) type Body = BoxStream<'static, Result<Bytes, Fault>>;

/// Data of each event. The stream ends with the body, even if the provider had more to send.
pub(super) fn events(body: Body, idle: Duration) -> impl Stream<Item = Result<String, Fault>> + Send {
    let lines = Lines { body, idle, buffer: BytesMut::new(), scanned: 0, answer: 0, event: 0 };
    try_unfold(lines, |mut lines| async move { Ok(lines.next().await?.map(|line| (line, lines))) })
        .eventsource()
        .map_ok(|event| event.data)
        .map_err(|error| match error {
            EventStreamError::Transport(fault) => fault,
            EventStreamError::Utf8(_) | EventStreamError::Parser(_) => {
                Fault::again("the provider's reply is not an event stream")
            }
        })
}

/// Beginning of an error body, as far as it could be read.
pub(super) async fn beginning(mut body: Body, idle: Duration) -> Vec<u8> {
    let mut text = Vec::new();
    while let Ok(Some(Ok(bytes))) = timeout(idle, body.next()).await {
        let room = MAX_ERROR - text.len();
        text.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if text.len() == MAX_ERROR {
            break;
        }
    }
    text
}

/// Fault of a provider that sent nothing for too long.
pub(super) fn silence(idle: Duration) -> Fault {
    Fault::again(format!("the provider was silent for {} seconds", idle.as_secs_f32()))
}

/// Splits the body into whole lines. The event parser rescans its buffer with each piece, so a long event in small
/// pieces would cost quadratic time.
struct Lines {
    body: Body,
    idle: Duration,
    buffer: BytesMut,
    scanned: usize,
    answer: usize,
    event: usize,
}

impl Lines {
    async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            if let Some(end) = self.buffer.iter().skip(self.scanned).position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.scanned + end + 1).freeze();
                self.scanned = 0;
                self.event = if matches!(&line[..], b"\n" | b"\r\n") { 0 } else { self.event + line.len() };
                if self.event > MAX_EVENT {
                    return Err(Self::too_large(MAX_EVENT));
                }
                return Ok(Some(line));
            }
            self.scanned = self.buffer.len();
            if self.event + self.buffer.len() > MAX_EVENT {
                return Err(Self::too_large(MAX_EVENT));
            }
            let Some(bytes) = timeout(self.idle, self.body.next()).await.map_err(|_| silence(self.idle))? else {
                return Ok(None);
            };
            let bytes = bytes?;
            self.answer += bytes.len();
            if self.answer > MAX_ANSWER {
                return Err(Self::too_large(MAX_ANSWER));
            }
            self.buffer.extend_from_slice(&bytes);
        }
    }

    fn too_large(limit: usize) -> Fault {
        Fault::refused(format!("the provider's reply, or one event of it, is larger than {limit} bytes"))
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;

    const IDLE: Duration = Duration::from_secs(5);

    fn body(pieces: Vec<Vec<u8>>) -> Body {
        stream::iter(pieces).map(|piece| Ok(Bytes::from(piece))).boxed()
    }

    async fn read(pieces: Vec<Vec<u8>>) -> Result<Vec<String>, Fault> {
        events(body(pieces), IDLE).try_collect().await
    }

    #[tokio::test]
    async fn events_do_not_depend_on_chunk_boundaries() {
        let text = ": hello\r\n\r\nevent: a\r\ndata: {\"ä\":\r\ndata: 1}\r\n\r\ndata: größer\n\ndata: lost".as_bytes();
        for size in 1..text.len() {
            let pieces = text.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(read(pieces).await.unwrap(), ["{\"ä\":\n1}", "größer"], "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn endless_event_is_refused_with_or_without_line_breaks() {
        let endless = stream::repeat_with(|| Ok(Bytes::from(vec![b'x'; 65_536]))).boxed();
        let fault = events(endless, IDLE).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(matches!(fault, Fault::Refused(_)), "{fault:?}");
        let lines = stream::repeat_with(|| Ok(Bytes::from_static(b"data: xxxxxxxxxxxxxxxx\n"))).boxed();
        let fault = events(lines, IDLE).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(matches!(fault, Fault::Refused(_)), "{fault:?}");
    }

    #[tokio::test]
    async fn endless_response_is_refused() {
        let endless =
            stream::repeat_with(|| Ok(Bytes::from([&b": "[..], &vec![b'x'; 65_536][..], b"\n\n"].concat()))).boxed();
        let fault = events(endless, IDLE).try_collect::<Vec<_>>().await.unwrap_err();
        assert!(matches!(fault, Fault::Refused(_)), "{fault:?}");
        let endless = stream::repeat_with(|| Ok(Bytes::from_static(b"<html>"))).boxed();
        assert_eq!(beginning(endless, IDLE).await.len(), MAX_ERROR);
    }

    #[tokio::test]
    async fn invalid_utf8_is_an_error() {
        assert!(matches!(read(vec![b"data: \xff\xfe\n\n".to_vec()]).await, Err(Fault::Again { .. })));
    }
}
