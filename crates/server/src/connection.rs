//! Limits on connections, and the end of a connection whose reader takes nothing.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use domain::{Caller, Credential, Limit, Refusal, TenantId};
use engine::{Slot, Slots};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Limits on open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Maximum number of connections.
    pub all: usize,
    /// Maximum number of connections without an authenticated request.
    pub strangers: usize,
    /// Maximum number of unauthenticated connections from one IPv4 address or IPv6 /64 network. Loopback addresses and a proxy are not limited.
    pub address: usize,
    /// Maximum number of connections on which the last request came from one key or one signed-in person.
    pub key: usize,
    /// Maximum number of connections on which the last request came from one tenant.
    pub tenant: usize,
    /// Time after which a connection is closed if its reader takes no bytes.
    pub write_time: Duration,
    /// Whether all connections come from a proxy, so that their addresses are not counted.
    pub behind_proxy: bool,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let write_time = Duration::from_secs(30);
        let (key, tenant) = (4096, 8192);
        Self { all: 60_000, strangers: 4096, address: 1024, key, tenant, write_time, behind_proxy: false }
    }
}

/// Network by which unauthenticated clients are counted: an IPv4 address, or the IPv6 /64 of one subscriber.
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

/// Slots of open connections, counted by caller and address.
pub(crate) struct ConnectionPool {
    limits: ConnectionLimits,
    all: Slots<()>,
    strangers: Slots<()>,
    addresses: Slots<Network>,
    holders: Arc<CallerSlots>,
}

/// Slots of authenticated callers.
struct CallerSlots {
    keys: Slots<(TenantId, Credential)>,
    tenants: Slots<TenantId>,
}

impl ConnectionPool {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        let ConnectionLimits { all, strangers, address, key, tenant, .. } = limits;
        let holders = Arc::new(CallerSlots { keys: Slots::new(key), tenants: Slots::new(tenant) });
        let (all, strangers, addresses) = (Slots::new(all), Slots::new(strangers), Slots::new(address));
        Self { limits, all, strangers, addresses, holders }
    }

    pub(crate) fn write_time(&self) -> Duration {
        self.limits.write_time
    }

    /// Takes the slots of a new connection, or returns the limit that is reached.
    pub(crate) fn admit(&self, peer: SocketAddr) -> Result<ConnectionSlots, Limit> {
        let of_node = self.all.acquire(()).ok_or(Limit::NodeConnections)?;
        let stranger = self.strangers.acquire(()).ok_or(Limit::StrangerConnections)?;
        let local = peer.ip().to_canonical().is_loopback();
        let of_address = if local || self.limits.behind_proxy {
            None
        } else {
            Some(self.addresses.acquire(Network::of(peer.ip())).ok_or(Limit::AddressConnections)?)
        };
        let held = CountedCaller::ByStranger { _of_all: stranger, _of_address: of_address };
        Ok(ConnectionSlots {
            _of_node: Arc::new(of_node),
            holders: Arc::clone(&self.holders),
            held: Arc::new(Mutex::new(held)),
        })
    }
}

/// Slots that one connection holds. Clones belong to the same connection; dropping the last one releases the slots.
#[derive(Clone)]
pub(crate) struct ConnectionSlots {
    _of_node: Arc<Slot>,
    holders: Arc<CallerSlots>,
    held: Arc<Mutex<CountedCaller>>,
}

/// Caller that a connection counts for.
enum CountedCaller {
    /// No authenticated request yet.
    ByStranger { _of_all: Slot, _of_address: Option<Slot> },
    /// The last request came from a key or person.
    By { holder: (TenantId, Credential), _of_key: Slot, _of_tenant: Slot },
    /// The sender of the last request has too many connections: this one is closed after its reply.
    Refused,
}

impl ConnectionSlots {
    /// Counts the connection for this caller from now on, unless the caller or their tenant has too many.
    pub(crate) fn count_for(&self, caller: &Caller) -> Result<(), Refusal> {
        let holder = (caller.scope.tenant, caller.credential);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*held, CountedCaller::By { holder: known, .. } if *known == holder) {
            return Ok(());
        }
        // The old slot is released first: the connection must not count twice for one tenant.
        *held = CountedCaller::Refused;
        let CallerSlots { keys, tenants } = &*self.holders;
        let full = |limit: Limit, max: usize| Refusal::LimitReached { limit, max: max as u64 };
        let of_key = keys.acquire(holder).ok_or_else(|| full(Limit::KeyConnections, keys.most()))?;
        let of_tenant = tenants.acquire(holder.0).ok_or_else(|| full(Limit::TenantConnections, tenants.most()))?;
        *held = CountedCaller::By { holder, _of_key: of_key, _of_tenant: of_tenant };
        Ok(())
    }

    /// Whether the connection is closed after its reply.
    pub(crate) fn are_refused(&self) -> bool {
        matches!(&*self.held.lock().unwrap_or_else(PoisonError::into_inner), CountedCaller::Refused)
    }
}

