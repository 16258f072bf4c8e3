//! Counts the bytes of unfinished WebSocket messages before the WebSocket library buffers them.
//!
//! The library refuses a message that is too large only at its last fragment, and does not know other sockets. This
//! module parses the heads of frames as the bytes pass: a message that announces too many bytes is refused at that
//! head, and the bytes of unfinished messages are taken from budgets of the key and of the tenant.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use domain::{Caller, Credential, Limit, Refusal, TenantId};
use engine::{Slot, Slots};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::error::ApiError;

/// Unit in which budgets are counted. A remainder below it is not counted.
const UNIT: usize = 4096;
/// Maximum length of the head of a frame.
const LONGEST_HEAD: usize = 14;

/// Budgets of the bytes of unfinished messages.
pub(crate) struct Unfinished {
    keys: Slots<(TenantId, Credential)>,
    tenants: Slots<TenantId>,
}

impl Unfinished {
    pub(crate) fn new(key_bytes: usize, tenant_bytes: usize) -> Self {
        Self { keys: Slots::new(key_bytes.div_ceil(UNIT)), tenants: Slots::new(tenant_bytes.div_ceil(UNIT)) }
    }

    /// Acquires budget for bytes of a body that is still arriving.
    pub(crate) fn acquire_bytes(
        &self,
        (tenant, credential): (TenantId, Credential),
        bytes: usize,
    ) -> Result<[Slot; 2], Refusal> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        self.acquire(tenant, credential, units).map_err(|excess| self.refusal(excess))
    }

    fn refusal(&self, excess: Excess) -> Refusal {
        let (limit, units) = match excess {
            Excess::Tenant => (Limit::TenantUnfinishedBytes, self.tenants.most()),
            Excess::Key | Excess::Message => (Limit::KeyUnfinishedBytes, self.keys.most()),
        };
        Refusal::LimitReached { limit, max: units.saturating_mul(UNIT) as u64 }
    }

    fn acquire(&self, tenant: TenantId, credential: Credential, units: u32) -> Result<[Slot; 2], Excess> {
        let of_key = self.keys.acquire_many((tenant, credential), units).ok_or(Excess::Key)?;
        let of_tenant = self.tenants.acquire_many(tenant, units).ok_or(Excess::Tenant)?;
        Ok([of_key, of_tenant])
    }
}

/// Limit that a socket has exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Excess {
    /// One message is too large.
    Message = 1,
    /// The unfinished messages of the key are too large.
    Key = 2,
    /// The unfinished messages of the tenant are too large.
    Tenant = 3,
}

/// Limit that a stream has exceeded. The reader of its messages reports it.
#[derive(Clone)]
pub(crate) struct Meter {
    excess: Arc<AtomicU8>,
    budgets: Arc<Unfinished>,
    most: usize,
}

impl Meter {
    pub(crate) fn excess(&self) -> Option<Excess> {
        [Excess::Message, Excess::Key, Excess::Tenant]
            .into_iter()
            .find(|one| *one as u8 == self.excess.load(Ordering::Relaxed))
    }

    /// The refusal for an exceeded limit.
    pub(crate) fn error(&self, excess: Excess) -> ApiError {
        match excess {
            Excess::Message => ApiError::BodyTooLarge(self.most),
            Excess::Key | Excess::Tenant => self.budgets.refusal(excess).into(),
        }
    }
}

/// A stream of frames. Reading fails when a limit is exceeded.
pub(crate) struct Metered<S> {
    stream: S,
    frames: Frames,
    holder: (TenantId, Credential),
    held: Vec<[Slot; 2]>,
    units: usize,
    meter: Meter,
}

impl<S> Metered<S> {
    /// Wraps a stream of a caller whose messages may have `most` bytes.
    pub(crate) fn new(stream: S, caller: &Caller, budgets: Arc<Unfinished>, most: usize) -> Self {
        let meter = Meter { excess: Arc::default(), budgets, most };
        let holder = (caller.scope.tenant, caller.credential);
        Self { stream, frames: Frames::new(most), holder, held: Vec::new(), units: 0, meter }
    }

    pub(crate) fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// Reads and discards the remaining bytes: closing the connection with unread bytes would lose the last message to
    /// the client.
    pub(crate) async fn spill(&mut self)
    where
        S: AsyncRead + Unpin,
    {
        let mut passed = [0; UNIT];
        while let Ok(1..) = self.stream.read(&mut passed).await {}
    }

