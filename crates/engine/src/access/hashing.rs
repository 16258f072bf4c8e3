//! Hashes passwords with Argon2, a few at a time, in memory that each slot allocates once and reuses.
//!
//! A hash needs 19 MiB. If it were allocated anew on any free thread, the allocator would keep that memory for each thread.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use domain::{Limit, Refusal};
use parking_lot::Mutex;
use store::StoreError;
use tokio::sync::Semaphore;

use crate::Error;

/// Number of hashes that are computed at a time. Each takes 19 MiB and occupies one processor.
const AT_ONCE: usize = 2;
/// Maximum number of hashes that wait for a slot. Further requests are refused at once.
const MOST_WAITING: usize = 32;
const FULL: Refusal = Refusal::LimitReached { limit: Limit::PasswordHashes, max: MOST_WAITING as u64 };
/// Maximum wait for a slot before the caller is told to try again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Queue of password hashes, with a fixed number of slots.
pub(crate) struct HashQueue {
    slots: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// Memory of the idle slots; never more arenas than slots.
    arenas: Arc<Mutex<Vec<Arena>>>,
}

/// Memory that one hash is computed in.
type Arena = Vec<Block>;

impl Default for HashQueue {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            queue: Arc::new(Semaphore::new(AT_ONCE + MOST_WAITING)),
            arenas: Arc::default(),
        }
    }
}

impl HashQueue {
    /// Waits for a slot and runs `work` with its memory on a blocking thread.
    pub(crate) async fn run_queued<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Hasher<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let queued = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| FULL)?;
        let permit = tokio::time::timeout(PATIENCE, Arc::clone(&self.slots).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(StoreError::Busy.into()) };
        let arenas = Arc::clone(&self.arenas);
        let done = tokio::task::spawn_blocking(move || {
            let mut arena = arenas.lock().pop().unwrap_or_default();
            let done = work(&mut Hasher(&mut arena));
            arenas.lock().push(arena);
            drop((permit, queued));
            done
        });
        Ok(done.await.map_err(|_| StoreError::Panicked)?)
    }
}

/// Computes hashes in the memory of one slot.
pub(crate) struct Hasher<'a>(&'a mut Arena);

impl Hasher<'_> {
    /// Computes the hash of a password in the form in which it is stored.
    pub(crate) fn hash(&mut self, password: &[u8], salt: &[u8]) -> Option<String> {
        let (argon2, params) = (Argon2::default(), Params::default());
        let hash = self.output(&argon2, password, salt, Params::DEFAULT_OUTPUT_LEN)?;
        let hash = PasswordHash {
            algorithm: Algorithm::default().ident(),
            version: Some(Version::default().into()),
            params: ParamsString::try_from(&params).ok()?,
            salt: Some(Salt::new(salt).ok()?),
            hash: Some(hash),
        };
        Some(hash.to_string())
    }

    /// Whether the password matches the stored hash.
    pub(crate) fn fits(&mut self, password: &[u8], known: &str) -> bool {
        self.compare(password, known).unwrap_or(false)
    }

    fn compare(&mut self, password: &[u8], known: &str) -> Option<bool> {
        let known = PasswordHash::new(known).ok()?;
        let (salt, expected) = (known.salt.as_ref()?, known.hash.as_ref()?);
        let algorithm = Algorithm::try_from(known.algorithm.as_str()).ok()?;
        let version = known.version.map_or(Ok(Version::default()), Version::try_from).ok()?;
        let argon2 = Argon2::new(algorithm, version, Params::try_from(&known).ok()?);
        // `Output` compares in constant time.
        Some(self.output(&argon2, password, salt, expected.as_ref().len())? == *expected)
    }

    fn output(&mut self, argon2: &Argon2<'_>, password: &[u8], salt: &[u8], length: usize) -> Option<Output> {
        let blocks = argon2.params().block_count();
        if self.0.len() < blocks {
            self.0.resize(blocks, Block::new());
        }
        let mut bytes = [0; Output::MAX_LENGTH];
        let bytes = bytes.get_mut(..length)?;
        argon2.hash_password_into_with_memory(password, salt, bytes, self.0.as_mut_slice()).ok()?;
        Output::new(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use argon2::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn hashes_equal_those_of_the_argon2_library() {
        let mut arena = Arena::new();
        let mut hasher = Hasher(&mut arena);
        let hash = hasher.hash(b"correct horse", &[7; 16]).unwrap();
        let by_library: PasswordHash = Argon2::default().hash_password_with_salt(b"correct horse", &[7; 16]).unwrap();
        assert_eq!(hash, by_library.to_string());
        assert!(Argon2::default().verify_password(b"correct horse", &by_library).is_ok());
        assert!(hasher.fits(b"correct horse", &hash), "in memory that was used before");
        assert!(!hasher.fits(b"wrong horse", &hash) && !hasher.fits(b"correct horse", "no hash"));
    }

    #[tokio::test]
    async fn hashing_memory_is_reused() {
        let queue = HashQueue::default();
        let hashing = (0..8_u8).map(|number| queue.run_queued(move |hasher| hasher.hash(b"password", &[number; 16])));
        let hashes = futures::future::join_all(hashing).await;
        assert!(hashes.into_iter().all(|hash| hash.unwrap().is_some()));
        let kept: usize = queue.arenas.lock().iter().map(Vec::len).sum();
        assert!((1..=AT_ONCE * Params::default().block_count()).contains(&kept), "{kept} KiB are kept");
    }

    /// A request that finds the queue full is refused at once.
    #[tokio::test]
    async fn full_hash_queue_refuses_further_requests() {
        let queue = HashQueue::default();
        let slots = Arc::clone(&queue.slots).acquire_many_owned(u32::try_from(AT_ONCE).unwrap()).await.unwrap();
        let taken = u32::try_from(AT_ONCE + MOST_WAITING - 1).unwrap();
        let waiting = Arc::clone(&queue.queue).acquire_many_owned(taken).await.unwrap();
        let mut last = Box::pin(queue.run_queued(|_| ()));
        assert!(futures::poll!(last.as_mut()).is_pending(), "the last one waits");
        assert_eq!(queue.run_queued(|_| ()).await, Err(FULL.into()));
        drop((slots, waiting));
        assert_eq!(last.await, Ok(()));
    }
}
