//! From a browser's cookie to a caller.

use domain::{Caller, VisitId};
use store::{Cost, VisitRecord};
use subtle::ConstantTimeEq;

use crate::access::authenticate::{VISIT, fingerprint, parsed};
use crate::{Engine, Error};

/// The use of a visit is written down at most so often.
const USE_NOTED_EVERY: i64 = 60;

impl Engine {
    /// Finds the caller that a browser's cookie stands for.
    ///
    /// Unlike a key it is looked up each time: people are slower than agents, and what they end has ended everywhere.
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

    /// A visit that there is.
    pub(crate) async fn visit_record(&self, id: VisitId) -> Result<VisitRecord, Error> {
        let found = self.read(Cost::Point, move |reads| Ok(reads.visit(id)?)).await?;
        found.ok_or(Error::Unauthenticated)
    }
}
