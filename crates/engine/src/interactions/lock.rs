//! Locks a question by locking its session.

use domain::{Interaction, InteractionId, Refusal, Scope, Session};

use crate::run::transaction::Work;
use crate::{Error, sessions};

/// Locks the session of a question, then reads the question. A question in the archive is refused with `AlreadyResolved`.
pub(crate) fn lock(work: &mut Work<'_>, scope: &Scope, id: InteractionId) -> Result<(Session, Interaction), Error> {
    let Some(session) = work.tx.session_of(scope, id)? else {
        let archived = work.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
        return Err(Refusal::AlreadyResolved(Box::new(archived)).into());
    };
    let session = sessions::lock(work, scope, session)?;
    let interaction = work.tx.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
    Ok((session, interaction))
}
