//! Counts slots for each holder (key, address or tenant). A slot is freed when it is dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of remembered holders at which holders without a slot are removed.
const TRIM_AT: usize = 1024;

/// Fixed number of slots for each holder. Holders without a slot are removed from time to time, so that they take no memory.
pub struct Slots<K> {
    most: usize,
    inner: Mutex<Holders<K>>,
}

struct Holders<K> {
    holders: HashMap<K, Weak<Semaphore>>,
    trim_at: usize,
}

/// Slots of one holder. Dropping this value frees them.
pub struct Slot {
    _permit: OwnedSemaphorePermit,
}

impl<K: Eq + Hash> Slots<K> {
    /// Gives each holder `most` slots.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let inner = Holders { holders: HashMap::new(), trim_at: TRIM_AT };
        Self { most: most.min(Semaphore::MAX_PERMITS), inner: Mutex::new(inner) }
    }

    /// Number of slots of each holder.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Acquires one slot, if one is free.
    #[must_use]
    pub fn acquire(&self, holder: K) -> Option<Slot> {
        self.acquire_many(holder, 1)
    }

    /// Acquires several slots at once, or none if fewer are free.
    #[must_use]
    pub fn acquire_many(&self, holder: K, places: u32) -> Option<Slot> {
        self.of(holder).try_acquire_many_owned(places).ok().map(|permit| Slot { _permit: permit })
    }

    /// Waits for a slot, for at most `longest`. Slots are given in the order of the calls.
    pub async fn wait(&self, holder: K, longest: Duration) -> Option<Slot> {
        let permit = tokio::time::timeout(longest, self.of(holder).acquire_owned()).await.ok()?.ok()?;
        Some(Slot { _permit: permit })
    }

    /// Semaphore of a holder. It lives as long as a slot is taken or a caller waits for one.
    fn of(&self, holder: K) -> Arc<Semaphore> {
        let mut inner = self.inner.lock();
        if inner.holders.len() >= inner.trim_at {
            inner.holders.retain(|_, places| places.strong_count() > 0);
            inner.trim_at = TRIM_AT.max(inner.holders.len() * 2);
        }
        let known = inner.holders.entry(holder).or_default();
        if let Some(places) = known.upgrade() {
            return places;
        }
        let places = Arc::new(Semaphore::new(self.most));
        *known = Arc::downgrade(&places);
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slots_are_limited_per_holder() {
        let slots = Slots::new(2);
        let (first, second) = (slots.acquire("a").unwrap(), slots.acquire("a").unwrap());
        assert!(slots.acquire("a").is_none());
        assert!(slots.acquire_many("b", 2).is_some() && slots.acquire_many("b", 3).is_none());
        drop(first);
        assert!(slots.acquire_many("a", 2).is_none());
        assert!(slots.wait("a", Duration::from_secs(5)).await.is_some());
        drop(second);
        assert!(slots.acquire_many("a", 2).is_some());
    }

    #[test]
    fn holders_without_a_slot_are_removed() {
        let slots = Slots::new(1);
        let held = slots.acquire(0).unwrap();
        for holder in 1..=3 * TRIM_AT {
            assert!(slots.acquire(holder).is_some());
        }
        assert!(slots.inner.lock().holders.len() <= TRIM_AT);
        assert!(slots.acquire(0).is_none(), "who has a place is remembered");
        drop(held);
    }
}
