//! `/v1` over one WebSocket: subscriptions, proposals, questions, answers. `asyncapi.rs` describes the messages.

mod request;

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use domain::{Caller, Event};
use engine::Error;
use futures::stream::{AbortHandle, BoxStream, SelectAll, StreamExt, abortable, unfold};
use protocol::{SocketClosing, SocketError, SocketEvent, SocketMessage, SocketResult, SubscribeBody};
use serde_json::{Value, json};

use crate::App;
use crate::document::Problems;
use crate::error::ApiError;
use crate::params::{Query, TicketQuery};
use crate::routes::events::{project_place, session_place};
use crate::socket::{CloseReason, SocketHandler, SocketRequest};
use crate::sse::EventSource;

use request::{Operation, Request};

/// Maximum number of subscriptions of one socket.
const MAX_SUBSCRIPTIONS: usize = 32;

/// Opens a WebSocket for `/v1`. `/asyncapi.json` describes its messages.
#[utoipa::path(get, path = "/v1/ws", tag = "events", params(TicketQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "The request is not a WebSocket handshake", content_type = "application/problem+json",
               body = protocol::ProblemBody), Problems))]
pub(super) async fn socket_open(
    State(app): State<App>,
    socket: SocketRequest,
    Query(TicketQuery { .. }): Query<TicketQuery>,
) -> Result<Response, ApiError> {
    let handler = V1Socket {
        app: app.clone(),
        caller: socket.caller.clone(),
        followed: SelectAll::new(),
        subscriptions: BTreeMap::new(),
    };
    socket.open(&app, handler)
}

/// A batch of events of one subscription.
type SessionEvents = (String, Result<Vec<(String, Event)>, Error>);

/// Handler of the socket of `/v1`.
struct V1Socket {
    app: App,
    caller: Caller,
    followed: SelectAll<BoxStream<'static, SessionEvents>>,
    /// Position of each subscription, and the handle that ends it.
    subscriptions: BTreeMap<String, Subscription>,
}

struct Subscription {
    cursor: String,
    end: AbortHandle,
}

impl SocketHandler for V1Socket {
    type Update = (String, String, Event);

    fn set_caller(&mut self, caller: &Caller) {
        self.caller.clone_from(caller);
    }

    fn drain_updates(&mut self) -> Vec<Self::Update> {
        Vec::new()
    }

    async fn next(&mut self) -> Result<Vec<Self::Update>, Error> {
        match self.followed.next().await {
            None => std::future::pending().await,
            Some((subscription, events)) => {
                let events = events?.into_iter();
                Ok(events.map(|(cursor, event)| (subscription.clone(), cursor, event)).collect())
            }
        }
    }

    async fn render(&mut self, (subscription, cursor, event): Self::Update) -> Vec<String> {
        // The client may have unsubscribed while the event was on its way.
        let Some(place) = self.subscriptions.get_mut(&subscription) else { return Vec::new() };
        place.cursor.clone_from(&cursor);
        let event = SocketEvent { subscription, cursor, event: event.into() };
        vec![to_json(&SocketMessage::Event(Box::new(event)))]
    }

    async fn handle(&mut self, text: &str) -> Vec<String> {
        let request = match Request::read(text) {
            Ok(request) => request,
            Err((id, error)) => return vec![error_reply(id, error)],
        };
        let id = request.id.clone();
        vec![match self.run(request).await {
            Ok((status, result)) => to_json(&SocketMessage::Result(SocketResult { id, status, result })),
            Err(error) => error_reply(id, error),
        }]
    }

    fn refusal(&self, error: ApiError) -> String {
        error_reply(None, error)
    }

    async fn heartbeat(&mut self) {}

    fn farewell(&self, end: CloseReason) -> Option<String> {
        let cursors = self.subscriptions.iter().map(|(id, place)| (id.clone(), place.cursor.clone())).collect();
        Some(to_json(&SocketMessage::Closing(SocketClosing { reason: end.name(), cursors })))
    }
}

impl V1Socket {
    async fn run(&mut self, request: Request) -> Result<(u16, Value), ApiError> {
        let Request { id, operation, idempotency } = request;
        match operation {
            Operation::Subscribe(body) => self.subscribe(id, body).await,
            Operation::Unsubscribe(body) => match self.subscriptions.remove(&body.subscription) {
                None => Err(domain::Refusal::NotFound("subscription").into()),
                Some(place) => {
                    place.end.abort();
                    Ok((200, json!({ "subscription": body.subscription, "cursor": place.cursor })))
                }
            },
            operation => operation.run(&self.app, &self.caller, idempotency).await,
        }
    }

    async fn subscribe(&mut self, id: Option<String>, body: SubscribeBody) -> Result<(u16, Value), ApiError> {
        let id = id.ok_or_else(|| ApiError::invalid("/id", "is missing: it names the subscription"))?;
        if self.subscriptions.contains_key(&id) {
            return Err(ApiError::invalid("/id", "already names a subscription of this socket"));
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            return Err(ApiError::TooManySubscriptions(MAX_SUBSCRIPTIONS));
        }
        let after = body.after.map(protocol::EventCursor::into_text);
        let (source, cursor) = if let Some(session) = body.session {
            let after = after.map_or(Ok(0), |text| session_place(&text))?;
            (
                EventSource::Session(self.app.engine.session_follow(&self.caller, session, after).await?),
                after.to_string(),
            )
        } else {
            let after = after.map(|text| project_place(&text)).transpose()?;
            let follower = self.app.engine.project_follow(&self.caller, after).await?;
            let cursor = follower.cursor().to_string();
            (EventSource::Project(follower), cursor)
        };
        let (followed, end) = abortable(unfold((id.clone(), source), async |(id, mut source)| {
            let batch = source.next().await;
            Some(((id.clone(), batch), (id, source)))
        }));
        self.followed.push(followed.boxed());
        let reply = json!({ "subscription": id, "cursor": cursor });
        self.subscriptions.insert(id, Subscription { cursor, end });
        Ok((200, reply))
    }
}

fn error_reply(id: Option<String>, error: ApiError) -> String {
    let problem = error.log();
    to_json(&SocketMessage::Error(SocketError { id, status: problem.status, problem }))
}

fn to_json(message: &SocketMessage) -> String {
    // Serialization cannot fail: keys are strings and numbers are JSON numbers.
    serde_json::to_string(message).unwrap_or_default()
}
