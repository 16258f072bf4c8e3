//! Interface between the engine and the HTTP client that posts webhook messages.

use std::fmt;
use std::time::Duration;

use domain::{Event, Interaction, LeaseId, SignedDuration, Timestamp, WebhookDeliveryId, WebhookId};
use futures::future::BoxFuture;
use zeroize::Zeroizing;

/// Posts messages to endpoints: signs them, connects only to allowed networks, and reports the reply. It never retries by itself.
pub trait Courier: Send + Sync + 'static {
    /// Posts one message and returns the outcome.
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt>;
}

/// Message that the courier posts.
pub struct Parcel {
    /// URL of the endpoint.
    pub url: String,
    /// Identifier of the message. It is equal in all attempts, so that the endpoint recognises a repetition.
    pub id: WebhookDeliveryId,
    /// Time of this attempt.
    pub at: Timestamp,
    /// Type of the message.
    pub name: String,
    /// Time of the event or answer that the message is about.
    pub happened_at: Timestamp,
    /// Content of the message.
    pub content: Content,
    /// Secrets that sign the message. Each of them adds a signature.
    pub secrets: Vec<Zeroizing<Vec<u8>>>,
    /// Time limit for the attempt.
    pub patience: Duration,
}

/// Content of a message. It never contains sealed values.
#[derive(Debug, Clone)]
pub enum Content {
    /// Event of a session.
    Event(Event),
    /// Answer that waits for its agent.
    Answer {
        /// Question with its resolution.
        interaction: Box<Interaction>,
        /// Lease that the endpoint gets if it replies 202. It is absent if the question has sealed values, because only `take` hands
        /// those out.
        lease: Option<LeaseId>,
    },
    /// Test message without content, for this webhook.
    Test(WebhookId),
}

/// Outcome of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// HTTP status of the reply, if there was one.
    pub status: Option<u16>,
    /// Beginning of the reply, or the reason why there is no reply.
    pub note: String,
    /// Time for which the endpoint asks to receive no messages.
    pub wait: Option<SignedDuration>,
    /// Duration of the attempt.
    pub took: Duration,
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parcel").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}
