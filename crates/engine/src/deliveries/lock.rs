//! Locks a question for the agent that asked it, and rings agents whose answers were held back.

use domain::{Delivery, Interaction, InteractionId, Refusal, Scope, Session};
use store::Topic;

use crate::access::sight::Sight;
use crate::run::transaction::Work;
use crate::{Error, interactions};

/// Locks the session of a question and reads the question, like `interactions::lock`, for the agent that asked. An answer in the archive is no longer
/// delivered: the agent gets `DeliveryClosed`.
pub(crate) fn lock(work: &mut Work<'_>, scope: &Scope, id: InteractionId) -> Result<(Session, Interaction), Error> {
    let (session, interaction) = match interactions::lock(work, scope, id) {
        Err(Error::Refused(Refusal::AlreadyResolved(archived))) => {
            require_asker(work, &archived)?;
            let over = archived.delivery().filter(|delivery| delivery.is_over());
            return Err(Refusal::DeliveryClosed(over.map_or("archived", Delivery::name)).into());
        }
        found => found?,
    };
    require_asker(work, &interaction)?;
    Ok((session, interaction))
}

/// Refuses every caller but the agent that asked. A caller who may not read the question gets `NotFound`.
fn require_asker(work: &mut Work<'_>, interaction: &Interaction) -> Result<(), Error> {
    let caller = work.caller()?;
    let refused = interaction.require_taker(&caller.actor);
    if refused.is_err() {
        Sight::of(&mut *work.tx, &caller)?.question(&mut *work.tx, &caller.scope, interaction.id)?;
    }
    Ok(refused?)
}

/// Rings the agents whose answers were held back while the session was paused.
pub(crate) fn ring_agents(work: &mut Work<'_>, session: &Session) -> Result<(), Error> {
    let takers = work.tx.delivery_agents(&session.scope, session.id)?;
    work.effects.topics.extend(takers.into_iter().map(|agent| Topic::Agent(session.scope.project, agent)));
    Ok(())
}
