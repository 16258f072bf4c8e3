//! A webhook delivery: one message to an endpoint, tried until it is accepted or dead.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{InteractionId, LeaseId, Refusal, SessionId, WebhookDeliveryId, WebhookId};

/// Delay in seconds after each failed attempt. After the last one no more attempts are made.
pub const DELAYS: [i64; 9] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// Largest extension of a delay in percent, so that deliveries that failed together are not retried together.
const JITTER: i64 = 20;
/// Longest delay that an endpoint may request.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// Number of attempts that are stored.
const REMEMBERED: usize = 20;

/// One message. The endpoint recognises a repeated message by its identifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// Identifier of the delivery, equal in every attempt.
    pub id: WebhookDeliveryId,
    /// Webhook of the message.
    pub webhook: WebhookId,
    /// Type of the message.
    pub name: String,
    /// Content of the message.
    pub about: About,
    /// Time at which the delivery was created.
    pub created_at: Timestamp,
    /// State of the delivery.
    pub progress: Progress,
    /// Number of attempts since the delivery was created or replayed.
    pub tries: u32,
    /// The latest attempts, oldest first.
    pub attempts: Vec<Attempt>,
}

/// Type of a message that carries an answer. It names no kind of event, because the log has no entry for it.
pub const ANSWER_MESSAGE: &str = "answer.waiting";

/// Type of a test message. It names no kind of event.
pub const TEST_MESSAGE: &str = "webhook.test";

/// Reference to the content of a message. The message is built when it is sent, so that the content is not stored twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// An event of a session.
    Event {
        /// Session of the event.
        session: SessionId,
        /// Number of the event in the session.
        seq: u64,
    },
    /// An answer that waits for its agent.
    Answer {
        /// Question of the answer.
        interaction: InteractionId,
        /// Revision of the question. An answer that is offered again has another revision and is another message.
        revision: u64,
        /// Lease that the endpoint receives with the answer.
        lease: LeaseId,
    },
    /// A message that tests the endpoint.
    Test,
}

/// State of a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Progress {
    /// The message must still be sent or retried.
    Pending {
        /// Time of the next attempt.
        due: Timestamp,
    },
    /// The endpoint has accepted the message.
    Delivered {
        /// Time of the acceptance.
        at: Timestamp,
    },
    /// All attempts have failed, or the endpoint is gone.
    Dead {
        /// Time at which the last attempt failed.
        at: Timestamp,
        /// Reason for giving up.
        reason: String,
    },
    /// The message is no longer needed, because the answer was taken in another way.
    Dropped {
        /// Time at which the delivery was dropped.
        at: Timestamp,
    },
}

/// State of a message.
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookDeliveryState {
    /// The message is to be sent, or sent again.
    Pending,
    /// The endpoint accepted the message.
    Delivered,
    /// All attempts to send the message failed.
    Dead,
    /// The message was discarded.
    Dropped,
}

impl WebhookDeliveryState {
    /// Name of the state in JSON and in the stores.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
            Self::Dropped => "dropped",
        }
    }
}

/// One attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Time at which the attempt began.
    pub at: Timestamp,
    /// HTTP status of the response. `None` if there was no response.
    pub status: Option<u16>,
    /// Beginning of the response body, or the reason why there was no response.
    pub note: String,
    /// Duration of the attempt in milliseconds.
    pub millis: u64,
}

/// Result of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The endpoint has accepted the message.
    Accepted {
        /// Whether the endpoint has also processed it. Status 202 means that it has not yet.
        done: bool,
    },
    /// The endpoint wants no further messages.
    Gone,
    /// The attempt failed in any other way.
    Failed,
}

impl Progress {
    /// State without its data.
    #[must_use]
    pub const fn state(&self) -> WebhookDeliveryState {
        match self {
            Self::Pending { .. } => WebhookDeliveryState::Pending,
            Self::Delivered { .. } => WebhookDeliveryState::Delivered,
            Self::Dead { .. } => WebhookDeliveryState::Dead,
            Self::Dropped { .. } => WebhookDeliveryState::Dropped,
        }
    }

    /// Time of the next attempt, if there is one.
    #[must_use]
    pub const fn due(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { due } => Some(*due),
            Self::Delivered { .. } | Self::Dead { .. } | Self::Dropped { .. } => None,
        }
    }

    /// Time at which the delivery was settled, if it was.
    #[must_use]
    pub const fn settled_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { .. } => None,
            Self::Delivered { at } | Self::Dead { at, .. } | Self::Dropped { at } => Some(*at),
        }
    }
}

impl Attempt {
    /// Result of the attempt. A redirect is not followed and counts as a failure.
    #[must_use]
    pub const fn verdict(&self) -> AttemptVerdict {
        match self.status {
            Some(202) => AttemptVerdict::Accepted { done: false },
            Some(200..=299) => AttemptVerdict::Accepted { done: true },
            Some(410) => AttemptVerdict::Gone,
            _ => AttemptVerdict::Failed,
        }
    }
}

impl WebhookDelivery {
    /// Creates a delivery that is due immediately.
    #[must_use]
    pub const fn new(id: WebhookDeliveryId, webhook: WebhookId, name: String, about: About, now: Timestamp) -> Self {
        let progress = Progress::Pending { due: now };
        Self { id, webhook, name, about, created_at: now, progress, tries: 0, attempts: Vec::new() }
    }

