//! Event streams (server-sent events). Events are pulled, so that a slow reader holds one batch in memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Credential, Event, Limit, Refusal, TenantId};
use engine::{ChannelFollower, ChannelItem, Error, ProjectFollower, SessionFollower, Slot, Slots};
use futures::stream;
use protocol::EventView;

use crate::error::ApiError;
use crate::{App, ServerLimits};

/// Source of the events of a stream.
pub enum EventSource {
    /// One session; the cursor is the number of the event.
    Session(SessionFollower),
    /// A project, by its cursor.
    Project(ProjectFollower),
    /// All sessions of a channel; the cursor is the number of the event in its session.
    Channel(ChannelFollower),
}

impl EventSource {
    /// Waits for the next events, at least one, each with its cursor.
    pub(crate) async fn next(&mut self) -> Result<Vec<(String, Event)>, Error> {
        match self {
            Self::Session(follower) => {
                let events = follower.next().await?;
                Ok(events.into_iter().map(|event| (event.seq.to_string(), event)).collect())
            }
            Self::Project(follower) => {
                let events = follower.next().await?;
                Ok(events.into_iter().map(|(cursor, event)| (cursor.to_string(), event)).collect())
            }
            Self::Channel(follower) => loop {
                // The events of a session that joined the channel come next.
                if let ChannelItem::Events(events) = follower.next().await? {
                    return Ok(events.into_iter().map(|event| (event.seq.to_string(), event)).collect());
                }
            },
        }
    }
}

/// Frames for one event.
#[derive(Default)]
pub struct Rendered {
    /// The frames, in order.
    pub frames: Vec<Frame>,
    /// Whether the stream ends after them.
    pub last: bool,
}

/// Renders the events of a stream.
pub trait EventRenderer: Send + 'static {
    /// Renders an event and its cursor.
    fn render(
        &mut self,
        app: &App,
        caller: &Caller,
        event: (String, Event),
    ) -> impl Future<Output = Result<Rendered, ApiError>> + Send;

    /// Heartbeat of an idle stream.
    fn heartbeat() -> KeepAlive {
        KeepAlive::new().text("heartbeat")
    }
}

/// The events of `/v1`.
struct PlainEvents;

impl EventRenderer for PlainEvents {
    async fn render(&mut self, _: &App, _: &Caller, (id, event): (String, Event)) -> Result<Rendered, ApiError> {
        Ok(Rendered { frames: vec![framed(id, event)], last: false })
    }
}

struct StreamSource<W> {
    app: App,
    caller: Caller,
    source: EventSource,
    renderer: W,
    batch: VecDeque<(String, Event)>,
    frames: VecDeque<Frame>,
    over: bool,
    _counted: StreamSlot,
}

/// Streams the events of `/v1` until the reader leaves or the server stops.
pub(crate) fn stream(app: &App, caller: Caller, source: EventSource) -> Result<Response, ApiError> {
    stream_events(PlainEvents, app, caller, source)
}

/// Streams events with a renderer until it ends the stream, the reader leaves or the server stops.
pub fn stream_events<W: EventRenderer>(
    renderer: W,
    app: &App,
    caller: Caller,
    source: EventSource,
) -> Result<Response, ApiError> {
    let slot = StreamSlot::one(app, &caller)?;
    let (batch, frames, over) = (VecDeque::new(), VecDeque::new(), false);
    let reader = StreamSource { app: app.clone(), caller, source, renderer, batch, frames, over, _counted: slot };
    let body = stream::unfold(reader, |mut reader| async {
        let frame = reader.frame().await?;
        Some((Ok::<_, Infallible>(frame), reader))
    });
    let mut response =
        Sse::new(Box::pin(body)).keep_alive(W::heartbeat().interval(app.limits.heartbeat)).into_response();
    // Proxies must not buffer events.
    response.headers_mut().insert("x-accel-buffering", http::HeaderValue::from_static("no"));
    Ok(response)
}

impl<W: EventRenderer> StreamSource<W> {
    async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Some(frame);
            }
            if self.over {
                return None;
            }
            if let Some(event) = self.batch.pop_front() {
                match self.renderer.render(&self.app, &self.caller, event).await {
                    Ok(Rendered { frames, last }) => {
                        self.frames = frames.into();
                        self.over = last;
                    }
                    Err(error) => return Some(self.interrupted(&error)),
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.app.stops() => {
                    return Some(self.last("stopping", "the server is stopping; connect again with Last-Event-ID"));
                }
                found = self.source.next() => match found {
                    Ok(found) => {
                        match self.app.engine.recheck_caller(&self.caller).await {
                            Ok(caller) => self.caller = caller,
                            Err(_) => return Some(self.last("unauthenticated", "the key is no longer valid")),
                        }
                        self.batch = found.into();
                    }
                    Err(error) => return Some(self.interrupted(&error.into())),
                },
            }
        }
    }

    fn interrupted(&mut self, error: &ApiError) -> Frame {
        tracing::warn!(?error, "a stream was ended");
        self.last("interrupted", "the store cannot be read; connect again with Last-Event-ID")
    }

    /// The last frame of a stream, which says why it ends.
    fn last(&mut self, name: &str, why: &str) -> Frame {
        self.over = true;
        Frame::default().event(name).retry(Duration::from_secs(1)).data(why)
    }
}

fn framed(id: String, event: Event) -> Frame {
    let name = event.name.clone();
    let data = serde_json::to_string(&EventView::from(event)).unwrap_or_default();
    Frame::default().id(id).event(name).data(data)
}

/// Slots for streams and sockets: of each key and person, of each tenant, and of the node.
pub(crate) struct StreamSlots {
    keys: Slots<(TenantId, Credential)>,
    tenants: Slots<TenantId>,
    all: Slots<()>,
}

impl StreamSlots {
    pub(crate) fn new(limits: &ServerLimits) -> Self {
        let ServerLimits { streams, key_streams, tenant_streams, .. } = *limits;
        Self { keys: Slots::new(key_streams), tenants: Slots::new(tenant_streams), all: Slots::new(streams) }
    }
}

/// Slots that one open stream or socket occupies.
pub(crate) struct StreamSlot {
    _slots: [Slot; 3],
}

impl StreamSlot {
    /// Takes a slot of the caller, of the tenant and of the node, or refuses.
    pub(crate) fn one(app: &App, caller: &Caller) -> Result<Self, ApiError> {
        let StreamSlots { keys, tenants, all } = &app.streams;
        let full = |limit: Limit, max: usize| Refusal::LimitReached { limit, max: max as u64 };
        let (tenant, credential) = (caller.scope.tenant, caller.credential);
        let of_key = keys.acquire((tenant, credential)).ok_or(full(Limit::KeyStreams, keys.most()))?;
        let of_tenant = tenants.acquire(tenant).ok_or(full(Limit::TenantStreams, tenants.most()))?;
        let of_node = all.acquire(()).ok_or(ApiError::TooManyStreams(all.most()))?;
        metrics::gauge!("holdpoint_stream_readers").increment(1.0);
        Ok(Self { _slots: [of_key, of_tenant, of_node] })
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        metrics::gauge!("holdpoint_stream_readers").decrement(1.0);
    }
}
