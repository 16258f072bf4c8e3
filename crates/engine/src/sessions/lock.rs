//! Locks a session at the beginning of a use case, and saves it at the end.

use domain::{Refusal, Scope, Session, SessionId};

use crate::Error;
use crate::run::transaction::Work;

/// Locks and reads a session.
pub(crate) fn lock(work: &mut Work<'_>, scope: &Scope, id: SessionId) -> Result<Session, Error> {
    Ok(work.tx.session_lock(scope, id)?.ok_or(Refusal::NotFound("session"))?)
}

/// Saves the session and rings its watchers. If the session has ended, its waiting deliveries may move to the archive.
pub(crate) fn save(work: &mut Work<'_>, session: &Session) -> Result<(), Error> {
    work.tx.session_save(session)?;
    if session.ended.is_some() {
        work.tx.waiting_deliveries_retire(&session.scope, session.id)?;
    }
    work.ring_watchers(session);
    Ok(())
}