    /// Records an attempt. The delivery is then settled, or due again later. `jitter` is a random byte.
    #[must_use]
    pub fn record_attempt(
        mut self,
        attempt: Attempt,
        wait: Option<SignedDuration>,
        jitter: u8,
        now: Timestamp,
    ) -> Self {
        let verdict = attempt.verdict();
        self.tries += 1;
        self.progress = match verdict {
            AttemptVerdict::Accepted { .. } => Progress::Delivered { at: now },
            AttemptVerdict::Gone => Progress::Dead { at: now, reason: "the endpoint is gone (410)".into() },
            AttemptVerdict::Failed => match self.again(wait, jitter, now) {
                Some(due) => Progress::Pending { due },
                None => Progress::Dead { at: now, reason: format!("{} attempts have failed", self.tries) },
            },
        };
        self.attempts.push(attempt);
        let much = self.attempts.len().saturating_sub(REMEMBERED);
        self.attempts.drain(..much);
        self
    }

    /// Time of the next attempt. It is not before the time that the endpoint requested, within a limit.
    fn again(&self, wait: Option<SignedDuration>, jitter: u8, now: Timestamp) -> Option<Timestamp> {
        let delay = *DELAYS.get(usize::try_from(self.tries).ok()?.checked_sub(1)?)?;
        let millis = delay * 1000 + delay * 10 * JITTER * i64::from(jitter) / 255;
        let wait = wait.unwrap_or_default().min(LONGEST);
        now.checked_add(SignedDuration::from_millis(millis).max(wait)).ok()
    }

    /// Postpones the delivery without an attempt, because it may not be sent now.
    #[must_use]
    pub fn postpone(self, due: Timestamp) -> Self {
        Self { progress: Progress::Pending { due }, ..self }
    }

    /// Drops the delivery, because the message is no longer needed.
    #[must_use]
    pub fn discard(self, now: Timestamp) -> Self {
        Self { progress: Progress::Dropped { at: now }, ..self }
    }

    /// Sends the message again with its identifier and with the number of attempts of a new one.
    pub fn replay(self, now: Timestamp) -> Result<Self, Refusal> {
        match self.progress {
            Progress::Pending { .. } => Err(Refusal::WebhookDeliveryPending(self.id)),
            Progress::Delivered { .. } | Progress::Dead { .. } | Progress::Dropped { .. } => {
                Ok(Self { progress: Progress::Pending { due: now }, tries: 0, ..self })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn message() -> WebhookDelivery {
        let (id, webhook) = (WebhookDeliveryId::from_uuid(Uuid::nil()), WebhookId::from_uuid(Uuid::nil()));
        WebhookDelivery::new(id, webhook, "webhook.test".into(), About::Test, at(0))
    }

    fn attempt(status: Option<u16>) -> Attempt {
        Attempt { at: at(0), status, note: String::new(), millis: 1 }
    }

    fn check(status: Option<u16>, expected: AttemptVerdict) {
        assert_eq!(attempt(status).verdict(), expected, "{status:?}");
    }

    #[test]
    fn only_status_2xx_accepts_a_message() {
        let done = |done| AttemptVerdict::Accepted { done };
        for (status, expected) in [(200, done(true)), (202, done(false)), (204, done(true)), (299, done(true))] {
            check(Some(status), expected);
        }
        check(Some(410), AttemptVerdict::Gone);
        for status in [None, Some(199), Some(300), Some(301), Some(307), Some(400), Some(404), Some(429), Some(503)] {
            check(status, AttemptVerdict::Failed);
        }
    }

    #[test]
    fn delays_grow_until_the_delivery_is_dead_and_a_replay_restarts() {
        let mut message = message();
        for (number, delay) in DELAYS.into_iter().enumerate() {
            let before = message.clone();
            message = message.record_attempt(attempt(None), None, 0, at(0));
            assert_eq!(message.progress, Progress::Pending { due: at(delay) }, "attempt {number}");
            let late = before.record_attempt(attempt(None), None, 255, at(0)).progress.due().unwrap();
            assert_eq!(late, at(0) + SignedDuration::from_millis(delay * 1200), "attempt {number}");
        }
        let dead = message.record_attempt(attempt(None), None, 0, at(1));
        assert_eq!(dead.progress, Progress::Dead { at: at(1), reason: "10 attempts have failed".into() });
        assert_eq!(dead.attempts.len(), 10);
        let again = dead.replay(at(2)).unwrap();
        assert_eq!((again.progress.due(), again.tries), (Some(at(2)), 0));
        assert_eq!(again.clone().replay(at(3)), Err(Refusal::WebhookDeliveryPending(again.id)));
        let mut much = again;
        for _ in 0..9 {
            much = much.record_attempt(attempt(Some(500)), None, 0, at(9));
        }
        let taken = much.record_attempt(attempt(Some(204)), None, 0, at(9));
        assert_eq!((taken.progress, taken.attempts.len()), (Progress::Delivered { at: at(9) }, REMEMBERED));
    }

    #[test]
    fn requested_wait_is_respected_up_to_one_day() {
        for (wait, due) in [(3, 5), (60, 60), (10 * 86_400, 86_400)] {
            let wait = Some(SignedDuration::from_secs(wait));
            assert_eq!(message().record_attempt(attempt(Some(429)), wait, 0, at(0)).progress.due(), Some(at(due)));
        }
    }
}
