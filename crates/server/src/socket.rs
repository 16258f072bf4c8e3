//! The connection of one WebSocket. Events are pulled, so that a slow reader holds one batch in memory.
//!
//! A [`SocketHandler`] decides which messages a socket sends. This module has the parts that all sockets share: the
//! extractor that opens one, pings, the end of sockets that are silent or not read, the size of messages, the rate, and
//! the close frame when the server stops or the credential is no longer valid.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::response::Response;
use domain::{Caller, EntryPoint};
use futures::{SinkExt, StreamExt};
use http::request::Parts;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use tokio_util::task::TaskTracker;

use crate::App;
use crate::caller::{StreamCaller, check_rate};
use crate::error::ApiError;
use crate::frames::{Excess, Meter, Metered};
use crate::handshake::Handshake;
use crate::sse::StreamSlot;

/// Number of heartbeats for which a socket may be silent or unread.
const PATIENCE: u32 = 3;

/// Size of the read buffer of each socket.
const READ_AT_ONCE: usize = 4 * 1024;

/// Time in which the client must reply to a close frame.
const GOODBYE: Duration = Duration::from_secs(2);

/// Tracks open sockets, for which a stopping server waits.
#[derive(Clone)]
pub(crate) struct Sockets(pub(crate) TaskTracker);

/// Translates between a socket and the engine: renders updates and handles messages. Contains no rule.
pub trait SocketHandler: Send + 'static {
    /// Something to send to the client.
    type Update: Send;

    /// Replaces the caller after a recheck, so that everything that follows uses their current rights.
    fn set_caller(&mut self, caller: &Caller);
    /// Returns the updates that are ready and removes them. They are sent before anything else.
    fn drain_updates(&mut self) -> Vec<Self::Update>;
    /// Waits for the next updates. Cancel-safe: an update that was not returned is returned by the next call.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Self::Update>, engine::Error>> + Send;
    /// Renders an update as messages.
    fn render(&mut self, news: Self::Update) -> impl Future<Output = Vec<String>> + Send;
    /// Handles a message and returns the replies.
    fn handle(&mut self, text: &str) -> impl Future<Output = Vec<String>> + Send;
    /// Renders the refusal of a message that was not parsed.
    fn refusal(&self, error: ApiError) -> String;
    /// Called at every heartbeat.
    fn heartbeat(&mut self) -> impl Future<Output = ()> + Send;
    /// Renders the last message before the close frame.
    fn farewell(&self, end: CloseReason) -> Option<String>;
}

/// Reason why the server closes a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// The server is stopping. The client may reconnect.
    Stopping,
    /// The credential is no longer valid.
    Unauthenticated,
    /// The store cannot be read. The client may reconnect.
    Interrupted,
}

impl CloseReason {
    /// Name in the close frame.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stopping => "stopping",
            Self::Unauthenticated => "unauthenticated",
            Self::Interrupted => "interrupted",
        }
    }

    const fn code(self) -> CloseCode {
        match self {
            Self::Stopping => CloseCode::Away,
            Self::Unauthenticated => CloseCode::Policy,
            Self::Interrupted => CloseCode::Error,
        }
    }
}

/// Extractor of a WebSocket handshake and its authenticated caller.
pub struct SocketRequest {
    pub caller: Caller,
    handshake: Option<Handshake>,
    sockets: Option<Sockets>,
}

impl FromRequestParts<App> for SocketRequest {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let StreamCaller(caller) = StreamCaller::from_request_parts(parts, app).await?;
        let entry_point = if caller.entry_point == EntryPoint::Http { EntryPoint::Ws } else { caller.entry_point };
        let caller = Caller { entry_point, ..caller };
        let sockets = parts.extensions.get::<Sockets>().cloned();
        Ok(Self { caller, handshake: Handshake::of(parts), sockets })
    }
}

