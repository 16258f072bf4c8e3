//! What the engine gives to whoever knows HTTP, and gets back.

use std::fmt;
use std::time::Duration;

use domain::{Event, Interaction, LeaseId, SignedDuration, Timestamp, WebhookDeliveryId, WebhookId};
use futures::future::BoxFuture;
use zeroize::Zeroizing;

/// Carries messages to endpoints: signs, connects where that is allowed, and says what came back. Never tries again by itself.
pub trait Courier: Send + Sync + 'static {
    /// Posts one message.
    fn post<'a>(&'a self, parcel: &'a Parcel) -> BoxFuture<'a, Receipt>;
}

/// One message on its way.
pub struct Parcel {
    /// Where to.
    pub url: String,
    /// What a repeated one is recognised by.
    pub id: WebhookDeliveryId,
    /// When this attempt is made.
    pub at: Timestamp,
    /// The type.
    pub name: String,
    /// When that which it is about happened.
    pub happened_at: Timestamp,
    /// What it says.
    pub content: Content,
    /// What it is signed with: each signs.
    pub secrets: Vec<Zeroizing<Vec<u8>>>,
    /// How long it may take.
    pub patience: Duration,
}

/// What a message says. Never what was sealed.
#[derive(Debug, Clone)]
pub enum Content {
    /// An event.
    Event(Event),
    /// An answer.
    Answer {
        /// The question with its resolution.
        interaction: Box<Interaction>,
        /// The lease that the endpoint gets if it replies 202. Absent where something is sealed: that is handed out by `take` alone.
        lease: Option<LeaseId>,
    },
    /// Nothing.
    Test(WebhookId),
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The status, if any.
    pub status: Option<u16>,
    /// The beginning of the reply, or why there is none.
    pub note: String,
    /// How long the endpoint wants to be left alone.
    pub wait: Option<SignedDuration>,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Debug for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parcel").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}
