//! `/v1` over one WebSocket: subscribe from a cursor, propose, answer, run a client's tools. See `asyncapi.rs`.

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

/// How many subscriptions one socket may have.
const MAX_SUBSCRIPTIONS: usize = 32;

/// Opens a WebSocket for all of `/v1`. What is said on it stands in `/asyncapi.json`.
#[utoipa::path(get, path = "/v1/ws", tag = "events", params(TicketQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "This is a WebSocket", content_type = "application/problem+json",
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

/// One portion of a subscription.
type Batch = (String, Result<Vec<(String, Event)>, Error>);

/// The wire of `/v1` itself.
struct V1Socket {
    app: App,
    caller: Caller,
    followed: SelectAll<BoxStream<'static, Batch>>,
    /// Where each subscription is, and what ends it.
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

    fn take_updates(&mut self) -> Vec<Self::Update> {
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
        // Whoever has said that it wants no more may have said so while this was on its way.
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
        let id = id.ok_or_else(|| ApiError::invalid("/id", "names the subscription, and is missing"))?;
        if self.subscriptions.contains_key(&id) {
            return Err(ApiError::invalid("/id", "is the name of a subscription of this socket"));
        }
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            return Err(ApiError::TooManySubscriptions(MAX_SUBSCRIPTIONS));
        }
        let after = body.after.map(protocol::Place::into_text);
        let (source, cursor) = match body.session {
            Some(session) => {
                let after = after.map_or(Ok(0), |text| session_place(&text))?;
                (EventSource::Session(self.app.engine.follow(&self.caller, session, after).await?), after.to_string())
            }
            None => {
                let after = after.map(|text| project_place(&text)).transpose()?;
                let follower = self.app.engine.follow_project(&self.caller, after).await?;
                let cursor = follower.cursor().to_string();
                (EventSource::Project(follower), cursor)
            }
        };
        let (followed, end) = abortable(unfold((id.clone(), source), async |(id, mut source)| {
            let portion = source.next().await;
            Some(((id.clone(), portion), (id, source)))
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
    // Its keys are strings and its numbers are JSON's own, so that this cannot fail.
    serde_json::to_string(message).unwrap_or_default()
}