impl SocketRequest {
    /// Accepts the handshake and runs the socket with this handler.
    pub fn open(self, app: &App, handler: impl SocketHandler) -> Result<Response, ApiError> {
        let (Some(Handshake { accept, upgrading }), Some(Sockets(sockets))) = (self.handshake, self.sockets) else {
            return Err(ApiError::NotSocket);
        };
        let counted = StreamSlot::one(app, &self.caller)?;
        let (app, caller) = (app.clone(), self.caller);
        sockets.spawn(async move {
            match upgrading.await {
                Ok(stream) => OpenSocket::new(app, caller, stream).await.keep(handler).await,
                Err(error) => tracing::debug!(%error, "a socket was not opened"),
            }
            drop(counted);
        });
        Ok(accept)
    }
}

/// The upgraded connection, with its unfinished messages counted.
type Stream = Metered<TokioIo<Upgraded>>;

/// A socket that is open.
struct OpenSocket {
    app: App,
    caller: Caller,
    socket: WebSocketStream<Stream>,
    meter: Meter,
    tick: Interval,
    /// Number of heartbeats without a message of the client.
    silent: u32,
    patience: Duration,
}

/// Event that wakes the loop of a socket.
enum Wakeup<N> {
    Stop,
    Tick,
    Frame(Option<Result<Message, tungstenite::Error>>),
    Update(Result<Vec<N>, engine::Error>),
}

/// The socket is closed.
struct Closed;

impl OpenSocket {
    async fn new(app: App, caller: Caller, stream: Upgraded) -> Self {
        let most = app.limits.body_bytes;
        let stream = Metered::new(TokioIo::new(stream), &caller, Arc::clone(&app.unfinished), most);
        let meter = stream.meter();
        let config = WebSocketConfig::default()
            .max_message_size(Some(most))
            .max_frame_size(Some(most))
            .read_buffer_size(READ_AT_ONCE)
            .write_buffer_size(0);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
        let beat = app.limits.heartbeat;
        let mut tick = interval(beat);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { app, caller, socket, meter, tick, silent: 0, patience: beat.saturating_mul(PATIENCE) }
    }

    async fn keep(mut self, mut handler: impl SocketHandler) {
        loop {
            let found = handler.drain_updates();
            if !found.is_empty() {
                if self.news(&mut handler, Ok(found)).await.is_err() {
                    return;
                }
                continue;
            }
            let turn = tokio::select! {
                () = self.app.stops() => Wakeup::Stop,
                _ = self.tick.tick() => Wakeup::Tick,
                frame = self.socket.next() => Wakeup::Frame(frame),
                news = handler.next() => Wakeup::Update(news),
            };
            let went = match turn {
                Wakeup::Stop => self.end(&mut handler, CloseReason::Stopping).await,
                Wakeup::Tick => self.beat(&mut handler).await,
                Wakeup::Frame(frame) => self.frame(&mut handler, frame).await,
                Wakeup::Update(news) => self.news(&mut handler, news).await,
            };
            if went.is_err() {
                return;
            }
        }
    }

