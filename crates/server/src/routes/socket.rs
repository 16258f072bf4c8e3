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
use crate::socket::{End, Joining, Talk};
use crate::sse::Source;

use request::{Request, Wish};

/// How many subscriptions one socket may have.
const MOST: usize = 32;

/// Opens a WebSocket for all of `/v1`. What is said on it stands in `/asyncapi.json`.
#[utoipa::path(get, path = "/v1/ws", tag = "events", params(TicketQuery),
    responses((status = 101, description = "The socket is open"),
              (status = 426, description = "This is a WebSocket", content_type = "application/problem+json",
               body = protocol::ProblemBody), Problems))]
pub(super) async fn socket_open(
    State(app): State<App>,
    joining: Joining,
    Query(TicketQuery { .. }): Query<TicketQuery>,
) -> Result<Response, ApiError> {
    let talk =
        Plain { app: app.clone(), caller: joining.caller.clone(), followed: SelectAll::new(), places: BTreeMap::new() };
    joining.with(&app, talk)
}

/// One portion of a subscription.
type Portion = (String, Result<Vec<(String, Event)>, Error>);

/// The wire of `/v1` itself.
struct Plain {
    app: App,
    caller: Caller,
    followed: SelectAll<BoxStream<'static, Portion>>,
    /// Where each subscription is, and what ends it.
    places: BTreeMap<String, Subscription>,
}

struct Subscription {
    cursor: String,
    end: AbortHandle,
}

impl Talk for Plain {
    type News = (String, String, Event);

    fn renew(&mut self, caller: &Caller) {
        self.caller.clone_from(caller);
    }

    fn found(&mut self) -> Vec<Self::News> {
        Vec::new()
    }

    async fn next(&mut self) -> Result<Vec<Self::News>, Error> {
        match self.followed.next().await {
            None => std::future::pending().await,
            Some((subscription, events)) => {
                let events = events?.into_iter();
                Ok(events.map(|(cursor, event)| (subscription.clone(), cursor, event)).collect())
            }
        }
    }

    async fn told(&mut self, (subscription, cursor, event): Self::News) -> Vec<String> {
        // Whoever has said that it wants no more may have said so while this was on its way.
        let Some(place) = self.places.get_mut(&subscription) else { return Vec::new() };
        place.cursor.clone_from(&cursor);
        let event = SocketEvent { subscription, cursor, event: event.into() };
        vec![written(&SocketMessage::Event(Box::new(event)))]
    }

    async fn heard(&mut self, text: &str) -> Vec<String> {
        let request = match Request::read(text) {
            Ok(request) => request,
            Err((id, error)) => return vec![refused(id, error)],
        };
        let id = request.id.clone();
        vec![match self.carried_out(request).await {
            Ok((status, result)) => written(&SocketMessage::Result(SocketResult { id, status, result })),
            Err(error) => refused(id, error),
        }]
    }

    fn refused(&self, error: ApiError) -> String {
        refused(None, error)
    }

    async fn beat(&mut self) {}

    fn farewell(&self, end: End) -> Option<String> {
        let cursors = self.places.iter().map(|(id, place)| (id.clone(), place.cursor.clone())).collect();
        Some(written(&SocketMessage::Closing(SocketClosing { reason: end.name(), cursors })))
    }
}

impl Plain {
    async fn carried_out(&mut self, request: Request) -> Result<(u16, Value), ApiError> {
        let Request { id, wish, once } = request;
        match wish {
            Wish::Subscribe(body) => self.subscribe(id, body).await,
            Wish::Unsubscribe(body) => match self.places.remove(&body.subscription) {
                None => Err(domain::Refusal::NotFound("subscription").into()),
                Some(place) => {
                    place.end.abort();
                    Ok((200, json!({ "subscription": body.subscription, "cursor": place.cursor })))
                }
            },
            wish => wish.carried_out(&self.app, &self.caller, once).await,
        }
    }

    async fn subscribe(&mut self, id: Option<String>, body: SubscribeBody) -> Result<(u16, Value), ApiError> {
        let id = id.ok_or_else(|| ApiError::wrong("/id", "names the subscription, and is missing"))?;
        if self.places.contains_key(&id) {
            return Err(ApiError::wrong("/id", "is the name of a subscription of this socket"));
        }
        if self.places.len() >= MOST {
            return Err(ApiError::TooManySubscriptions(MOST));
        }
        let after = body.after.map(protocol::EventCursor::into_text);
        let (source, cursor) = match body.session {
            Some(session) => {
                let after = after.map_or(Ok(0), |text| session_place(&text))?;
                (Source::Session(self.app.engine.follow(&self.caller, session, after).await?), after.to_string())
            }
            None => {
                let after = after.map(|text| project_place(&text)).transpose()?;
                let follower = self.app.engine.follow_project(&self.caller, after).await?;
                let cursor = follower.cursor().to_string();
                (Source::Project(follower), cursor)
            }
        };
        let (followed, end) = abortable(unfold((id.clone(), source), async |(id, mut source)| {
            let portion = source.next().await;
            Some(((id.clone(), portion), (id, source)))
        }));
        self.followed.push(followed.boxed());
        let reply = json!({ "subscription": id, "cursor": cursor });
        self.places.insert(id, Subscription { cursor, end });
        Ok((200, reply))
    }
}

fn refused(id: Option<String>, error: ApiError) -> String {
    let problem = error.logged();
    written(&SocketMessage::Error(SocketError { id, status: problem.status, problem }))
}

fn written(message: &SocketMessage) -> String {
    // Its keys are strings and its numbers are JSON's own, so that this cannot fail.
    serde_json::to_string(message).unwrap_or_default()
}
