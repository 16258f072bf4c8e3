//! Holds the master keys, which wrap data keys. A master key is selected by its identifier, never by trial.

use std::fmt;

use domain::Digest;
use parking_lot::RwLock;
use zeroize::Zeroizing;

use crate::Error;

/// A key that wraps data keys. It is neither printed nor serialised.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// Creates a master key from 32 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// Bytes of the key, for code that stores it.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Identifier of the key, which does not disclose the key.
    #[must_use]
    pub fn id(&self) -> String {
        let told = Zeroizing::new([b"holdpoint master key id:", self.0.as_slice()].concat());
        Digest::of_bytes(&told).to_string()[..16].to_owned()
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(..)")
    }
}

/// Function that reads the master keys again, the newest first. It returns an empty list if they cannot be read now.
pub type Reread = Box<dyn Fn() -> Vec<MasterKey> + Send + Sync>;

/// Master keys that this process knows, and the function that reads them again.
pub(crate) struct Masters {
    known: RwLock<Vec<MasterKey>>,
    reread: Reread,
}

impl Masters {
    pub(crate) fn new(known: Vec<MasterKey>, reread: Reread) -> Self {
        Self { known: RwLock::new(known), reread }
    }

    /// Newest key of the last read.
    pub(crate) fn newest(&self) -> Result<MasterKey, Error> {
        self.known.read().first().cloned().ok_or(Error::Sealed)
    }

    /// Reads the keys again and returns the newest.
    pub(crate) fn newest_now(&self) -> Result<MasterKey, Error> {
        self.look_again();
        self.newest()
    }

    /// Finds the key with this identifier. Reads the keys again if it is unknown, because a rotation may have added it since.
    pub(crate) fn named(&self, id: &str) -> Result<MasterKey, Error> {
        let known = || self.known.read().iter().find(|key| key.id() == id).cloned();
        if let Some(key) = known() {
            return Ok(key);
        }
        self.look_again();
        known().ok_or(Error::Sealed)
    }

    /// Reads the keys again and adds new ones. A key that was removed from the source stays, because this process may still have to unwrap with it.
    fn look_again(&self) {
        let found = (self.reread)();
        if found.is_empty() {
            return;
        }
        let mut known = self.known.write();
        let earlier: Vec<MasterKey> =
            known.drain(..).filter(|key| found.iter().all(|other| other.id() != key.id())).collect();
        known.extend(found.into_iter().chain(earlier));
    }
}
