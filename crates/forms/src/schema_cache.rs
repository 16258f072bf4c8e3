//! A cache of compiled schemas, limited by the memory that they take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Digest of a schema.
pub(crate) type SchemaHash = [u8; 32];

/// A cache that holds values up to a number of bytes and evicts the least recently used.
///
/// Evicted values are dropped before the new one is inserted, so that their memory is free at once.
pub(crate) struct SchemaCache<T> {
    most: u64,
    inner: Mutex<CacheState<T>>,
}

struct CacheState<T> {
    entries: HashMap<SchemaHash, CachedSchema<T>>,
    bytes: u64,
    uses: u64,
}

struct CachedSchema<T> {
    value: Arc<T>,
    bytes: u64,
    /// Number of the last use; higher is later.
    used: u64,
}

impl<T> SchemaCache<T> {
    pub(crate) fn new(most: u64) -> Self {
        Self { most, inner: Mutex::new(CacheState { entries: HashMap::new(), bytes: 0, uses: 0 }) }
    }

    pub(crate) fn get(&self, key: &SchemaHash) -> Option<Arc<T>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.uses += 1;
        let used = inner.uses;
        let entry = inner.entries.get_mut(key)?;
        entry.used = used;
        Some(Arc::clone(&entry.value))
    }

    /// Inserts a value of this many bytes. A value larger than the whole cache is not kept.
    pub(crate) fn put(&self, key: SchemaHash, value: Arc<T>, bytes: u64) {
        if bytes > self.most {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.remove(&key);
        while inner.bytes.saturating_add(bytes) > self.most {
            let oldest = inner.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            let Some(oldest) = oldest else { break };
            inner.remove(&oldest);
        }
        inner.uses += 1;
        inner.bytes = inner.bytes.saturating_add(bytes);
        let used = inner.uses;
        inner.entries.insert(key, CachedSchema { value, bytes, used });
    }

    /// Bytes of all values.
    pub(crate) fn bytes(&self) -> u64 {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

impl<T> CacheState<T> {
    fn remove(&mut self, key: &SchemaHash) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_schema_is_evicted_first() {
        let kept = SchemaCache::new(10);
        let (first, second) = (Arc::new("first"), Arc::new("second"));
        kept.put([1; 32], Arc::clone(&first), 5);
        kept.put([2; 32], Arc::clone(&second), 5);
        assert!(kept.get(&[1; 32]).is_some());
        kept.put([3; 32], Arc::new("third"), 4);
        assert!(kept.get(&[2; 32]).is_none() && kept.get(&[1; 32]).is_some() && kept.get(&[3; 32]).is_some());
        assert_eq!((kept.bytes(), Arc::strong_count(&second)), (9, 1), "the evicted value is dropped immediately");
        kept.put([4; 32], Arc::new("too large"), 11);
        assert_eq!(kept.bytes(), 9, "a value larger than the cache is not kept");
        kept.put([1; 32], Arc::new("again"), 6);
        assert_eq!((kept.bytes(), Arc::strong_count(&first)), (10, 1), "a key has one value");
    }
}
