//! What every handler can reach.

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

/// What callers may not exceed.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The largest body, in bytes.
    pub body_bytes: usize,
    /// How many requests a second one key may send to this node; twice as many in a burst. Unlimited if absent.
    pub rate: Option<NonZeroU32>,
    /// How many bytes of replies one key or person may have under way at this node.
    pub key_reply_bytes: u64,
    /// How many bytes of replies one tenant may have under way at this node.
    pub tenant_reply_bytes: u64,
    /// How many streams and sockets may be open at this node.
    pub streams: usize,
    /// How many of them one key, or one person who has signed in, may have.
    pub key_streams: usize,
    /// How many everybody of one tenant may have.
    pub tenant_streams: usize,
    /// Bytes of unfinished messages on all sockets of one key or person.
    pub key_unfinished_bytes: usize,
    /// How many bytes of unfinished messages all sockets of one tenant may have.
    pub tenant_unfinished_bytes: usize,
    /// How many credentials that are not good one address may send in a minute.
    pub address_attempts: u32,
    /// How many connections there may be, and how long one may be stuck.
    pub connections: ConnectionLimits,
    /// How often a socket, or a stream that is silent, shows that it lives. A socket that is silent for three times as long has ended.
    pub heartbeat: Duration,
    /// Whether all requests come through a proxy whose last word in `X-Forwarded-For` is where they come from.
    pub behind_proxy: bool,
}

impl Default for Limits {
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

/// What every handler can reach. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The use cases that handlers call.
    pub engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) front: Front,
    /// By credential.
    pub(crate) rates: Option<DefaultKeyedRateLimiter<Uuid>>,
    pub(crate) sign_ins: SignIns,
    pub(crate) replies: Replies,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) streams: StreamSlots,
    pub(crate) unfinished: Arc<Unfinished>,
    pub(crate) strangers: Strangers,
    /// When the open questions were last counted, and how long that took.
    pub(crate) counted: tokio::sync::Mutex<Option<(Instant, Duration)>>,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Puts the wire on an engine. `stopping` turns true when the server begins to stop.
    #[must_use]
    pub fn new(
        engine: Engine,
        limits: Limits,
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

    /// Turns ready when the server begins to stop: whoever waits is told what there is now.
    pub async fn stops(&self) {
        let mut stopping = self.stopping.clone();
        // A sender that is gone has stopped too.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

const TWICE: NonZeroU32 = NonZeroU32::MIN.saturating_add(1);