/// A stream that fails when no written byte is taken for too long, because a stuck reader holds memory and a slot.
pub(crate) struct Guarded<S> {
    stream: S,
    longest: Duration,
    stuck: Option<Pin<Box<Sleep>>>,
    /// Slots of the connection, which it keeps when it becomes a WebSocket.
    _slots: Option<ConnectionSlots>,
}

impl<S> Guarded<S> {
    pub(crate) fn new(stream: S, longest: Duration, slots: Option<ConnectionSlots>) -> Self {
        Self { stream, longest, stuck: None, _slots: slots }
    }

    /// Runs the timeout while nothing can be written, and restarts it after each write.
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

    /// Flushing a TCP socket does nothing, so a completed flush is not progress.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use domain::{Actor, KeyId, ProjectId, Scope};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    fn network(text: &str) -> Network {
        Network::of(text.parse().unwrap())
    }

    #[test]
    fn ipv6_addresses_are_grouped_by_64_bit_prefix_and_mapped_ones_are_ipv4() {
        assert_eq!(network("2001:db8:1:2:3::4"), network("2001:db8:1:2:ffff::"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
    }

    /// The holder of a key of a tenant.
    fn caller(tenant: u128, key: u128) -> Caller {
        let uuid = uuid::Uuid::from_u128;
        let scope = Scope { tenant: TenantId::from_uuid(uuid(tenant)), project: ProjectId::from_uuid(uuid(1)) };
        let credential = Credential::Key(KeyId::from_uuid(uuid(key)));
        Caller { credential, ..Caller::worker(scope, Actor::system()) }
    }

    #[test]
    fn unauthenticated_connections_are_limited_until_they_send_a_credential() {
        let room =
            ConnectionPool::new(ConnectionLimits { all: 5, strangers: 3, address: 2, ..ConnectionLimits::default() });
        let from = |text: &str| room.admit(text.parse().unwrap());
        let first = from("192.0.2.1:1").ok().unwrap();
        let _second = from("192.0.2.1:2").ok().unwrap();
        assert_eq!(from("192.0.2.1:3").err(), Some(Limit::AddressConnections));
        let _other = from("192.0.2.2:1").ok().unwrap();
        assert_eq!(from("192.0.2.3:1").err(), Some(Limit::StrangerConnections));
        first.count_for(&caller(1, 1)).unwrap();
        let third = from("192.0.2.1:3").ok().unwrap();
        third.count_for(&caller(1, 1)).unwrap();
        let local = from("127.0.0.1:1").ok().unwrap();
        local.count_for(&caller(1, 1)).unwrap();
        assert_eq!(from("127.0.0.1:2").err(), Some(Limit::NodeConnections));
    }

    #[test]
    fn connection_counts_for_the_caller_of_its_last_request() {
        let room = ConnectionPool::new(ConnectionLimits { key: 1, tenant: 2, ..ConnectionLimits::default() });
        let connect = || room.admit(([127, 0, 0, 1], 1).into()).ok().unwrap();
        let full = |limit, max| Err(Refusal::LimitReached { limit, max });
        let [first, second, third] = [connect(), connect(), connect()];
        let stream = first.clone();
        assert_eq!(first.count_for(&caller(1, 1)), Ok(()));
        assert_eq!(first.count_for(&caller(1, 1)), Ok(()), "the caller counts once");
        assert_eq!(second.count_for(&caller(1, 1)), full(Limit::KeyConnections, 1));
        assert!(second.are_refused() && !first.are_refused());
        assert_eq!(third.count_for(&caller(1, 2)), Ok(()));
        assert_eq!(connect().count_for(&caller(1, 3)), full(Limit::TenantConnections, 2));
        assert_eq!(connect().count_for(&caller(2, 4)), Ok(()), "another tenant");
        // Another key of the same tenant on the same connection.
        assert_eq!(third.count_for(&caller(1, 3)), Ok(()));
        drop(first);
        assert_eq!(connect().count_for(&caller(1, 1)), full(Limit::KeyConnections, 1));
        drop(stream);
        assert_eq!(connect().count_for(&caller(1, 1)), Ok(()));
    }

    #[test]
    fn loopback_and_proxied_connections_are_not_limited_by_address() {
        let limits = ConnectionLimits { address: 1, ..ConnectionLimits::default() };
        let (near, proxied) =
            (ConnectionPool::new(limits), ConnectionPool::new(ConnectionLimits { behind_proxy: true, ..limits }));
        let local: Vec<_> = (1..4).map(|port| near.admit(([127, 0, 0, 1], port).into())).collect();
        let through_proxy: Vec<_> = (1..4).map(|port| proxied.admit(([192, 0, 2, 1], port).into())).collect();
        assert!(local.iter().chain(&through_proxy).all(Result::is_ok));
    }

    /// A reader that takes some bytes keeps its connection; a reader that takes none for too long loses it.
    #[tokio::test(start_paused = true)]
    async fn connection_whose_client_reads_nothing_is_closed() {
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
