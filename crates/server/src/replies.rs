//! Limits on the bytes of replies that a key or person, and a tenant, have in flight on this node.
//!
//! A reply stays in memory until its reader has taken it. A caller who requests many large replies and reads none of
//! them is refused the next one; replies to others are not affected. The reply to a command is always sent, because the
//! command was carried out: it is counted, and the next command is refused.
//!
//! A large event on a stream, or message on a socket, is counted like a reply while it waits for its reader. Where the
//! limit is reached, the stream or socket ends, and its reader reconnects from its last position.

use std::collections::HashMap;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::{Caller, Credential, Limit, ProjectId, Refusal, TenantId};
use http::Method;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::App;
use crate::error::ApiError;

/// Number of socket messages of one key or person that are handled at once. A large reply keeps its slot until it was
/// read.
const ANSWERS: usize = 64;
/// Replies up to this size are not counted.
const SMALL: u64 = 64 * 1024;
/// Size of the pieces in which a reply is handed to the connection.
const PIECE: usize = 16 * 1024;

/// Recipient of a reply, set when the caller is authenticated.
#[derive(Clone)]
pub(crate) struct Addressee {
    whose: Arc<OnceLock<Counted>>,
    /// Whether the request is a command, whose reply must be sent.
    commands: bool,
}

impl Addressee {
    /// Sets the recipient. Refuses a command of a caller whose replies in flight reach the limit.
    pub(crate) fn is(&self, caller: &Caller, replies: &Replies) -> Result<(), Refusal> {
        let counted = Counted::of(caller);
        if self.commands {
            replies.admit(&counted)?;
        }
        // A request has one caller.
        let _ = self.whose.set(counted);
        Ok(())
    }

    /// The caller of the request, once authenticated.
    pub(crate) fn caller(&self) -> Option<(TenantId, Credential)> {
        self.whose.get().map(|counted| (counted.tenant, counted.credential))
    }
}

/// Keys under which the bytes of a caller are counted.
#[derive(Debug, Clone)]
struct Counted {
    tenant: TenantId,
    key: (ProjectId, String),
    credential: Credential,
}

impl Counted {
    fn of(caller: &Caller) -> Self {
        let key = (caller.scope.project, caller.actor.asker());
        Self { tenant: caller.scope.tenant, key, credential: caller.credential }
    }
}

/// Bytes of replies in flight.
#[derive(Clone)]
pub(crate) struct Replies {
    key_bytes: u64,
    tenant_bytes: u64,
    under_way: Arc<Mutex<UnderWay>>,
}

#[derive(Default)]
struct UnderWay {
    keys: HashMap<(ProjectId, String), u64>,
    tenants: HashMap<TenantId, u64>,
    /// Slots for replies on sockets, while they are used.
    answers: HashMap<(ProjectId, String), Weak<Semaphore>>,
}

impl Replies {
    pub(crate) fn new(key_bytes: u64, tenant_bytes: u64) -> Self {
        Self { key_bytes, tenant_bytes, under_way: Arc::default() }
    }

    /// Refuses a request of a caller whose replies in flight reach the limit.
    fn admit(&self, whose: &Counted) -> Result<(), Refusal> {
        let under_way = self.under_way.lock();
        if under_way.keys.get(&whose.key).is_some_and(|bytes| *bytes >= self.key_bytes) {
            return Err(Refusal::LimitReached { limit: Limit::KeyReplyBytes, max: self.key_bytes });
        }
        if under_way.tenants.get(&whose.tenant).is_some_and(|bytes| *bytes >= self.tenant_bytes) {
            return Err(Refusal::LimitReached { limit: Limit::TenantReplyBytes, max: self.tenant_bytes });
        }
        Ok(())
    }

    /// Refuses a socket message of a caller whose replies in flight reach the limit.
    pub(crate) fn admit_caller(&self, caller: &Caller) -> Result<(), Refusal> {
        self.admit(&Counted::of(caller))
    }

    /// Counts a message to a socket, unless the limit is reached. Small messages are not counted.
    pub(crate) fn count_news(&self, caller: &Caller, bytes: usize) -> Result<Option<CountedBytes>, Refusal> {
        let bytes = bytes as u64;
        if bytes > SMALL { self.count(&Counted::of(caller), bytes).map(Some) } else { Ok(None) }
    }

