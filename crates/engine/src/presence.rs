//! The caller as they are in the transaction that changes something.
//!
//! A caller is authenticated when a request, a message or a stream begins. Until its transaction runs, the key may be revoked, the visit ended,
//! or the person given other groups. So the credential is read again within the transaction, by primary key.

use domain::{Caller, Credential, Refusal, Timestamp, Visit};
use store::{Reads, VisitRecord};

use crate::work::{Doer, Work};
use crate::{Engine, Error};

/// What a transaction knows of the caller for whom it runs.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// The caller as they were authenticated. None where Holdpoint itself acts.
    presented: Option<Caller>,
    /// The caller as they are now, once their credential was read.
    found: Option<Caller>,
}

impl Engine {
    /// Runs in one transaction what a caller asked for. It is refused, and changes nothing, if the credential is no longer good or the role has
    /// fallen since the caller was authenticated.
    pub(crate) async fn transact_by<T, F>(&self, caller: &Caller, mut command: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        let presented = caller.clone();
        self.transact_as(Doer::of(caller), move |work| {
            work.presence = Presence { presented: Some(presented.clone()), found: None };
            let done = command(work);
            // A refusal can tell something as well. After any other error the transaction cannot be read from.
            if matches!(done, Ok(_) | Err(Error::Refused(_))) {
                work.caller()?;
            }
            done
        })
        .await
    }
}

impl Work<'_> {
    /// The caller as they are now. Read once in a transaction: use cases that lock something first call this after they have the lock.
    pub(crate) fn caller(&mut self) -> Result<Caller, Error> {
        if let Some(found) = &self.presence.found {
            return Ok(found.clone());
        }
        let presented = self.presence.presented.as_ref().ok_or(Error::Unauthenticated)?;
        let found = renewed(&mut *self.tx, presented, self.now)?.ok_or(Error::Unauthenticated)?;
        if !presented.role.within(found.role) {
            // What was decided before the transaction was decided for a role that the caller no longer has.
            return Err(Refusal::RoleForbids { role: found.role }.into());
        }
        self.presence.found = Some(found.clone());
        Ok(found)
    }
}

/// The caller that a credential stands for at this moment, in the same project and through the same door. None if it is no longer good.
pub(crate) fn renewed<R: Reads + ?Sized>(
    reads: &mut R,
    caller: &Caller,
    now: Timestamp,
) -> Result<Option<Caller>, Error> {
    let found = match caller.credential {
        Credential::Key(key) => reads.key(key)?.and_then(|record| record.key.caller(now)),
        Credential::Visit(visit) => reads.visit(visit)?.and_then(|record| visiting(record, caller, now)),
        // The claim on its step is what is asked again.
        Credential::Worker => Some(caller.clone()),
    };
    Ok(found.and_then(|found| standing_in(found, caller)))
}

/// The caller whom a visit stands for in the project where the caller was. It may speak for another project by now.
pub(crate) fn visiting(
    VisitRecord { visit, user, .. }: VisitRecord,
    caller: &Caller,
    now: Timestamp,
) -> Option<Caller> {
    Visit { project: caller.scope.project, ..visit }.caller(&user, now)
}

/// What was found of a credential, with what the request itself brought.
pub(crate) fn standing_in(found: Caller, caller: &Caller) -> Option<Caller> {
    let same = found.scope == caller.scope && found.actor == caller.actor;
    same.then_some(Caller { from: caller.from, entry_point: caller.entry_point, ..found })
}
