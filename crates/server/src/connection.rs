//! One connection: whether there is room for it, and its end where nobody reads what is sent.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::Limit;
use engine::{Slot, Slots};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How many connections there may be, and how long one may be stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// In all.
    pub all: usize,
    /// In all on which nobody has shown a good credential yet.
    pub strangers: usize,
    /// The same from one address; from one /64 with IPv6. Addresses of the machine itself, and a proxy, have no such limit.
    pub address: usize,
    /// How long a connection may take nothing of what is sent to it before it is closed.
    pub write_time: Duration,
    /// Whether all connections come from a proxy, so that their address says nothing.
    pub behind_proxy: bool,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let write_time = Duration::from_secs(30);
        Self { all: 60_000, strangers: 10_000, address: 1024, write_time, behind_proxy: false }
    }
}

/// What callers without a credential are counted by: an IPv4 address, or the /64 that one subscriber has with IPv6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Network(pub(crate) IpAddr);

impl Network {
    pub(crate) fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }
}

/// The room that there is for connections.
pub(crate) struct Room {
    limits: ConnectionLimits,
    all: Slots<()>,
    strangers: Slots<()>,
    addresses: Slots<Network>,
}

impl Room {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        let ConnectionLimits { all, strangers, address, .. } = limits;
        Self { limits, all: Slots::new(all), strangers: Slots::new(strangers), addresses: Slots::new(address) }
    }

    pub(crate) fn write_time(&self) -> Duration {
        self.limits.write_time
    }

    /// A place for one more connection, or the limit that is reached.
    pub(crate) fn admit(&self, peer: SocketAddr) -> Result<(Slot, Newcomer), Limit> {
        let place = self.all.take(()).ok_or(Limit::NodeConnections)?;
        let stranger = self.strangers.take(()).ok_or(Limit::StrangerConnections)?;
        let local = peer.ip().to_canonical().is_loopback();
        let of_address = match local || self.limits.behind_proxy {
            true => None,
            false => Some(self.addresses.take(Network::of(peer.ip())).ok_or(Limit::AddressConnections)?),
        };
        let places = StrangersPlaces { _of_all: stranger, _of_address: of_address };
        Ok((place, Newcomer(Arc::new(Mutex::new(Some(places))))))
    }
}

/// The places of strangers that a connection takes until somebody on it shows a good credential.
#[derive(Clone)]
pub(crate) struct Newcomer(Arc<Mutex<Option<StrangersPlaces>>>);

struct StrangersPlaces {
    _of_all: Slot,
    _of_address: Option<Slot>,
}

impl Newcomer {
    /// Whoever is at the other end is known now.
    pub(crate) fn is_known(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// A stream that fails when nothing of what is written to it goes anywhere for too long: its reader holds memory and a place.
pub(crate) struct Guarded<S> {
    stream: S,
    longest: Duration,
    stuck: Option<Pin<Box<Sleep>>>,
    /// Its place among the connections, also where it has become a WebSocket.
    _place: Option<Slot>,
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S, longest: Duration, place: Option<Slot>) -> Self {
        Self { stream, longest, stuck: None, _place: place }
    }

    /// Lets time pass while nothing can be written, and begins anew whenever something was.
    fn watched<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stuck = None;
            return written;
        }
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(sleep(self.longest)));
        match stuck.as_mut().poll(context) {
            Poll::Ready(()) => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other side does not read")))
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watched(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.watched(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// A socket has nothing to flush, so that this says nothing of progress.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn network(text: &str) -> Network {
        Network::of(text.parse().unwrap())
    }

    #[test]
    fn an_ipv6_network_is_one_caller_and_a_mapped_address_is_ipv4() {
        assert_eq!(network("2001:db8:1:2:3::4"), network("2001:db8:1:2:ffff::"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }

    #[test]
    fn strangers_have_few_places_until_they_are_known() {
        let room = Room::new(ConnectionLimits { all: 5, strangers: 3, address: 2, ..ConnectionLimits::default() });
        let from = |text: &str| room.admit(text.parse().unwrap());
        let (_first, first) = from("192.0.2.1:1").ok().unwrap();
        let _second = from("192.0.2.1:2").ok().unwrap();
        assert_eq!(from("192.0.2.1:3").err(), Some(Limit::AddressConnections));
        let _other = from("192.0.2.2:1").ok().unwrap();
        assert_eq!(from("192.0.2.3:1").err(), Some(Limit::StrangerConnections));
        first.is_known();
        let (_third, third) = from("192.0.2.1:3").ok().unwrap();
        third.is_known();
        let (_local, local) = from("127.0.0.1:1").ok().unwrap();
        local.is_known();
        assert_eq!(from("127.0.0.1:2").err(), Some(Limit::NodeConnections));
    }

    #[test]
    fn the_machine_itself_and_a_proxy_are_not_counted_by_address() {
        let limits = ConnectionLimits { address: 1, ..ConnectionLimits::default() };
        let (near, proxied) = (Room::new(limits), Room::new(ConnectionLimits { behind_proxy: true, ..limits }));
        let local: Vec<_> = (1..4).map(|port| near.admit(([127, 0, 0, 1], port).into())).collect();
        let through_proxy: Vec<_> = (1..4).map(|port| proxied.admit(([192, 0, 2, 1], port).into())).collect();
        assert!(local.iter().chain(&through_proxy).all(Result::is_ok));
    }

    /// Whoever takes anything at all is waited for; whoever takes nothing for too long is not.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let (near, mut far) = duplex(4);
        let mut near = Guarded::new(near, Duration::from_secs(30), None);
        let reading = async {
            let mut taken = [0; 4];
            for _ in 0..2 {
                sleep(Duration::from_secs(29)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(near.write_all(b"abcdefghijkl"), reading);
        assert!(written.is_ok(), "58 seconds, but never 30 without progress");
        let (near, _far) = duplex(4);
        let mut near = Guarded::new(near, Duration::from_secs(30), None);
        assert_eq!(near.write_all(b"abcdefgh").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
