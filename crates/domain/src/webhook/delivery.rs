//! One message to an endpoint: tried until it is taken, or given up, visibly.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{InteractionId, LeaseId, Refusal, SessionId, WebhookDeliveryId, WebhookId};

/// How long is waited after each attempt that failed, in seconds. After the last one nothing more is tried.
pub const DELAYS: [i64; 9] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// How much a delay may be lengthened, in hundredths, so that those that failed together do not come back together.
const JITTER: i64 = 20;
/// The longest that an endpoint may have itself waited for.
const LONGEST: SignedDuration = SignedDuration::from_hours(24);
/// How many attempts are remembered.
const REMEMBERED: usize = 20;

/// One message. Its id is what the endpoint recognises a repeated one by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookDelivery {
    /// Its id, the same with every attempt.
    pub id: WebhookDeliveryId,
    /// To which endpoint.
    pub webhook: WebhookId,
    /// The type that it is sent as.
    pub name: String,
    /// What it says.
    pub about: About,
    /// When it was made.
    pub created_at: Timestamp,
    /// What has become of it.
    pub progress: Progress,
    /// How often it was tried since it was made, or replayed.
    pub tries: u32,
    /// The last attempts, the oldest first.
    pub attempts: Vec<Attempt>,
}

/// What a message says. It is put together when it is sent: nothing is kept twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// An event.
    Event {
        /// Of which session.
        session: SessionId,
        /// Its number there.
        seq: u64,
    },
    /// An answer that waits for its agent.
    Answer {
        /// To which question.
        interaction: InteractionId,
        /// As it was then: an answer that is offered again is another message.
        revision: u64,
        /// The lease that the endpoint gets with it.
        lease: LeaseId,
    },
    /// Nothing: somebody wants to see whether it arrives.
    Test,
}

/// What has become of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Progress {
    /// Still to be sent, or sent again.
    Pending {
        /// Not before this.
        due: Timestamp,
    },
    /// The endpoint has taken it.
    Delivered {
        /// When.
        at: Timestamp,
    },
    /// Given up.
    Dead {
        /// When.
        at: Timestamp,
        /// Why.
        reason: String,
    },
    /// Not wanted any more: the answer was taken by other means.
    Dropped {
        /// When.
        at: Timestamp,
    },
}

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// The status that came back.
    pub status: Option<u16>,
    /// The beginning of what came back, or why nothing did.
    pub note: String,
    /// How long it took, in milliseconds.
    pub millis: u64,
}

/// What an attempt means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The endpoint has it, and is done with it or not.
    Taken {
        /// Whether it is done: 202 says that it is not yet.
        done: bool,
    },
    /// The endpoint wants nothing more, ever.
    Gone,
    /// Anything else.
    Failed,
}

impl Progress {
    /// The word for it on the wire and in the stores.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::Delivered { .. } => "delivered",
            Self::Dead { .. } => "dead",
            Self::Dropped { .. } => "dropped",
        }
    }

    /// When it is to be sent, if it is.
    #[must_use]
    pub const fn due(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { due } => Some(*due),
            _ => None,
        }
    }

    /// When it was settled, if it was.
    #[must_use]
    pub const fn settled_at(&self) -> Option<Timestamp> {
        match self {
            Self::Pending { .. } => None,
            Self::Delivered { at } | Self::Dead { at, .. } | Self::Dropped { at } => Some(*at),
        }
    }
}

impl Attempt {
    /// What it means. A redirect is not followed, so that it is a failure.
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        match self.status {
            Some(202) => Verdict::Taken { done: false },
            Some(200..=299) => Verdict::Taken { done: true },
            Some(410) => Verdict::Gone,
            _ => Verdict::Failed,
        }
    }
}

impl WebhookDelivery {
    /// A message that is to be sent at once.
    #[must_use]
    pub const fn new(id: WebhookDeliveryId, webhook: WebhookId, name: String, about: About, now: Timestamp) -> Self {
        let progress = Progress::Pending { due: now };
        Self { id, webhook, name, about, created_at: now, progress, tries: 0, attempts: Vec::new() }
    }

