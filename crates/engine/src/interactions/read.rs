//! Reads a question, or the questions of one session with the names of their steps.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Refusal, SessionId, Status};
use store::{Cost, InteractionFilter, Page, Reads, Sort, Topic};

use crate::access::sight::Sight;
use crate::run;
use crate::{Engine, Error};

/// Number of open questions on a page.
const MOST_OPEN: u32 = 200;

/// Question with the name of its step.
#[derive(Debug, Clone)]
pub struct QuestionWithStep {
    /// Question as it is stored.
    pub interaction: Interaction,
    /// Name of the step in its flow. `None` if the step has no name.
    pub step: Option<String>,
}

impl QuestionWithStep {
    /// Reads a question of a session. A question of another session is `NotFound`.
    pub(crate) fn read(
        reads: &mut dyn Reads,
        caller: &Caller,
        session: SessionId,
        id: InteractionId,
    ) -> Result<Self, Error> {
        let interaction = Sight::of(reads, caller)?.question(reads, &caller.scope, id)?;
        if interaction.origin.session != session {
            return Err(Refusal::NotFound("interaction").into());
        }
        let step = reads.step(&caller.scope, interaction.origin.step)?;
        Ok(Self { interaction, step: step.and_then(|step| step.name) })
    }
}

/// Pages of the open and the closed questions of a session.
#[derive(Debug, Clone)]
pub struct Questions {
    /// Page of open questions, oldest first.
    pub open: Vec<QuestionWithStep>,
    /// Cursor of the next page of open questions. `None` on the last page.
    pub open_next: Option<InteractionId>,
    /// Page of closed questions, newest first.
    pub closed: Vec<QuestionWithStep>,
    /// Cursor of the next page of closed questions. `None` on the last page.
    pub next: Option<InteractionId>,
}

impl Engine {
    /// Questions of a session. Open and closed questions are read in one snapshot.
    pub async fn questions(
        &self,
        caller: &Caller,
        session: SessionId,
        open_after: Option<InteractionId>,
        page: Page<InteractionId>,
    ) -> Result<Questions, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.list(caller, move |reads, caller| {
            Sight::of(reads, caller)?.session(reads, &scope, session)?;
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
            let mut names = HashMap::new();
            let mut place = |interaction: Interaction| {
                let step = match names.entry(interaction.origin.step) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(unknown) => {
                        let step = reads.step(&scope, interaction.origin.step)?;
                        unknown.insert(step.and_then(|step| step.name))
                    }
                };
                Ok(QuestionWithStep { step: step.clone(), interaction })
            };
            let open: Result<Vec<QuestionWithStep>, Error> = open.into_iter().map(&mut place).collect();
            let closed: Result<Vec<QuestionWithStep>, Error> = closed.into_iter().map(place).collect();
            Ok(Questions { open: open?, open_next, closed: closed?, next })
        })
        .await
    }

    /// Question of a session. A question of another session is `NotFound`.
    pub async fn question(
        &self,
        caller: &Caller,
        session: SessionId,
        id: InteractionId,
    ) -> Result<QuestionWithStep, Error> {
        caller.require(Right::Read)?;
        let read = move |reads: &mut dyn Reads, caller: &Caller| QuestionWithStep::read(reads, caller, session, id);
        self.read_by(caller, Cost::Point, read).await
    }

    /// Returns a question, immediately if it is not pending, otherwise when it closes or after `wait`.
    pub async fn interaction_get(
        &self,
        caller: &Caller,
        id: InteractionId,
        wait: Duration,
    ) -> Result<Interaction, Error> {
        caller.require(Right::Read)?;
        let found = read_question(self, caller, id).await?;
        if found.status() != Status::Pending || wait.is_zero() {
            return Ok(found);
        }
        let topic = Topic::Session(found.origin.session);
        run::wait::wait_until(
            self,
            (caller, topic),
            wait,
            || read_question(self, caller, id),
            |found| found.status() != Status::Pending,
        )
        .await
    }
}

/// Returns a question that the caller may see.
pub(crate) async fn read_question(engine: &Engine, caller: &Caller, id: InteractionId) -> Result<Interaction, Error> {
    let look =
        move |reads: &mut dyn Reads, caller: &Caller| Sight::of(reads, caller)?.question(reads, &caller.scope, id);
    engine.read_by(caller, Cost::Point, look).await
}