    /// Waits for a slot to reply to a socket message: a key that does not read its replies delays only itself.
    pub(crate) async fn answer(&self, caller: &Caller) -> Option<ReplySlot> {
        let whose = Counted::of(caller);
        let places = {
            let answers = &mut self.under_way.lock().answers;
            let known = answers.get(&whose.key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                answers.retain(|_, places| places.strong_count() > 0);
                let places = Arc::new(Semaphore::new(ANSWERS));
                answers.insert(whose.key.clone(), Arc::downgrade(&places));
                places
            })
        };
        let place = places.acquire_owned().await.ok()?;
        Some(ReplySlot { replies: self.clone(), whose, place })
    }

    /// Counts a reply to a read, unless the limit is reached. One reply is always accepted, whatever its size.
    fn count(&self, whose: &Counted, bytes: u64) -> Result<CountedBytes, Refusal> {
        let under_way = self.under_way.lock();
        let of_key = under_way.keys.get(&whose.key).copied().unwrap_or_default();
        let of_tenant = under_way.tenants.get(&whose.tenant).copied().unwrap_or_default();
        if of_key > 0 && of_key + bytes > self.key_bytes {
            return Err(Refusal::LimitReached { limit: Limit::KeyReplyBytes, max: self.key_bytes });
        }
        if of_tenant > 0 && of_tenant + bytes > self.tenant_bytes {
            return Err(Refusal::LimitReached { limit: Limit::TenantReplyBytes, max: self.tenant_bytes });
        }
        drop(under_way);
        Ok(self.hold(whose, bytes))
    }

    /// Counts a reply that must be sent.
    fn hold(&self, whose: &Counted, bytes: u64) -> CountedBytes {
        let mut under_way = self.under_way.lock();
        *under_way.keys.entry(whose.key.clone()).or_default() += bytes;
        *under_way.tenants.entry(whose.tenant).or_default() += bytes;
        drop(under_way);
        CountedBytes { replies: self.clone(), whose: whose.clone(), bytes }
    }
}

/// A slot to reply to a socket message.
pub(crate) struct ReplySlot {
    replies: Replies,
    whose: Counted,
    place: OwnedSemaphorePermit,
}

impl ReplySlot {
    /// Counts the reply until it was sent. A small reply releases its slot at once.
    pub(crate) fn of_bytes(self, bytes: usize) -> Option<(CountedBytes, OwnedSemaphorePermit)> {
        let bytes = bytes as u64;
        (bytes > SMALL).then(|| (self.replies.hold(&self.whose, bytes), self.place))
    }
}

/// Bytes that are counted until this is dropped.
pub(crate) struct CountedBytes {
    replies: Replies,
    whose: Counted,
    bytes: u64,
}

impl Drop for CountedBytes {
    fn drop(&mut self) {
        let mut under_way = self.replies.under_way.lock();
        subtract(&mut under_way.keys, &self.whose.key, self.bytes);
        subtract(&mut under_way.tenants, &self.whose.tenant, self.bytes);
    }
}

fn subtract<K: Hash + Eq>(counts: &mut HashMap<K, u64>, key: &K, bytes: u64) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(bytes);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// Middleware that counts a reply until its reader has taken it.
pub(crate) async fn counted(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let reads = request.method() == Method::GET;
    let addressee = Addressee { whose: Arc::default(), commands: !reads };
    request.extensions_mut().insert(addressee.clone());
    let response = next.run(request).await;
    let Some(whose) = addressee.whose.get() else { return response };
    let Some(bytes) = response.body().size_hint().exact() else {
        let stream = Stream { replies: app.replies.clone(), whose: whose.clone() };
        return response.map(|body| Body::new(Counting { body, left: Bytes::new(), held: None, stream: Some(stream) }));
    };
    if bytes <= SMALL {
        return response;
    }
    let held = if reads { app.replies.count(whose, bytes) } else { Ok(app.replies.hold(whose, bytes)) };
    match held {
        Ok(held) => {
            response.map(|body| Body::new(Counting { body, left: Bytes::new(), held: Some(held), stream: None }))
        }
        Err(refusal) => ApiError::from(refusal).into_response(),
    }
}

/// A body that is counted and passed on in pieces.
struct Counting {
    body: Body,
    /// Remainder of a larger piece.
    left: Bytes,
    /// Counted bytes of the whole reply or, for a stream, of the current event.
    held: Option<CountedBytes>,
    stream: Option<Stream>,
}

/// A body of unknown length: its events are counted one by one.
struct Stream {
    replies: Replies,
    whose: Counted,
}

impl Counting {
    /// Counts an event of a stream. Breaks the connection if the limit is reached.
    fn event(&mut self, data: &Bytes) -> Result<(), axum::Error> {
        let Some(stream) = &self.stream else { return Ok(()) };
        let bytes = data.len() as u64;
        if bytes <= SMALL {
            return Ok(());
        }
        match stream.replies.count(&stream.whose, bytes) {
            Ok(held) => {
                self.held = Some(held);
                Ok(())
            }
            Err(refusal) => Err(axum::Error::new(std::io::Error::other(ApiError::from(refusal).log().title))),
        }
    }
}

