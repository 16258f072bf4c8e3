//! Reads sessions: one with its steps, and lists.

use domain::access::Right;
use domain::{Caller, Session, SessionId, SessionInput, Step, StepId};
use store::{Bounded, Cost, Page, SessionFilter};

use crate::access::sight::Sight;
use crate::{Engine, Error};

/// Number of steps in a page of a session.
const STRIDE: u32 = 200;

impl Engine {
    /// Session with its session input and its latest steps.
    pub async fn session(&self, caller: &Caller, id: SessionId) -> Result<(Session, SessionInput, Vec<Step>), Error> {
        let (session, session_input, steps, _) = self.session_get(caller, id, None).await?;
        Ok((session, session_input, steps))
    }

    /// Session with its session input and a page of its steps. The page has the latest steps before `before`, oldest first. The last value is the
    /// cursor for the page of earlier steps, `None` if there are no earlier steps.
    pub async fn session_get(
        &self,
        caller: &Caller,
        id: SessionId,
        before: Option<StepId>,
    ) -> Result<(Session, SessionInput, Vec<Step>, Option<StepId>), Error> {
        caller.require(Right::Read)?;
        let (scope, page) = (caller.scope, Page { after: before, limit: STRIDE });
        self.read_by(caller, Cost::Point, move |reads, caller| {
            let session = Sight::of(reads, caller)?.session(reads, &scope, id)?;
            let session_input = reads.session_input(&scope, id)?.unwrap_or_default();
            let found = reads.steps_page(&scope, id, page)?;
            let next = found.last().filter(|_| found.more).map(|step| step.id);
            let mut steps = found.into_vec();
            steps.reverse();
            Ok((session, session_input, steps, next))
        })
        .await
    }

    /// Page of sessions, newest first.
    pub async fn session_list(
        &self,
        caller: &Caller,
        mut filter: SessionFilter,
        page: Page<SessionId>,
    ) -> Result<Bounded<Session>, Error> {
        caller.require(Right::Read)?;
        self.list(caller, move |reads, caller| {
            filter.belongs_to = Sight::of(reads, caller)?.limited_to();
            Ok(reads.sessions(&caller.scope, &filter, page)?)
        })
        .await
    }
}
