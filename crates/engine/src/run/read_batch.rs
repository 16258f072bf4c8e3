//! Limits how much of an event log is held in memory for one reader.

use domain::Event;
use serde_json::Value;

/// Largest number of events in one batch.
const MOST: u32 = 100;
/// Approximate number of bytes of event data in one batch. A batch has at least one event, and an event is never larger than a request body.
const HELD: usize = 64 * 1024;

/// Number of events to read next. It shrinks after large events, so that few events are read only to be dropped.
#[derive(Debug)]
pub(crate) struct BatchSize(u32);

impl Default for BatchSize {
    fn default() -> Self {
        Self(MOST)
    }
}

impl BatchSize {
    /// Number of events to read.
    pub(crate) const fn limit(&self) -> u32 {
        self.0
    }

    /// Drops the events of a batch that exceed the limit in bytes, and adapts the next limit. The reader reads the dropped events again later.
    pub(crate) fn cut<T>(&mut self, found: &mut Vec<T>, event: impl Fn(&T) -> &Event) {
        let mut bytes = 0;
        let mut fits = |one: &T| {
            bytes += weight(&event(one).data);
            bytes <= HELD
        };
        let kept = found.iter().take_while(|one| fits(one)).count().max(1);
        let all = found.len();
        found.truncate(kept);
        self.0 = if kept < all { u32::try_from(kept).unwrap_or(MOST) } else { self.0.saturating_mul(2).min(MOST) };
    }
}

/// Estimates how many bytes a value takes.
fn weight(value: &Value) -> usize {
    let inner = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
    };
    inner + size_of::<Value>()
}

#[cfg(test)]
mod tests {
    use domain::{EventId, SessionId, Timestamp};
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn events(count: u32, data: &Value) -> Vec<Event> {
        let event = |seq| Event {
            id: EventId::from_uuid(Uuid::nil()),
            session: SessionId::from_uuid(Uuid::nil()),
            seq,
            name: "test.happened".into(),
            at: Timestamp::UNIX_EPOCH,
            step: None,
            interaction: None,
            data: data.clone(),
        };
        (1..=u64::from(count)).map(event).collect()
    }

    fn check(batch: &mut BatchSize, bytes: usize, kept: usize, then: u32) {
        let mut found = events(batch.limit(), &json!({ "reason": ["x".repeat(bytes)] }));
        batch.cut(&mut found, |event| event);
        assert_eq!((found.len(), batch.limit()), (kept, then), "{bytes} bytes each");
        assert!(found.iter().map(|event| event.seq).eq(1..=kept as u64), "the first ones, in order");
    }

    #[test]
    fn batch_size_shrinks_for_large_events_and_grows_for_small_ones() {
        let mut batch = BatchSize::default();
        check(&mut batch, 10, 100, 100);
        check(&mut batch, 20_000, 3, 3);
        check(&mut batch, 1_000_000, 1, 1);
        for (kept, then) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 64), (64, 100), (100, 100)] {
            check(&mut batch, 10, kept, then);
        }
    }
}
