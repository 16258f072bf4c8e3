//! Authenticates a bearer token and returns its caller.

use std::sync::Arc;

use domain::{Caller, Credential, KeyId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::{Cost, KeyRecord};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::access::current_caller::{standing_in, visiting};
use crate::{Engine, Error};

/// Prefix of an API key.
pub(crate) const KEY: &str = "hp_";
/// Prefix of a browser's credential.
pub(crate) const VISIT: &str = "hpv_";
/// Prefix of the credential in a one-time link.
pub(crate) const LINK: &str = "hpl_";
/// Prefix of a ticket, which opens one stream.
pub(crate) const TICKET: &str = "hpt_";
/// Minimum seconds between two recorded uses of a key.
const USE_NOTED_EVERY: i64 = 60;

impl Engine {
    /// Returns the caller of an API key.
    pub async fn authenticate(&self, text: &str) -> Result<Caller, Error> {
        let (id, secret) = parsed(KEY, text).ok_or(Error::Unauthenticated)?;
        let id = KeyId::from_uuid(id);
        let record = self.key_record(id).await?;
        let pepper = self.pepper().await?;
        if !bool::from(fingerprint(&pepper, &secret).ct_eq(&record.hash)) {
            return Err(Error::Unauthenticated);
        }
        let now = self.now();
        let caller = record.key.caller(now).ok_or(Error::Unauthenticated)?;
        let noted = record.key.last_used_at.is_some_and(|at| now.duration_since(at).as_secs() < USE_NOTED_EVERY);
        if !noted {
            self.used.lock().insert(id, now);
        }
        Ok(caller)
    }

    /// Returns the caller with the role and groups of this moment, or refuses if the credential is no longer valid. Long waits and streams call it
    /// before they go on. A command reads the caller once more, in its own transaction.
    pub async fn recheck(&self, caller: &Caller) -> Result<Caller, Error> {
        let again = match caller.credential {
            Credential::Key(key) => self.key_record(key).await?.key.caller(self.now()),
            // The visit may have moved to another project meanwhile. Work in the earlier project goes on while the person belongs to it.
            Credential::Visit(visit) => visiting(self.visit_record(visit).await?, caller, self.now()),
            // A worker has no record of its own: its step lease is checked instead.
            Credential::Worker => Some(caller.clone()),
        };
        again.and_then(|again| standing_in(again, caller)).ok_or(Error::Unauthenticated)
    }

    pub(crate) async fn key_record(&self, id: KeyId) -> Result<Arc<KeyRecord>, Error> {
        if let Some(record) = self.keys.get(&id) {
            return Ok(record);
        }
        let found = self.read(Cost::Point, move |reads| Ok(reads.key(id)?)).await?;
        let record = Arc::new(found.ok_or(Error::Unauthenticated)?);
        self.keys.insert(id, Arc::clone(&record));
        Ok(record)
    }

    /// Secret that credentials are hashed with, shared by all nodes through the store.
    pub(crate) async fn pepper(&self) -> Result<Arc<[u8]>, Error> {
        if let Some(pepper) = self.pepper.lock().clone() {
            return Ok(pepper);
        }
        let fresh: String = domain::hex(&self.ids.random::<32>());
        let kept = self.transact(move |work| Ok(work.tx.setting_ensure("pepper", &fresh)?)).await?;
        let pepper: Arc<[u8]> = kept.into_bytes().into();
        *self.pepper.lock() = Some(Arc::clone(&pepper));
        Ok(pepper)
    }
}

/// Computes the keyed hash that is stored for a credential's secret.
pub(crate) fn fingerprint(pepper: &[u8], secret: &[u8]) -> [u8; 32] {
    // HMAC accepts keys of any length, so this cannot fail. If it did, the hash would match nothing.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(pepper) else { return [0; 32] };
    mac.update(secret);
    mac.finalize().into_bytes().into()
}

/// Formats a credential as text. The text is shown to its owner once.
pub(crate) fn spelled(mark: &str, id: Uuid, secret: &[u8; 32]) -> String {
    format!("{mark}{}_{}", id.simple(), domain::hex(secret))
}

/// Parses a credential into its identifier and its secret.
pub(crate) fn parsed(mark: &str, text: &str) -> Option<(Uuid, [u8; 32])> {
    let (id, secret) = text.strip_prefix(mark)?.split_once('_')?;
    let mut bytes = [0; 32];
    domain::read_hex(secret, &mut bytes)?;
    Some((Uuid::try_parse(id).ok()?, bytes))
}
