//! Tests webhooks against endpoints with configured replies.

mod answers;
mod crowds;
mod sending;
mod signing;

use std::collections::HashMap;
use std::time::Duration;

use domain::webhook::Subject;
use domain::{Caller, SignedDuration, Webhook, WebhookDelivery, WebhookDeliveryState, WebhookId};
use futures::future::BoxFuture;
use holdpoint_engine::{Content, Courier, Engine, NewWebhook, Parcel, Receipt};
use parking_lot::Mutex;
use store::Page;

use crate::engine::world::World;

/// A message that an endpoint received.
#[derive(Debug, Clone)]
struct ReceivedMessage {
    url: String,
    id: String,
    name: String,
    secrets: Vec<Vec<u8>>,
    content: Content,
}

/// Endpoints with configured replies, which record their messages.
#[derive(Default)]
struct Endpoints {
    replies: Mutex<HashMap<String, u16>>,
    wait: Mutex<Option<SignedDuration>>,
    got: Mutex<Vec<ReceivedMessage>>,
}

impl Courier for Endpoints {
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt> {
        let got = ReceivedMessage {
            url: parcel.url.clone(),
            id: parcel.id.to_string(),
            name: parcel.name.clone(),
            secrets: parcel.secrets.iter().map(|secret| secret.to_vec()).collect(),
            content: parcel.content.clone(),
        };
        self.got.lock().push(got);
        let status = self.replies.lock().get(&parcel.url).copied().unwrap_or(204);
        let wait = *self.wait.lock();
        let status = (status > 0).then_some(status);
        Box::pin(async move { Receipt { status, note: "noted".into(), wait, took: Duration::from_millis(3) } })
    }
}

impl Endpoints {
    fn reply(&self, url: &str, status: u16) {
        self.replies.lock().insert(url.to_owned(), status);
    }

    /// Removes and returns the messages that an endpoint has received.
    fn take(&self, url: &str) -> Vec<ReceivedMessage> {
        let mut all = self.got.lock();
        let (taken, left) = std::mem::take(&mut *all).into_iter().partition(|got: &ReceivedMessage| got.url == url);
        *all = left;
        taken
    }

    fn names(&self, url: &str) -> Vec<String> {
        self.take(url).into_iter().map(|got| got.name).collect()
    }
}

pub(crate) const URL: &str = "https://hooks.example.com/a";
const OTHER: &str = "https://hooks.example.com/b";

pub(crate) fn all_events() -> Subject {
    Subject::Events { types: vec!["*".into()], agent: None, session: None }
}

pub(crate) fn new(url: &str, subject: Subject) -> NewWebhook {
    NewWebhook { url: url.into(), subject, description: None, enabled: true }
}

async fn made(world: &World, by: &Caller, url: &str, subject: Subject) -> Webhook {
    world.engine.webhook_create(by, new(url, subject), None).await.unwrap().0
}

async fn sent(engine: &Engine, endpoints: &Endpoints) {
    engine.send_webhooks(endpoints).await.unwrap();
}

async fn listed(
    world: &World,
    by: &Caller,
    webhook: WebhookId,
    state: Option<WebhookDeliveryState>,
) -> Vec<WebhookDelivery> {
    let page = Page { after: None, limit: 200 };
    world.engine.webhook_delivery_list(by, webhook, state, page).await.unwrap()
}
