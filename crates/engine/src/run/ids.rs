//! Draws all random numbers and makes all ids of the engine.

use std::fmt;

use domain::{
    AnswerId, DataKeyId, EntryId, EventId, GrantId, InteractionId, KeyId, LeaseId, LinkId, PermitId, ProjectId,
    SecretId, SessionId, StepId, TenantId, TicketId, Timestamp, UserId, VisitId, WebhookDeliveryId, WebhookId,
};
use parking_lot::Mutex;
use uuid::Uuid;

type Fill = Box<dyn Fn(&mut [u8]) + Send + Sync>;

/// Generator of ids: UUIDv7, which sort by time. Within one node they increase strictly, even if the clock jumps back.
pub struct Ids {
    fill: Fill,
    last: Mutex<(u64, u32)>,
}

/// Number of bits of an id that count within a millisecond.
const COUNTER_BITS: u32 = 26;

impl Default for Ids {
    fn default() -> Self {
        Self::from_source(Box::new(|bytes| {
            if getrandom::fill(bytes).is_err() {
                // Without randomness, ids and keys can be guessed. Stopping is better than continuing with such ids.
                tracing::error!("the operating system gives no randomness");
                std::process::abort();
            }
        }))
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ids")
    }
}

impl Ids {
    /// Creates a generator with another source of random bytes, such as the replayable source of a simulation.
    #[must_use]
    pub fn from_source(fill: Fill) -> Self {
        Self { fill, last: Mutex::new((0, 0)) }
    }

    /// Draws random bytes for secrets.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.fill)(&mut bytes);
        bytes
    }

    fn fresh(&self, now: Timestamp) -> Uuid {
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        let mut bytes: [u8; 10] = self.random();
        let (millis, counter) = {
            let mut last = self.last.lock();
            if millis > last.0 {
                let start = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) >> (33 - COUNTER_BITS);
                *last = (millis, start);
            } else if last.1 + 1 < 1 << COUNTER_BITS {
                last.1 += 1;
            } else {
                *last = (last.0 + 1, 0);
            }
            *last
        };
        // The version takes the high bits of the first byte, the variant those of the third.
        let ([first, second, ..], [.., third, fourth]) = ((counter << 2).to_be_bytes(), counter.to_be_bytes());
        bytes[..4].copy_from_slice(&[first, second, third & 0x3f, fourth]);
        uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid()
    }
}

macro_rules! make {
    ($($name:ident: $id:ident),*) => {
        impl Ids {
            $(pub(crate) fn $name(&self, now: Timestamp) -> $id {
                $id::from_uuid(self.fresh(now))
            })*
        }
    };
}

make! {
    tenant: TenantId, project: ProjectId, session: SessionId, step: StepId, interaction: InteractionId,
    answer: AnswerId, event: EventId, key: KeyId, lease: LeaseId, permit: PermitId, grant: GrantId, entry: EntryId,
    data_key: DataKeyId, secret: SecretId, user: UserId, visit: VisitId, link: LinkId, ticket: TicketId,
    webhook: WebhookId, webhook_delivery: WebhookDeliveryId
}

impl Ids {
    /// Makes the id of a step so that it sorts after the previous step of the session, which another node may have made by another clock.
    pub(crate) fn step_after(&self, before: StepId, now: Timestamp) -> StepId {
        let millis = i64::try_from(before.uuid().as_u128() >> 80).unwrap_or_default();
        let least = Timestamp::from_millisecond(millis.saturating_add(1)).unwrap_or(now);
        self.step(now.max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::SignedDuration;

    #[test]
    fn ids_increase_even_if_the_clock_jumps_back() {
        let ids = Ids::default();
        let start = Timestamp::from_second(1_800_000_000).unwrap();
        let mut last = ids.fresh(start);
        for step in 0..10_000_i64 {
            let jump = SignedDuration::from_millis((step * 7919) % 13 - 6);
            let next = ids.fresh(start.saturating_add(jump).unwrap());
            assert!(next > last, "{next} after {last}");
            assert_eq!(next.get_version_num(), 7);
            last = next;
        }
    }
    #[test]
    fn step_id_sorts_after_the_previous_one_of_any_node() {
        let (one, other) = (Ids::default(), Ids::default());
        let start = Timestamp::from_second(1_800_000_000).unwrap();
        let mut last = one.step(start);
        for step in 0..1_000_i64 {
            let now = start.saturating_add(SignedDuration::from_millis((step * 7919) % 9_973 - 5_000)).unwrap();
            let next = if step % 2 == 0 { &other } else { &one }.step_after(last, now);
            assert!(next > last, "{next} after {last}");
            last = next;
        }
    }
}
