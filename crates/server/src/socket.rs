//! One WebSocket: pulled by its reader as streams are, so that a slow one holds one portion and nothing more.
//!
//! What is said on it is the business of a [`Talk`]. Here is what all of them share: who may open one, pings, the end of those that
//! are silent or do not read, the size of messages, the rate, and a good end when the server stops or the credential does.

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
use crate::caller::{Reading, within_rate};
use crate::error::ApiError;
use crate::frames::{Excess, Meter, Metered};
use crate::handshake::Handshake;
use crate::sse::Counted;

/// How many heartbeats a socket may be silent, or leave what it is told unread.
const PATIENCE: u32 = 3;

/// How much is read at once: each socket has as much memory for it.
const READ_AT_ONCE: usize = 4 * 1024;

/// How long the other side may take to agree that it is over.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a server that stops waits for.
#[derive(Clone)]
pub(crate) struct Sockets(pub(crate) TaskTracker);

/// What is said on a socket, and what is made of what comes in. Only translation.
pub(crate) trait Talk: Send + 'static {
    /// Something that there is to tell.
    type News: Send;

    /// Takes the caller as they are now: what follows is done, and shown, with the rights of this moment.
    fn renew(&mut self, caller: &Caller);
    /// What there is to tell before anything else.
    fn found(&mut self) -> Vec<Self::News>;
    /// What there is to tell next. It may be dropped while it waits: what was not given is given the next time.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Self::News>, engine::Error>> + Send;
    /// How it is told.
    fn told(&mut self, news: Self::News) -> impl Future<Output = Vec<String>> + Send;
    /// What is replied to a message.
    fn heard(&mut self, text: &str) -> impl Future<Output = Vec<String>> + Send;
    /// What is replied to a message that is refused before it is read.
    fn refused(&self, error: ApiError) -> String;
    /// A heartbeat has passed.
    fn beat(&mut self) -> impl Future<Output = ()> + Send;
    /// What is said last.
    fn farewell(&self, end: End) -> Option<String>;
}

/// Why the server ends a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The server stops: connect again.
    Stopping,
    /// The credential is no longer good.
    Unauthenticated,
    /// The store cannot be read: connect again.
    Interrupted,
}

impl End {
    /// The word for it.
    pub(crate) const fn name(self) -> &'static str {
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

/// Whoever wants to open a socket.
pub(crate) struct Joining {
    pub(crate) caller: Caller,
    handshake: Option<Handshake>,
    sockets: Option<Sockets>,
}

impl FromRequestParts<App> for Joining {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Reading(caller) = Reading::from_request_parts(parts, app).await?;
        let entry_point = if caller.entry_point == EntryPoint::Http { EntryPoint::Ws } else { caller.entry_point };
        let caller = Caller { entry_point, ..caller };
        let sockets = parts.extensions.get::<Sockets>().cloned();
        Ok(Self { caller, handshake: Handshake::of(parts), sockets })
    }
}

impl Joining {
    /// Opens the socket.
    pub(crate) fn with(self, app: &App, talk: impl Talk) -> Result<Response, ApiError> {
        let (Some(Handshake { accept, upgrading }), Some(Sockets(sockets))) = (self.handshake, self.sockets) else {
            return Err(ApiError::NotSocket);
        };
        let counted = Counted::one(app, &self.caller)?;
        let (app, caller) = (app.clone(), self.caller);
        sockets.spawn(async move {
            match upgrading.await {
                Ok(stream) => Line::new(app, caller, stream).await.keep(talk).await,
                Err(error) => tracing::debug!(%error, "a socket was not opened"),
            }
            drop(counted);
        });
        Ok(accept)
    }
}

/// The connection that a socket was made of, with its unfinished messages counted.
type Stream = Metered<TokioIo<Upgraded>>;

/// A socket that is open.
struct Line {
    app: App,
    caller: Caller,
    socket: WebSocketStream<Stream>,
    meter: Meter,
    tick: Interval,
    /// How many heartbeats nothing has been heard.
    silent: u32,
    patience: Duration,
}

/// What happened on it.
enum Turn<N> {
    Stop,
    Tick,
    Frame(Option<Result<Message, tungstenite::Error>>),
    News(Result<Vec<N>, engine::Error>),
}

/// The socket is over, and the other side has gone or has been told.
struct Over;

impl Line {
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

    async fn keep(mut self, mut talk: impl Talk) {
        loop {
            let found = talk.found();
            if !found.is_empty() {
                if self.news(&mut talk, Ok(found)).await.is_err() {
                    return;
                }
                continue;
            }
            let turn = tokio::select! {
                () = self.app.stops() => Turn::Stop,
                _ = self.tick.tick() => Turn::Tick,
                frame = self.socket.next() => Turn::Frame(frame),
                news = talk.next() => Turn::News(news),
            };
            let went = match turn {
                Turn::Stop => self.end(&mut talk, End::Stopping).await,
                Turn::Tick => self.beat(&mut talk).await,
                Turn::Frame(frame) => self.frame(&mut talk, frame).await,
                Turn::News(news) => self.news(&mut talk, news).await,
            };
            if went.is_err() {
                return;
            }
        }
    }