    fn count(&mut self, bytes: &[u8]) -> Result<(), Excess> {
        let unfinished = self.frames.read(bytes).map_err(|TooLarge| Excess::Message)?;
        let units = unfinished / UNIT;
        if units < self.units {
            self.held.clear();
            self.units = 0;
        }
        if units > self.units {
            let (tenant, credential) = self.holder;
            let more = u32::try_from(units - self.units).unwrap_or(u32::MAX);
            self.held.push(self.meter.budgets.acquire(tenant, credential, more)?);
            self.units = units;
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, into);
        if matches!(polled, Poll::Ready(Ok(())))
            && let Err(excess) = self.count(&into.filled()[before..])
        {
            into.set_filled(before);
            self.meter.excess.store(excess as u8, Ordering::Relaxed);
            return Poll::Ready(Err(io::Error::other("a limit of unfinished messages was reached")));
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The message exceeds its size limit.
#[derive(Debug, PartialEq, Eq)]
struct TooLarge;

/// State of a parser of RFC 6455 frames.
struct Frames {
    most: u64,
    /// Bytes of an incomplete frame head.
    head: [u8; LONGEST_HEAD],
    filled: usize,
    /// Remaining bytes of the frame, and whether it is the last of its message; `None` within a head.
    frame: Option<Frame>,
    /// Announced and received bytes of the unfinished message.
    announced: u64,
    arrived: u64,
}

struct Frame {
    left: u64,
    last: bool,
    control: bool,
}

impl Frames {
    fn new(most: usize) -> Self {
        Self { most: most as u64, head: [0; LONGEST_HEAD], filled: 0, frame: None, announced: 0, arrived: 0 }
    }

    /// Parses more bytes and returns the number of bytes of the unfinished message.
    fn read(&mut self, mut bytes: &[u8]) -> Result<usize, TooLarge> {
        loop {
            if let Some(frame) = &mut self.frame {
                let here = frame.left.min(bytes.len() as u64);
                frame.left -= here;
                if !frame.control {
                    self.arrived += here;
                }
                bytes = bytes.get(usize::try_from(here).unwrap_or(usize::MAX)..).unwrap_or_default();
                if frame.left > 0 {
                    break;
                }
                if frame.last && !frame.control {
                    (self.announced, self.arrived) = (0, 0);
                }
                self.frame = None;
            } else {
                let Some((first, rest)) = bytes.split_first() else { break };
                self.head[self.filled] = *first;
                self.filled += 1;
                bytes = rest;
                self.head_read()?;
            }
        }
        Ok(usize::try_from(self.arrived).unwrap_or(usize::MAX))
    }

    /// Starts a frame once its head is complete.
    fn head_read(&mut self) -> Result<(), TooLarge> {
        let head = &self.head[..self.filled];
        let &[first, second, ..] = head else { return Ok(()) };
        let mask = if second & 0x80 == 0 { 0 } else { 4 };
        let (extended, length) = match second & 0x7f {
            126 => (2, head.get(2..4).map(|bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))),
            127 => (8, head.get(2..10).map(|bytes| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))),
            short => (0, Some(u64::from(short))),
        };
        let Some(length) = length.filter(|_| head.len() == 2 + extended + mask) else { return Ok(()) };
        let control = first & 0x08 != 0;
        if !control {
            self.announced = self.announced.saturating_add(length);
        }
        if self.announced > self.most {
            return Err(TooLarge);
        }
        self.filled = 0;
        self.frame = Some(Frame { left: length, last: first & 0x80 != 0, control });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: u8 = 1;
    const CONTINUED: u8 = 0;
    const PING: u8 = 9;
    const LAST: u8 = 0x80;

    fn frame(first: u8, length: usize) -> Vec<u8> {
        let mut bytes = vec![first];
        match length {
            0..126 => bytes.push(0x80 | u8::try_from(length).unwrap()),
            126..65536 => {
                bytes.push(0x80 | 0x7e);
                bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes.extend(vec![b'x'; length]);
        bytes
    }

    /// The result does not depend on how the bytes are split into reads.
    fn check(frames: &[Vec<u8>], expected: Result<usize, TooLarge>) {
        let bytes = frames.concat();
        for size in [1, 3, 100, bytes.len()] {
            let mut reader = Frames::new(100_000);
            let read = bytes.chunks(size).try_fold(0, |_, bytes| reader.read(bytes));
            assert_eq!(read, expected, "in pieces of {size} bytes");
        }
    }

    #[test]
    fn only_bytes_of_unfinished_messages_are_counted() {
        check(&[frame(LAST | TEXT, 70_000), frame(LAST | TEXT, 100_000), frame(LAST | PING, 100)], Ok(0));
        check(&[frame(TEXT, 300)], Ok(300));
        check(&[frame(TEXT, 300), frame(LAST | PING, 5), frame(CONTINUED, 70_000)], Ok(70_300));
        check(&[frame(TEXT, 300), frame(LAST | CONTINUED, 0)], Ok(0));
        check(&[frame(LAST | TEXT, 70_000)[..5000].to_vec()], Ok(5000 - 14));
        check(&[frame(TEXT, 0), frame(CONTINUED, 0)], Ok(0));
    }

    #[test]
    fn message_is_refused_at_the_frame_head_that_exceeds_the_limit() {
        check(&[frame(LAST | TEXT, 100_001)], Err(TooLarge));
        check(&[frame(TEXT, 100_000), frame(CONTINUED, 1)[..6].to_vec()], Err(TooLarge));
        check(&[frame(TEXT, 60_000), frame(CONTINUED, 40_000)], Ok(100_000));
        let mut endless = vec![TEXT, 0xff];
        endless.extend([0xff; 8]);
        endless.extend([0; 4]);
        check(&[endless], Err(TooLarge));
    }
}
