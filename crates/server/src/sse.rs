//! Event streams: pulled by their reader, so that a slow one holds one portion (`engine/src/portion.rs`) and nothing more.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event as Frame, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::{Caller, Event};
use engine::{Error, ProjectFollower, SessionFollower};
use futures::stream;
use protocol::EventView;
use tokio::sync::OwnedSemaphorePermit;

use crate::App;
use crate::error::ApiError;

/// How often a silent stream shows that it lives.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Where a stream gets its events from.
pub(crate) enum Source {
    /// One session, by number.
    Session(SessionFollower),
    /// A whole project, by cursor.
    Project(ProjectFollower),
}

impl Source {
    async fn next(&mut self) -> Result<Vec<(String, Event)>, Error> {
        match self {
            Self::Session(follower) => {
                let events = follower.next().await?;
                Ok(events.into_iter().map(|event| (event.seq.to_string(), event)).collect())
            }
            Self::Project(follower) => {
                let events = follower.next().await?;
                Ok(events.into_iter().map(|(cursor, event)| (cursor.to_string(), event)).collect())
            }
        }
    }
}

/// How a wire shows events.
pub(crate) trait Shows: Send + Sync + 'static {
    /// Some events, in order; each frame has the id from which the rest would be streamed again.
    fn frames(
        &self,
        app: &App,
        caller: &Caller,
        events: Vec<(String, Event)>,
    ) -> impl Future<Output = Result<Vec<Frame>, ApiError>> + Send;

    /// What a silent stream says.
    fn heartbeat() -> KeepAlive;
}

/// Each event as it is.
struct Plain;

impl Shows for Plain {
    async fn frames(&self, _: &App, _: &Caller, events: Vec<(String, Event)>) -> Result<Vec<Frame>, ApiError> {
        Ok(events.into_iter().map(|(id, event)| framed(id, event)).collect())
    }

    fn heartbeat() -> KeepAlive {
        KeepAlive::new().interval(HEARTBEAT).text("heartbeat")
    }
}

struct Reader<S> {
    app: App,
    caller: Caller,
    source: Source,
    shows: S,
    batch: VecDeque<Frame>,
    over: bool,
    _counted: Counted,
}

/// Shows a source as server-sent events until the reader leaves or the server stops.
pub(crate) fn stream(app: &App, caller: Caller, source: Source) -> Result<Response, ApiError> {
    stream_as(app, caller, source, Plain)
}

/// The same in the words of another wire.
pub(crate) fn stream_as<S: Shows>(app: &App, caller: Caller, source: Source, shows: S) -> Result<Response, ApiError> {
    let permit = std::sync::Arc::clone(&app.streams).try_acquire_owned().map_err(|_| ApiError::TooManyStreams)?;
    let (app, counted) = (app.clone(), Counted::new(permit));
    let reader = Reader { app, caller, source, shows, batch: VecDeque::new(), over: false, _counted: counted };
    let frames = stream::unfold(reader, |mut reader| async {
        let frame = reader.frame().await?;
        Some((Ok::<_, Infallible>(frame), reader))
    });
    let mut response = Sse::new(Box::pin(frames)).keep_alive(S::heartbeat()).into_response();
    // Proxies must pass each event on as it comes.
    response.headers_mut().insert("x-accel-buffering", http::HeaderValue::from_static("no"));
    Ok(response)
}

impl<S: Shows> Reader<S> {
    async fn frame(&mut self) -> Option<Frame> {
        loop {
            if self.over {
                return None;
            }
            if let Some(frame) = self.batch.pop_front() {
                return Some(frame);
            }
            let found = tokio::select! {
                biased;
                () = self.app.stops() => {
                    return self.last("stopping", "the server is stopping; connect again with Last-Event-ID");
                }
                found = self.source.next() => found.map_err(ApiError::from),
            };
            let shown = match found {
                Ok(found) => {
                    if self.app.engine.recheck(&self.caller).await.is_err() {
                        return self.last("unauthenticated", "the key is no longer good");
                    }
                    self.shows.frames(&self.app, &self.caller, found).await
                }
                Err(error) => Err(error),
            };
            match shown {
                Ok(frames) => self.batch = frames.into(),
                Err(error) => {
                    tracing::warn!(?error, "a stream was ended");
                    return self.last("interrupted", "the store cannot be read; connect again with Last-Event-ID");
                }
            }
        }
    }

    /// Tells the reader that this is the end and what to do.
    fn last(&mut self, name: &str, why: &str) -> Option<Frame> {
        self.over = true;
        Some(Frame::default().event(name).retry(Duration::from_secs(1)).data(why))
    }
}

fn framed(id: String, event: Event) -> Frame {
    let name = event.name.clone();
    let data = serde_json::to_string(&EventView::from(event)).unwrap_or_default();
    Frame::default().id(id).event(name).data(data)
}

/// One more stream, for as long as it lives.
struct Counted(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

impl Counted {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        metrics::gauge!("holdpoint_stream_readers").increment(1.0);
        Self(permit)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        metrics::gauge!("holdpoint_stream_readers").decrement(1.0);
    }
}
