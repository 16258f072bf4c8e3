//! The questions of one session, each with the step that it belongs to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use domain::access::Right;
use domain::{Caller, Interaction, InteractionId, Refusal, SessionId, Status};
use store::{Cost, InteractionFilter, Page, Sort};

use crate::access::sight::Sight;
use crate::{Engine, Error};

/// How many open questions are shown at once.
const MOST_OPEN: u32 = 200;

/// A question and its step.
#[derive(Debug, Clone)]
pub struct QuestionWithStep {
    /// The question.
    pub interaction: Interaction,
    /// The name that the step which sleeps on it has in its flow.
    pub step: Option<String>,
}

/// What is asked and was asked in a session.
#[derive(Debug, Clone)]
pub struct Questions {
    /// Some that are open, the oldest first.
    pub open: Vec<QuestionWithStep>,
    /// After which one the next page of the open ones begins.
    pub open_next: Option<InteractionId>,
    /// Some that are closed, the newest first.
    pub closed: Vec<QuestionWithStep>,
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
        let (scope, reader) = (caller.scope, caller.clone());
        self.list(caller, move |reads| {
            Sight::of(reads, &reader)?.session(reads, &scope, session)?;
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

    /// One question of a session; one of another session is none.
    pub async fn question(
        &self,
        caller: &Caller,
        session: SessionId,
        id: InteractionId,
    ) -> Result<QuestionWithStep, Error> {
        caller.require(Right::Read)?;
        let (scope, caller) = (caller.scope, caller.clone());
        self.read(Cost::Point, move |reads| {
            let interaction = Sight::of(reads, &caller)?.question(reads, &scope, id)?;
            if interaction.origin.session != session {
                return Err(Refusal::NotFound("interaction").into());
            }
            let step = reads.step(&scope, interaction.origin.step)?;
            Ok(QuestionWithStep { interaction, step: step.and_then(|step| step.name) })
        })
        .await
    }
}