    /// Takes note of an attempt: settled, or due again later. `jitter` is a random byte.
    #[must_use]
    pub fn tried(mut self, attempt: Attempt, wait: Option<SignedDuration>, jitter: u8, now: Timestamp) -> Self {
        let verdict = attempt.verdict();
        self.tries += 1;
        self.progress = match verdict {
            Verdict::Taken { .. } => Progress::Delivered { at: now },
            Verdict::Gone => Progress::Dead { at: now, reason: "the endpoint is gone (410)".into() },
            Verdict::Failed => match self.again(wait, jitter, now) {
                Some(due) => Progress::Pending { due },
                None => Progress::Dead { at: now, reason: format!("{} attempts have failed", self.tries) },
            },
        };
        self.attempts.push(attempt);
        let much = self.attempts.len().saturating_sub(REMEMBERED);
        self.attempts.drain(..much);
        self
    }

    /// When it is tried again: never earlier than the endpoint wishes, within reason.
    fn again(&self, wait: Option<SignedDuration>, jitter: u8, now: Timestamp) -> Option<Timestamp> {
        let delay = *DELAYS.get(usize::try_from(self.tries).ok()?.checked_sub(1)?)?;
        let millis = delay * 1000 + delay * 10 * JITTER * i64::from(jitter) / 255;
        let wait = wait.unwrap_or_default().min(LONGEST);
        now.checked_add(SignedDuration::from_millis(millis).max(wait)).ok()
    }

    /// Puts it off without an attempt: it may not be sent now.
    #[must_use]
    pub fn put_off(self, due: Timestamp) -> Self {
        Self { progress: Progress::Pending { due }, ..self }
    }

    /// Lets go of it: nobody wants it any more.
    #[must_use]
    pub fn drop_it(self, now: Timestamp) -> Self {
        Self { progress: Progress::Dropped { at: now }, ..self }
    }

    /// Sends it again, under the same id, with as many attempts as a new one.
    pub fn replay(self, now: Timestamp) -> Result<Self, Refusal> {
        match self.progress {
            Progress::Pending { .. } => Err(Refusal::WebhookDeliveryPending(self.id)),
            _ => Ok(Self { progress: Progress::Pending { due: now }, tries: 0, ..self }),
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

    fn check(status: Option<u16>, expected: Verdict) {
        assert_eq!(attempt(status).verdict(), expected, "{status:?}");
    }

    #[test]
    fn only_2xx_is_taken() {
        let done = |done| Verdict::Taken { done };
        for (status, expected) in [(200, done(true)), (202, done(false)), (204, done(true)), (299, done(true))] {
            check(Some(status), expected);
        }
        check(Some(410), Verdict::Gone);
        for status in [None, Some(199), Some(300), Some(301), Some(307), Some(400), Some(404), Some(429), Some(503)] {
            check(status, Verdict::Failed);
        }
    }

    #[test]
    fn delays_grow_until_it_is_dead_and_a_replay_begins_anew() {
        let mut message = message();
        for (number, delay) in DELAYS.into_iter().enumerate() {
            let before = message.clone();
            message = message.tried(attempt(None), None, 0, at(0));
            assert_eq!(message.progress, Progress::Pending { due: at(delay) }, "attempt {number}");
            let late = before.tried(attempt(None), None, 255, at(0)).progress.due().unwrap();
            assert_eq!(late, at(0) + SignedDuration::from_millis(delay * 1200), "attempt {number}");
        }
        let dead = message.tried(attempt(None), None, 0, at(1));
        assert_eq!(dead.progress, Progress::Dead { at: at(1), reason: "10 attempts have failed".into() });
        assert_eq!(dead.attempts.len(), 10);
        let again = dead.replay(at(2)).unwrap();
        assert_eq!((again.progress.due(), again.tries), (Some(at(2)), 0));
        assert_eq!(again.clone().replay(at(3)), Err(Refusal::WebhookDeliveryPending(again.id)));
        let mut much = again;
        for _ in 0..9 {
            much = much.tried(attempt(Some(500)), None, 0, at(9));
        }
        let taken = much.tried(attempt(Some(204)), None, 0, at(9));
        assert_eq!((taken.progress, taken.attempts.len()), (Progress::Delivered { at: at(9) }, REMEMBERED));
    }

    #[test]
    fn an_endpoint_may_have_itself_waited_for_but_not_for_ever() {
        for (wait, due) in [(3, 5), (60, 60), (10 * 86_400, 86_400)] {
            let wait = Some(SignedDuration::from_secs(wait));
            assert_eq!(message().tried(attempt(Some(429)), wait, 0, at(0)).progress.due(), Some(at(due)));
        }
    }
}