    async fn beat(&mut self, handler: &mut impl SocketHandler) -> Result<(), Closed> {
        if self.silent >= PATIENCE {
            tracing::debug!("a socket was silent for too long");
            return Err(Closed);
        }
        self.silent += 1;
        self.recheck(handler).await?;
        handler.heartbeat().await;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    async fn frame(
        &mut self,
        handler: &mut impl SocketHandler,
        frame: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<(), Closed> {
        self.silent = 0;
        let mut answer = None;
        let replies = match frame {
            None => return Err(Closed),
            Some(Err(error)) => return self.unreadable(handler, error).await,
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Ok(Message::Close(_))) => return self.drain().await,
            Some(Ok(Message::Binary(_))) => vec![handler.refusal(ApiError::Binary)],
            Some(Ok(Message::Text(text))) => {
                if let Err(error) = check_rate(&self.app, &self.caller) {
                    vec![handler.refusal(error)]
                } else {
                    self.recheck(handler).await?;
                    match self.app.replies.admit_caller(&self.caller) {
                        Ok(()) => {
                            let place = timeout(self.patience, self.app.replies.answer(&self.caller)).await;
                            answer = place.map_err(|_| Closed)?;
                            handler.handle(&text).await
                        }
                        Err(refusal) => vec![handler.refusal(refusal.into())],
                    }
                }
            }
        };
        let _held = answer.and_then(|answer| answer.of_bytes(replies.iter().map(String::len).sum()));
        self.say(replies).await
    }

    async fn news<T: SocketHandler>(
        &mut self,
        handler: &mut T,
        news: Result<Vec<T::Update>, engine::Error>,
    ) -> Result<(), Closed> {
        let news = match news {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, "a socket was ended");
                return self.end(handler, CloseReason::Interrupted).await;
            }
        };
        self.recheck(handler).await?;
        for one in news {
            let told = handler.render(one).await;
            let bytes = told.iter().map(String::len).sum();
            match self.app.replies.count_news(&self.caller, bytes) {
                Ok(_held) => self.say(told).await?,
                Err(refusal) => {
                    let words = handler.refusal(refusal.into());
                    self.say(vec![words]).await?;
                    return self.close(CloseCode::Again, "").await;
                }
            }
        }
        Ok(())
    }

    /// Rechecks the caller. Closes the socket if the credential is no longer valid.
    async fn recheck(&mut self, handler: &mut impl SocketHandler) -> Result<(), Closed> {
        match self.app.engine.recheck_caller(&self.caller).await {
            Ok(caller) => {
                if caller != self.caller {
                    handler.set_caller(&caller);
                    self.caller = caller;
                }
                Ok(())
            }
            Err(engine::Error::Unauthenticated) => self.end(handler, CloseReason::Unauthenticated).await,
            Err(error) => {
                tracing::warn!(%error, "a socket was ended");
                self.end(handler, CloseReason::Interrupted).await
            }
        }
    }

    /// Closes the socket after a protocol error.
    async fn unreadable(&mut self, handler: &mut impl SocketHandler, error: tungstenite::Error) -> Result<(), Closed> {
        let code = match (self.meter.excess(), error) {
            (Some(excess), _) => return self.close_over_limit(handler, excess).await,
            (None, tungstenite::Error::Capacity(_)) => return self.close_over_limit(handler, Excess::Message).await,
            (None, tungstenite::Error::Utf8(_)) => CloseCode::Invalid,
            (None, tungstenite::Error::Protocol(_)) => CloseCode::Protocol,
            (None, _) => return Err(Closed),
        };
        self.close(code, "").await
    }

    /// Closes the socket after an exceeded limit.
    async fn close_over_limit(&mut self, handler: &mut impl SocketHandler, excess: Excess) -> Result<(), Closed> {
        let words = handler.refusal(self.meter.error(excess));
        self.say(vec![words]).await?;
        let code = if excess == Excess::Message { CloseCode::Size } else { CloseCode::Again };
        self.close(code, "").await
    }

    async fn end(&mut self, handler: &mut impl SocketHandler, end: CloseReason) -> Result<(), Closed> {
        let last = handler.farewell(end);
        self.say(last.into_iter().collect()).await?;
        self.close(end.code(), end.name()).await
    }

    /// Sends a close frame and waits a moment for the reply.
    async fn close(&mut self, code: CloseCode, reason: &'static str) -> Result<(), Closed> {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        self.send(Message::Close(Some(frame))).await?;
        self.drain().await
    }

    /// Discards incoming messages until the client has closed.
    async fn drain(&mut self) -> Result<(), Closed> {
        let agreed = async {
            match self.meter.excess() {
                Some(_) => self.socket.get_mut().spill().await,
                None => while let Some(Ok(_)) = self.socket.next().await {},
            }
        };
        let _ = timeout(self.patience.min(GOODBYE), agreed).await;
        Err(Closed)
    }

    async fn say(&mut self, words: Vec<String>) -> Result<(), Closed> {
        for text in words {
            self.send(Message::Text(text.into())).await?;
        }
        Ok(())
    }

    /// Sends a message. The socket of a client that does not read is closed after a while.
    async fn send(&mut self, message: Message) -> Result<(), Closed> {
        match timeout(self.patience, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Closed),
            Err(_) => {
                tracing::debug!("a socket was not read for too long");
                Err(Closed)
            }
        }
    }
}
