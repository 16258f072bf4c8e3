//! Sessions and questions, one or a page of them.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Luggage, Refusal, Session, SessionId, Step};
use store::{Cost, InteractionFilter, Page, SessionFilter};

use crate::{Engine, Error};

/// How many questions are looked through for those that the caller may answer.
const MOST_LOOKED_THROUGH: u32 = 5000;

/// Which questions a caller wants to see.
#[derive(Debug, Clone, Default)]
pub struct InteractionQuery {
    /// What the store can sort out.
    pub filter: InteractionFilter,
    /// Only those that the caller may answer.
    pub mine: bool,
    /// Only those past their deadline.
    pub overdue: bool,
}

impl Engine {
    /// A session with what it was started with and its steps.
    pub async fn session(&self, caller: &Caller, id: SessionId) -> Result<(Session, Luggage, Vec<Step>), Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Point, move |reads| {
            let session = reads.session(&scope, id)?.ok_or(Refusal::NotFound("session"))?;
            let luggage = reads.luggage(&scope, id)?.unwrap_or_default();
            Ok((session, luggage, reads.steps(&scope, id)?))
        })
        .await
    }

    /// A page of sessions, the newest first.
    pub async fn sessions(
        &self,
        caller: &Caller,
        filter: SessionFilter,
        page: Page<SessionId>,
    ) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Scan, move |reads| Ok(reads.sessions(&scope, &filter, page)?)).await
    }

    /// A page of questions.
    pub async fn interactions(
        &self,
        caller: &Caller,
        query: InteractionQuery,
        page: Page<InteractionId>,
    ) -> Result<Vec<Interaction>, Error> {
        caller.require(Right::Read)?;
        let InteractionQuery { mut filter, mine, overdue } = query;
        let caller = caller.clone();
        self.read(Cost::Scan, move |reads| {
            if overdue {
                filter.overdue_at = Some(reads.now()?.as_microsecond());
            }
            if !mine {
                return Ok(reads.interactions(&caller.scope, &filter, page)?);
            }
            let (mut found, mut after, mut looked) = (Vec::new(), page.after, 0);
            while looked < MOST_LOOKED_THROUGH {
                let more = reads.interactions(&caller.scope, &filter, Page { after, limit: 200 })?;
                let last = more.len() < 200;
                looked += 200;
                after = more.last().map(|interaction| interaction.id).or(after);
                found.extend(more.into_iter().filter(|interaction| interaction.admit(&caller).is_ok()));
                if last || found.len() >= page.limit as usize {
                    break;
                }
            }
            found.truncate(page.limit as usize);
            Ok(found)
        })
        .await
    }
}
