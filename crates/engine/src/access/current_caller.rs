//! Reads the caller again in the transaction that makes a change.
//!
//! A caller is authenticated when a request, a message or a stream begins. Before its transaction runs, the key may be revoked, the visit may end,
//! or the person may get other groups. The transaction therefore reads the credential again, by primary key.

use domain::{Caller, Credential, Refusal, Timestamp, Visit};
use store::{Reads, VisitRecord};

use crate::run::transaction::{Originator, Work};
use crate::{Engine, Error};

/// Caller of a transaction, before and after the credential was read again.
#[derive(Debug, Default)]
pub(crate) struct CallerState {
    /// Caller as authenticated at the start of the request. `None` where Holdpoint itself acts.
    presented: Option<Caller>,
    /// Caller as read in this transaction. `None` until the credential is read.
    found: Option<Caller>,
}

impl Engine {
    /// Runs a caller's command in one transaction. The command is refused and changes nothing if the credential is no longer valid, or if the
    /// caller's role has fallen since authentication.
    pub(crate) async fn transact_by<T, F>(&self, caller: &Caller, mut command: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut Work<'_>) -> Result<T, Error> + Send + 'static,
    {
        let presented = caller.clone();
        self.transact_as(Originator::of(caller), move |work| {
            work.caller_state = CallerState { presented: Some(presented.clone()), found: None };
            let done = command(work);
            // A refusal can disclose something too, so the credential is checked before one is returned. After any other error the transaction
            // cannot be read.
            if matches!(done, Ok(_) | Err(Error::Refused(_))) {
                work.caller()?;
            }
            done
        })
        .await
    }
}

impl Work<'_> {
    /// Returns the caller as of this transaction. The credential is read once per transaction: a use case that takes a lock calls this after it has
    /// the lock.
    pub(crate) fn caller(&mut self) -> Result<Caller, Error> {
        if let Some(found) = &self.caller_state.found {
            return Ok(found.clone());
        }
        let presented = self.caller_state.presented.as_ref().ok_or(Error::Unauthenticated)?;
        let found = renewed(&mut *self.tx, presented, self.now)?.ok_or(Error::Unauthenticated)?;
        if !presented.role.within(found.role) {
            // Checks before the transaction were made for a role that the caller no longer has.
            return Err(Refusal::RoleForbids { role: found.role }.into());
        }
        self.caller_state.found = Some(found.clone());
        Ok(found)
    }
}

/// Reads the current caller of a credential, in the project of the request. Returns `None` if the credential is no longer valid.
pub(crate) fn renewed<R: Reads + ?Sized>(
    reads: &mut R,
    caller: &Caller,
    now: Timestamp,
) -> Result<Option<Caller>, Error> {
    let found = match caller.credential {
        Credential::Key(key) => reads.key(key)?.and_then(|record| record.key.caller(now)),
        Credential::Visit(visit) => reads.visit(visit)?.and_then(|record| visiting(record, caller, now)),
        // A worker has no record of its own: its step lease is checked instead.
        Credential::Worker => Some(caller.clone()),
    };
    Ok(found.and_then(|found| standing_in(found, caller)))
}

/// Returns the caller of a visit in the project of the request. The visit itself may have moved to another project meanwhile.
pub(crate) fn visiting(
    VisitRecord { visit, user, .. }: VisitRecord,
    caller: &Caller,
    now: Timestamp,
) -> Option<Caller> {
    Visit { project: caller.scope.project, ..visit }.caller(&user, now)
}

/// Adds the address and the entry point of the request to the caller that was read. Returns `None` if the scope or the actor differs.
pub(crate) fn standing_in(found: Caller, caller: &Caller) -> Option<Caller> {
    let same = found.scope == caller.scope && found.actor == caller.actor;
    same.then_some(Caller { from: caller.from, entry_point: caller.entry_point, ..found })
}
