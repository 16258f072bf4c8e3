//! Authenticates a browser's cookie and returns its caller.

use domain::{Caller, VisitId};
use store::{Cost, VisitRecord};
use subtle::ConstantTimeEq;

use crate::access::authenticate::{VISIT, fingerprint, parsed};
use crate::{Engine, Error};

/// Minimum seconds between two recorded uses of a visit.
const USE_NOTED_EVERY: i64 = 60;

impl Engine {
    /// Returns the caller of a browser's cookie.
    ///
    /// Unlike a key, a visit is read from the store each time: people send fewer requests than agents, and a visit that ends has then ended on all
    /// nodes.
    pub async fn authenticate_visit(&self, text: &str) -> Result<Caller, Error> {
        let (id, secret) = parsed(VISIT, text).ok_or(Error::Unauthenticated)?;
        let record = self.visit_record(VisitId::from_uuid(id)).await?;
        if !bool::from(fingerprint(&self.pepper().await?, &secret).ct_eq(&record.hash)) {
            return Err(Error::Unauthenticated);
        }
        let (now, visit) = (self.now(), &record.visit);
        let caller = visit.caller(&record.user, now).ok_or(Error::Unauthenticated)?;
        if now.duration_since(visit.seen_at).as_secs() >= USE_NOTED_EVERY {
            self.visited.lock().insert(visit.id, now);
        }
        Ok(caller)
    }

    /// Reads a visit, or fails as unauthenticated.
    pub(crate) async fn visit_record(&self, id: VisitId) -> Result<VisitRecord, Error> {
        let found = self.read(Cost::Point, move |reads| Ok(reads.visit(id)?)).await?;
        found.ok_or(Error::Unauthenticated)
    }
}
