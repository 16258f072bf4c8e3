//! The questions of one session, each with the step that it belongs to.

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Refusal, SessionId, Status, Step};
use store::{Cost, InteractionFilter, Page, Sort};

use crate::{Engine, Error};

/// How many open questions are shown at once.
const MOST_OPEN: u32 = 200;

/// A question and its step.
#[derive(Debug, Clone)]
pub struct Placed {
    /// The question.
    pub interaction: Interaction,
    /// The step that sleeps on it.
    pub step: Option<Step>,
}

/// What is asked and was asked in a session.
#[derive(Debug, Clone)]
pub struct Questions {
    /// Some that are open, the oldest first.
    pub open: Vec<Placed>,
    /// After which one the next page of the open ones begins.
    pub open_next: Option<InteractionId>,
    /// Some that are closed, the newest first.
    pub closed: Vec<Placed>,
    /// After which one the next page of the closed ones begins.
    pub next: Option<InteractionId>,
}

impl Engine {
    /// The questions of a session, all seen at one moment.
    pub async fn questions(
        &self,
        caller: &Caller,
        session: SessionId,
        open_after: Option<InteractionId>,
        page: Page<InteractionId>,
    ) -> Result<Questions, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.list(caller, move |reads| {
            reads.session(&scope, session)?.ok_or(Refusal::NotFound("session"))?;
            let of = InteractionFilter { session: Some(session), ..InteractionFilter::default() };
            let pending = InteractionFilter { status: Some(Status::Pending), ..of.clone() };
            let open = reads.interactions(&scope, &pending, Page { after: open_after, limit: MOST_OPEN })?;
            let open_next = open.last().filter(|_| open.more).map(|last| last.id);
            let over = InteractionFilter { closed: true, sort: Sort::Newest, ..of };
            let more = Page { limit: page.limit.saturating_add(1), ..page };
            let mut closed = reads.interactions(&scope, &over, more)?;
            let last = closed.len() <= page.limit as usize && !closed.more;
            closed.truncate(page.limit as usize);
            let next = closed.last().filter(|_| !last).map(|closed| closed.id);
            let steps = reads.steps(&scope, session)?;
            let place = |interaction: Interaction| {
                let step = steps.iter().find(|step| step.id == interaction.origin.step).cloned();
                Placed { interaction, step }
            };
            let (open, closed) = (open.into_iter().map(place).collect(), closed.into_iter().map(place).collect());
            Ok(Questions { open, open_next, closed, next })
        })
        .await
    }

    /// One question of a session; one of another session is none.
    pub async fn question(&self, caller: &Caller, session: SessionId, id: InteractionId) -> Result<Placed, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Point, move |reads| {
            let found = reads.interaction(&scope, id)?.filter(|found| found.origin.session == session);
            let interaction = found.ok_or(Refusal::NotFound("interaction"))?;
            let step = reads.step(&scope, interaction.origin.step)?;
            Ok(Placed { interaction, step })
        })
        .await
    }
}
