//! Sessions and questions, one or a page of them.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Luggage, Session, SessionId, Step};
use store::{Cost, InteractionFilter, Page, SessionFilter};

use crate::sight::Sight;
use crate::{Engine, Error};

/// How many questions are looked through for those that the caller may answer.
const MOST_LOOKED_THROUGH: u32 = 5000;
/// How many are read at once for that.
const STRIDE: u32 = 200;

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
        let (scope, caller) = (caller.scope, caller.clone());
        self.read(Cost::Point, move |reads| {
            let session = Sight::of(reads, &caller)?.session(reads, &scope, id)?;
            let luggage = reads.luggage(&scope, id)?.unwrap_or_default();
            Ok((session, luggage, reads.steps(&scope, id)?))
        })
        .await
    }

    /// A page of sessions, the newest first.
    pub async fn sessions(
        &self,
        caller: &Caller,
        mut filter: SessionFilter,
        page: Page<SessionId>,
    ) -> Result<Vec<Session>, Error> {
        caller.require(Right::Read)?;
        let caller = caller.clone();
        self.read(Cost::Scan, move |reads| {
            filter.belongs_to = Sight::of(reads, &caller)?.limited_to();
            Ok(reads.sessions(&caller.scope, &filter, page)?)
        })
        .await
    }

    /// A page of questions, and after which one the next page begins, unless this is the last.
    pub async fn interactions(
        &self,
        caller: &Caller,
        query: InteractionQuery,
        page: Page<InteractionId>,
    ) -> Result<(Vec<Interaction>, Option<InteractionId>), Error> {
        caller.require(Right::Read)?;
        let InteractionQuery { mut filter, mine, overdue } = query;
        let caller = caller.clone();
        let most = page.limit as usize;
        self.read(Cost::Scan, move |reads| {
            filter.belongs_to = Sight::of(reads, &caller)?.limited_to();
            if overdue {
                filter.overdue_at = Some(reads.now()?.as_microsecond());
            }
            if !mine {
                let found = reads.interactions(&caller.scope, &filter, page)?;
                let next = found.last().filter(|_| found.len() == most).map(|last| last.id);
                return Ok((found, next));
            }
            let (mut found, mut after, mut looked) = (Vec::new(), page.after, 0);
            while looked < MOST_LOOKED_THROUGH {
                let more = reads.interactions(&caller.scope, &filter, Page { after, limit: STRIDE })?;
                let last = more.len() < STRIDE as usize;
                looked += STRIDE;
                after = more.last().map(|interaction| interaction.id).or(after);
                found.extend(more.into_iter().filter(|interaction| interaction.awaits(&caller)));
                if found.len() > most {
                    found.truncate(most);
                    let next = found.last().map(|last| last.id);
                    return Ok((found, next));
                }
                if last {
                    return Ok((found, None));
                }
            }
            // A page may be short, even empty, and still not be the last.
            Ok((found, after))
        })
        .await
    }
}
