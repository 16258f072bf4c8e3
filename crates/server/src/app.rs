//! The state that every handler can reach, and the limits of the server.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use engine::Engine;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use crate::connection::ConnectionLimits;
use crate::frames::Unfinished;
use crate::front::Front;
use crate::replies::Replies;
use crate::sign_ins::SignIns;
use crate::sse::StreamSlots;
use crate::strangers::Strangers;

/// Limits on the use of a node by callers.
#[derive(Debug, Clone)]
pub struct ServerLimits {
    /// Maximum size of a body in bytes.
    pub body_bytes: usize,
    /// Requests per second that one key may send to this node; a burst may be twice as large. Unlimited if absent.
    pub rate: Option<NonZeroU32>,
    /// Bytes of replies that one key or person may have in flight on this node.
    pub key_reply_bytes: u64,
    /// Bytes of replies that one tenant may have in flight on this node.
    pub tenant_reply_bytes: u64,
    /// Streams and sockets that may be open on this node.
    pub streams: usize,
    /// Streams and sockets of one key or one signed-in person.
    pub key_streams: usize,
    /// Streams and sockets of one tenant.
    pub tenant_streams: usize,
    /// Bytes of unfinished messages and request bodies of one key or person.
    pub key_unfinished_bytes: usize,
    /// Bytes of unfinished messages and request bodies of one tenant.
    pub tenant_unfinished_bytes: usize,
    /// Invalid credentials that one address may send per minute.
    pub address_attempts: u32,
    /// Limits on open connections.
    pub connections: ConnectionLimits,
    /// Interval of pings on sockets and of heartbeats on idle streams. A socket that is silent for three intervals is
    /// closed.
    pub heartbeat: Duration,
    /// Whether all requests come through a proxy that appends the client address to `X-Forwarded-For`.
    pub behind_proxy: bool,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            body_bytes: 1024 * 1024,
            rate: NonZeroU32::new(5000),
            key_reply_bytes: 32 << 20,
            tenant_reply_bytes: 64 << 20,
            streams: 50_000,
            key_streams: 1000,
            tenant_streams: 5000,
            key_unfinished_bytes: 8 * 1024 * 1024,
            tenant_unfinished_bytes: 64 * 1024 * 1024,
            address_attempts: 120,
            connections: ConnectionLimits::default(),
            heartbeat: Duration::from_secs(15),
            behind_proxy: false,
        }
    }
}

/// State that every handler can reach. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The use cases that handlers call.
    pub engine: Engine,
    pub(crate) limits: ServerLimits,
    pub(crate) front: Front,
    /// Rate limits, by credential.
    pub(crate) rates: Option<DefaultKeyedRateLimiter<Uuid>>,
    pub(crate) sign_ins: SignIns,
    pub(crate) replies: Replies,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) streams: StreamSlots,
    pub(crate) unfinished: Arc<Unfinished>,
    pub(crate) strangers: Strangers,
    /// Time of the last count of open questions, and how long it took.
    pub(crate) counted: tokio::sync::Mutex<Option<(Instant, Duration)>>,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Creates the state of a server. `stopping` turns true when the server begins to stop.
    #[must_use]
    pub fn new(
        engine: Engine,
        limits: ServerLimits,
        front: Front,
        metrics: PrometheusHandle,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let quota = |rate: NonZeroU32| Quota::per_second(rate).allow_burst(rate.saturating_mul(TWICE));
        let rates = limits.rate.map(|rate| RateLimiter::keyed(quota(rate)));
        let streams = StreamSlots::new(&limits);
        let unfinished = Arc::new(Unfinished::new(limits.key_unfinished_bytes, limits.tenant_unfinished_bytes));
        let strangers = Strangers::new(limits.address_attempts);
        let counted = tokio::sync::Mutex::default();
        let sign_ins = SignIns::default();
        let replies = Replies::new(limits.key_reply_bytes, limits.tenant_reply_bytes);
        Self(Arc::new(Parts {
            engine,
            limits,
            front,
            rates,
            sign_ins,
            replies,
            metrics,
            stopping,
            streams,
            unfinished,
            strangers,
            counted,
        }))
    }

    /// Completes when the server begins to stop, so that long polls reply with the current state.
    pub async fn stops(&self) {
        let mut stopping = self.stopping.clone();
        // A dropped sender counts as stopping.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);