    async fn beat(&mut self, talk: &mut impl Talk) -> Result<(), Over> {
        if self.silent >= PATIENCE {
            tracing::debug!("a socket was silent for too long");
            return Err(Over);
        }
        self.silent += 1;
        self.recheck(talk).await?;
        talk.beat().await;
        self.send(Message::Ping(bytes::Bytes::new())).await
    }

    async fn frame(
        &mut self,
        talk: &mut impl Talk,
        frame: Option<Result<Message, tungstenite::Error>>,
    ) -> Result<(), Over> {
        self.silent = 0;
        let mut answer = None;
        let replies = match frame {
            None => return Err(Over),
            Some(Err(error)) => return self.unreadable(talk, error).await,
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return Ok(()),
            Some(Ok(Message::Close(_))) => return self.drained().await,
            Some(Ok(Message::Binary(_))) => vec![talk.refused(ApiError::Binary)],
            Some(Ok(Message::Text(text))) => match within_rate(&self.app, &self.caller) {
                Err(error) => vec![talk.refused(error)],
                Ok(()) => {
                    self.recheck(talk).await?;
                    match self.app.replies.admit_caller(&self.caller) {
                        Ok(()) => {
                            let place = timeout(self.patience, self.app.replies.answer(&self.caller)).await;
                            answer = place.map_err(|_| Over)?;
                            talk.heard(&text).await
                        }
                        Err(refusal) => vec![talk.refused(refusal.into())],
                    }
                }
            },
        };
        let _held = answer.and_then(|answer| answer.of_bytes(replies.iter().map(String::len).sum()));
        self.say(replies).await
    }

    async fn news<T: Talk>(&mut self, talk: &mut T, news: Result<Vec<T::News>, engine::Error>) -> Result<(), Over> {
        let news = match news {
            Ok(news) => news,
            Err(error) => {
                tracing::warn!(%error, "a socket was ended");
                return self.end(talk, End::Interrupted).await;
            }
        };
        self.recheck(talk).await?;
        for one in news {
            let told = talk.told(one).await;
            let bytes = told.iter().map(String::len).sum();
            match self.app.replies.count_news(&self.caller, bytes) {
                Ok(_held) => self.say(told).await?,
                Err(refusal) => {
                    let words = talk.refused(refusal.into());
                    self.say(vec![words]).await?;
                    return self.close(CloseCode::Again, "").await;
                }
            }
        }
        Ok(())
    }

    /// Goes on with the caller as they are now. Ends the socket of whoever has lost their credential.
    async fn recheck(&mut self, talk: &mut impl Talk) -> Result<(), Over> {
        match self.app.engine.recheck(&self.caller).await {
            Ok(caller) => {
                if caller != self.caller {
                    talk.renew(&caller);
                    self.caller = caller;
                }
                Ok(())
            }
            Err(engine::Error::Unauthenticated) => self.end(talk, End::Unauthenticated).await,
            Err(error) => {
                tracing::warn!(%error, "a socket was ended");
                self.end(talk, End::Interrupted).await
            }
        }
    }

    /// What came in is no message: nothing after it can be understood either.
    async fn unreadable(&mut self, talk: &mut impl Talk, error: tungstenite::Error) -> Result<(), Over> {
        let code = match (self.meter.excess(), error) {
            (Some(excess), _) => return self.exceeded(talk, excess).await,
            (None, tungstenite::Error::Capacity(_)) => return self.exceeded(talk, Excess::Message).await,
            (None, tungstenite::Error::Utf8(_)) => CloseCode::Invalid,
            (None, tungstenite::Error::Protocol(_)) => CloseCode::Protocol,
            (None, _) => return Err(Over),
        };
        self.close(code, "").await
    }

    /// What came in is more than it may be.
    async fn exceeded(&mut self, talk: &mut impl Talk, excess: Excess) -> Result<(), Over> {
        let words = talk.refused(self.meter.error(excess));
        self.say(vec![words]).await?;
        let code = if excess == Excess::Message { CloseCode::Size } else { CloseCode::Again };
        self.close(code, "").await
    }

    async fn end(&mut self, talk: &mut impl Talk, end: End) -> Result<(), Over> {
        let last = talk.farewell(end);
        self.say(last.into_iter().collect()).await?;
        self.close(end.code(), end.name()).await
    }

    /// Closes, and waits a moment for the other side to agree.
    async fn close(&mut self, code: CloseCode, reason: &'static str) -> Result<(), Over> {
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        self.send(Message::Close(Some(frame))).await?;
        self.drained().await
    }

    /// Nothing that comes now is listened to; what is still to be sent of the end is.
    async fn drained(&mut self) -> Result<(), Over> {
        let agreed = async {
            match self.meter.excess() {
                Some(_) => self.socket.get_mut().spill().await,
                None => while let Some(Ok(_)) = self.socket.next().await {},
            }
        };
        let _ = timeout(self.patience.min(GOODBYE), agreed).await;
        Err(Over)
    }

    async fn say(&mut self, words: Vec<String>) -> Result<(), Over> {
        for text in words {
            self.send(Message::Text(text.into())).await?;
        }
        Ok(())
    }

    /// Whoever does not read is not waited for without end.
    async fn send(&mut self, message: Message) -> Result<(), Over> {
        match timeout(self.patience, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Over),
            Err(_) => {
                tracing::debug!("a socket was not read for too long");
                Err(Over)
            }
        }
    }
}
