//! Master keys: what data keys are wrapped with. Each has an id, and is chosen by it, never by trial.

use std::fmt;

use domain::Digest;
use parking_lot::RwLock;
use zeroize::Zeroizing;

use crate::Error;

/// A key that other keys are wrapped with. Neither printed nor serialised.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

impl MasterKey {
    /// Takes 32 bytes as the key.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The key itself, for whoever keeps it.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Names the key without telling it.
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

/// Reads the master keys anew, the newest first; nothing where they cannot be read now.
pub type Reread = Box<dyn Fn() -> Vec<MasterKey> + Send + Sync>;

/// The master keys that this process knows, and where to look for one that it does not know yet.
pub(crate) struct Masters {
    known: RwLock<Vec<MasterKey>>,
    reread: Reread,
}

impl Masters {
    pub(crate) fn new(known: Vec<MasterKey>, reread: Reread) -> Self {
        Self { known: RwLock::new(known), reread }
    }

    /// The newest, as it was last read.
    pub(crate) fn newest(&self) -> Result<MasterKey, Error> {
        self.known.read().first().cloned().ok_or(Error::Sealed)
    }

    /// The newest, read anew.
    pub(crate) fn newest_now(&self) -> Result<MasterKey, Error> {
        self.look_again();
        self.newest()
    }

    /// The key of this id. A rotation may have brought it since the keys were last read.
    pub(crate) fn named(&self, id: &str) -> Result<MasterKey, Error> {
        let known = || self.known.read().iter().find(|key| key.id() == id).cloned();
        if let Some(key) = known() {
            return Ok(key);
        }
        self.look_again();
        known().ok_or(Error::Sealed)
    }

    /// Adds what is new. A key that was given up at its source is still good for what this process has yet to open.
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