impl HttpBody for Counting {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.left.is_empty() {
            if self.stream.is_some() {
                self.held = None;
            }
            match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => {
                        if let Err(refused) = self.event(&data) {
                            return Poll::Ready(Some(Err(refused)));
                        }
                        self.left = data;
                    }
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                other => return other,
            }
        }
        let piece = self.left.len().min(PIECE);
        let piece = self.left.split_to(piece);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let left = self.left.len() as u64;
        match self.body.size_hint().exact() {
            Some(rest) => SizeHint::with_exact(rest + left),
            None => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use uuid::Uuid;

    use super::*;

    fn whose(tenant: u128, name: &str) -> Counted {
        let tenant_id = TenantId::from_uuid(Uuid::from_u128(tenant));
        let key = (ProjectId::from_uuid(Uuid::from_u128(tenant)), name.to_owned());
        Counted { tenant: tenant_id, key, credential: Credential::Worker }
    }

    fn limit<T>(counted: Result<T, Refusal>) -> Option<Limit> {
        counted.err().and_then(|refusal| refusal.limit()).map(|(limit, _)| limit)
    }

    #[test]
    fn reply_bytes_in_flight_are_limited_per_key_and_tenant() {
        let replies = Replies::new(100, 150);
        let large = replies.count(&whose(1, "a"), 120).unwrap();
        assert_eq!(limit(replies.count(&whose(1, "a"), 1)), Some(Limit::KeyReplyBytes));
        assert_eq!(limit(replies.count(&whose(1, "b"), 40)), Some(Limit::TenantReplyBytes));
        let _others = (replies.count(&whose(1, "b"), 30).unwrap(), replies.count(&whose(2, "a"), 100).unwrap());
        drop(large);
        drop(replies.count(&whose(1, "a"), 100).unwrap());
        assert_eq!(replies.under_way.lock().keys.len(), 2, "a caller without replies in flight is forgotten");
    }

    #[tokio::test]
    async fn large_stream_events_are_counted_and_end_the_stream_over_the_limit() {
        let replies = Replies::new(200_000, 1_000_000);
        let event = || Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 150_000]));
        let body = Body::from_stream(futures::stream::iter([event(), event()]));
        let stream = Some(Stream { replies: replies.clone(), whose: whose(1, "a") });
        let mut counting = Counting { body, left: Bytes::new(), held: None, stream };
        let under_way = || replies.under_way.lock().keys.values().sum::<u64>();

        let mut read = 0;
        while read < 150_000 {
            read += counting.frame().await.unwrap().unwrap().into_data().unwrap().len();
            assert_eq!(under_way(), 150_000);
        }
        let others = replies.count(&whose(1, "a"), 50_000).unwrap();
        assert!(counting.frame().await.unwrap().is_ok(), "the first event is no longer counted");
        drop((counting, others));
        assert_eq!(under_way(), 0);

        let _others = replies.count(&whose(1, "a"), 100_000).unwrap();
        let body = Body::from_stream(futures::stream::iter([event()]));
        let stream = Some(Stream { replies: replies.clone(), whose: whose(1, "a") });
        let mut counting = Counting { body, left: Bytes::new(), held: None, stream };
        assert!(counting.frame().await.unwrap().is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn large_unread_replies_block_further_replies_until_they_are_read() {
        let replies = Replies::new(1 << 30, 1 << 30);
        let (tenant, project) = (TenantId::from_uuid(Uuid::nil()), ProjectId::from_uuid(Uuid::nil()));
        let caller = Caller {
            credential: Credential::Worker,
            scope: domain::Scope { tenant, project },
            role: domain::Role::Agent,
            actor: domain::Actor::system(),
            groups: Vec::new(),
            environment: domain::AgentEnvironment::default(),
            from: None,
            entry_point: domain::EntryPoint::Cli,
        };
        let mut unread = Vec::new();
        for _ in 0..ANSWERS {
            unread.push(replies.answer(&caller).await.unwrap().of_bytes(100_000).unwrap());
        }
        let waits = std::time::Duration::from_secs(1);
        assert!(tokio::time::timeout(waits, replies.answer(&caller)).await.is_err(), "all slots are taken");
        unread.pop();
        let next = replies.answer(&caller).await.unwrap();
        assert!(next.of_bytes(10).is_none());
        assert!(replies.answer(&caller).await.is_some(), "a small reply keeps no slot");
        drop(unread);
        assert!(replies.under_way.lock().keys.is_empty());
    }

    #[test]
    fn command_reply_over_the_limit_is_sent_and_the_next_request_is_refused() {
        let replies = Replies::new(100, 1000);
        let done = replies.hold(&whose(1, "a"), 300);
        assert_eq!(limit(replies.admit(&whose(1, "a"))), Some(Limit::KeyReplyBytes));
        assert_eq!(replies.admit(&whose(1, "b")), Ok(()));
        drop(done);
        assert_eq!(replies.admit(&whose(1, "a")), Ok(()));
    }
}
