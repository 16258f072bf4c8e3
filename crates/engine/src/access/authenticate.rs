//! Authenticates API keys and cookies, and reads a caller again before later work.

use std::sync::Arc;

use domain::{Caller, Credential, KeyId, Timestamp, Visit, VisitId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::{Cost, KeyRecord, Reads, VisitRecord};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::{Engine, Error};

/// Prefix of an API key.
pub(crate) const KEY: &str = "hp_";
/// Prefix of a browser's credential.
pub(crate) const VISIT: &str = "hpv_";
/// Prefix of the credential in a one-time link.
pub(crate) const LINK: &str = "hpl_";
/// Prefix of a ticket, which opens one stream.
pub(crate) const TICKET: &str = "hpt_";
/// Minimum seconds between two recorded uses of a key or a visit.
const USE_NOTED_EVERY: i64 = 60;

impl Engine {
    /// Returns the caller of an API key.
    pub async fn authenticate(&self, text: &str) -> Result<Caller, Error> {
        let (id, secret) = parse_credential(KEY, text).ok_or(Error::Unauthenticated)?;
        let id = KeyId::from_uuid(id);
        let record = read_key(self, id).await?;
        let pepper = load_pepper(self).await?;
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

    /// Returns the caller of a browser's cookie.
    ///
    /// Unlike a key, a visit is read from the store each time: people send fewer requests than agents, and a visit that ends has then ended on all
    /// nodes.
    pub async fn authenticate_visit(&self, text: &str) -> Result<Caller, Error> {
        let (id, secret) = parse_credential(VISIT, text).ok_or(Error::Unauthenticated)?;
        let record = read_visit(self, VisitId::from_uuid(id)).await?;
        if !bool::from(fingerprint(&load_pepper(self).await?, &secret).ct_eq(&record.hash)) {
            return Err(Error::Unauthenticated);
        }
        let (now, visit) = (self.now(), &record.visit);
        let caller = visit.caller(&record.user, now).ok_or(Error::Unauthenticated)?;
        if now.duration_since(visit.seen_at).as_secs() >= USE_NOTED_EVERY {
            self.visited.lock().insert(visit.id, now);
        }
        Ok(caller)
    }

    /// Returns the caller with the role and groups of this moment, or refuses if the credential is no longer valid. Long waits and streams call it
    /// before they continue. A command reads the caller once more, in its own transaction.
    pub async fn recheck_caller(&self, caller: &Caller) -> Result<Caller, Error> {
        let again = match caller.credential {
            Credential::Key(key) => read_key(self, key).await?.key.caller(self.now()),
            // The visit may have moved to another project meanwhile. Work in the earlier project continues while the person belongs to it.
            Credential::Visit(visit) => caller_of_visit(read_visit(self, visit).await?, caller, self.now()),
            // A worker has no stored credential: its step lease is checked instead.
            Credential::Worker => Some(caller.clone()),
        };
        again.and_then(|again| with_request_of(again, caller)).ok_or(Error::Unauthenticated)
    }
}

/// Reads a visit, or fails as unauthenticated.
pub(crate) async fn read_visit(engine: &Engine, id: VisitId) -> Result<VisitRecord, Error> {
    let found = engine.read(Cost::Point, move |reads| Ok(reads.visit(id)?)).await?;
    found.ok_or(Error::Unauthenticated)
}

pub(crate) async fn read_key(engine: &Engine, id: KeyId) -> Result<Arc<KeyRecord>, Error> {
    if let Some(record) = engine.keys.get(&id) {
        return Ok(record);
    }
    let found = engine.read(Cost::Point, move |reads| Ok(reads.key(id)?)).await?;
    let record = Arc::new(found.ok_or(Error::Unauthenticated)?);
    engine.keys.insert(id, Arc::clone(&record));
    Ok(record)
}

/// Secret that credentials are hashed with, shared by all nodes through the store.
pub(crate) async fn load_pepper(engine: &Engine) -> Result<Arc<[u8]>, Error> {
    if let Some(pepper) = engine.pepper.lock().clone() {
        return Ok(pepper);
    }
    let fresh: String = domain::hex(&engine.ids.random::<32>());
    let kept = engine.transact(move |work| Ok(work.tx.setting_ensure("pepper", &fresh)?)).await?;
    let pepper: Arc<[u8]> = kept.into_bytes().into();
    *engine.pepper.lock() = Some(Arc::clone(&pepper));
    Ok(pepper)
}

/// Reads the current caller of a credential, in the project of the request. Returns `None` if the credential is no longer valid.
pub(crate) fn read_caller<R: Reads + ?Sized>(
    reads: &mut R,
    caller: &Caller,
    now: Timestamp,
) -> Result<Option<Caller>, Error> {
    let found = match caller.credential {
        Credential::Key(key) => reads.key(key)?.and_then(|record| record.key.caller(now)),
        Credential::Visit(visit) => reads.visit(visit)?.and_then(|record| caller_of_visit(record, caller, now)),
        // A worker has no stored credential: its step lease is checked instead.
        Credential::Worker => Some(caller.clone()),
    };
    Ok(found.and_then(|found| with_request_of(found, caller)))
}

/// Returns the caller of a visit in the project of the request. The visit itself may have moved to another project meanwhile.
pub(crate) fn caller_of_visit(
    VisitRecord { visit, user, .. }: VisitRecord,
    caller: &Caller,
    now: Timestamp,
) -> Option<Caller> {
    Visit { project: caller.scope.project, ..visit }.caller(&user, now)
}

/// Adds the address and the entry point of the request to the caller that was read. Returns `None` if the scope or the actor differs.
pub(crate) fn with_request_of(found: Caller, caller: &Caller) -> Option<Caller> {
    let same = found.scope == caller.scope && found.actor == caller.actor;
    same.then_some(Caller { from: caller.from, entry_point: caller.entry_point, ..found })
}

/// Computes the keyed hash that is stored for a credential's secret.
pub(crate) fn fingerprint(pepper: &[u8], secret: &[u8]) -> [u8; 32] {
    // HMAC accepts keys of any length, so this cannot fail. If it did, the hash would match nothing.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(pepper) else { return [0; 32] };
    mac.update(secret);
    mac.finalize().into_bytes().into()
}

/// Formats a credential as text. The text is shown to its owner once.
pub(crate) fn format_credential(mark: &str, id: Uuid, secret: &[u8; 32]) -> String {
    format!("{mark}{}_{}", id.simple(), domain::hex(secret))
}

/// Parses a credential into its identifier and its secret.
pub(crate) fn parse_credential(mark: &str, text: &str) -> Option<(Uuid, [u8; 32])> {
    let (id, secret) = text.strip_prefix(mark)?.split_once('_')?;
    let mut bytes = [0; 32];
    domain::read_hex(secret, &mut bytes)?;
    Some((Uuid::try_parse(id).ok()?, bytes))
}
