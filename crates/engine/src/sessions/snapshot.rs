//! Reads the present state of a session for a client that begins to follow it: open questions, and calls that the client has to run.

use domain::access::Right;
use domain::{
    Action, ActionState, Actor, Caller, Interaction, InteractionId, PermitId, Refusal, Scope, Session, SessionId,
    Status, Timestamp,
};
use store::{Cost, InteractionFilter, Page, Reads};

use crate::access::sight::Sight;
use crate::run::pages::Pages;
use crate::sessions::names::newest_in;
use crate::{Engine, Error};

/// Number of actions that are read at once.
const STRIDE: u32 = 200;

/// State of a session for a client that begins to follow it.
#[derive(Debug, Clone)]
pub struct SessionSnapshot {
    /// State of the session. Events after its last event are new to the client.
    pub session: Session,
    /// Open questions of the session, oldest first.
    pub open: Vec<InteractionId>,
    /// Calls that may run now and that the caller's client has to run.
    pub ready: Vec<String>,
    /// Calls that the caller's client has started and not reported, each with its permit and the time of its start.
    pub running: Vec<(String, PermitId, Timestamp)>,
}

impl Engine {
    /// Returns the present state of a session.
    pub async fn session_snapshot(&self, caller: &Caller, session: SessionId) -> Result<SessionSnapshot, Error> {
        caller.require(Right::Read)?;
        self.list_patiently(caller, move |reads, caller| {
            // The session is read first: a change in between is then seen twice rather than missed.
            let session = Sight::of(reads, caller)?.session(reads, &caller.scope, session)?;
            let open = reads.open_interactions(&caller.scope, session.id)?;
            let runs = session.hosted && session.started_by == caller.actor && session.ended.is_none();
            let (ready, running) = if runs { in_hand(reads, &session, &caller.actor)? } else { Default::default() };
            Ok(SessionSnapshot { session, open, ready, running })
        })
        .await
    }

    /// Returns a question, and the call by which clients know it. Only the first question about a call is known by the call; later questions about it
    /// are known by their own ids, so that a decision about the first question never applies to another.
    pub async fn question_with_call(
        &self,
        caller: &Caller,
        id: InteractionId,
    ) -> Result<(Interaction, Option<String>), Error> {
        caller.require(Right::Read)?;
        self.read_by(caller, Cost::Point, move |reads, caller| {
            let asked = Sight::of(reads, caller)?.question(reads, &caller.scope, id)?;
            pair_with_call(reads, &caller.scope, asked)
        })
        .await
    }

    /// Returns a page of the open questions of a session, or of all sessions of a channel, oldest first. Each question comes with the call by which
    /// clients know it. The second value is the question after which the next page begins.
    pub async fn questions_with_calls(
        &self,
        caller: &Caller,
        session: Option<SessionId>,
        channel: &str,
        page: Page<InteractionId>,
    ) -> Result<(Vec<(Interaction, Option<String>)>, Option<InteractionId>), Error> {
        caller.require(Right::Read)?;
        let (scope, channel) = (caller.scope, channel.to_owned());
        self.list(caller, move |reads, caller| {
            let sight = Sight::of(reads, caller)?;
            let known = match session {
                Some(session) => reads.session(&scope, session)?.is_some_and(|session| sight.sees(&session)),
                None => newest_in(reads, &scope, &channel)?.is_some(),
            };
            if !known {
                return Err(Refusal::NotFound("session").into());
            }
            let (status, belongs_to) = (Some(Status::Pending), sight.limited_to());
            let named = session.is_none().then(|| channel.clone());
            let filter =
                InteractionFilter { status, session, channel: named, belongs_to, ..InteractionFilter::default() };
            let open = reads.interactions(&scope, &filter, page)?;
            let next = open.last().filter(|_| open.more).map(|last| last.id);
            let shown: Result<Vec<_>, Error> =
                open.into_iter().map(|asked| pair_with_call(reads, &scope, asked)).collect();
            Ok((shown?, next))
        })
        .await
    }
}

/// Pairs a question with the call by which clients know it.
fn pair_with_call(
    reads: &mut dyn Reads,
    scope: &Scope,
    asked: Interaction,
) -> Result<(Interaction, Option<String>), Error> {
    let action = match &asked.question.call_id {
        Some(call) => reads.action(scope, asked.origin.session, call)?,
        None => None,
    };
    let call = action.filter(|action| action.asked.first() == Some(&asked.id)).map(|action| action.call_id);
    Ok((asked, call))
}

/// Calls that the client of an actor has to run: calls that it may start now, and calls that it has started.
type InHand = (Vec<String>, Vec<(String, PermitId, Timestamp)>);

fn in_hand(reads: &mut dyn Reads, session: &Session, actor: &Actor) -> Result<InHand, Error> {
    let (now, mut found) = (reads.now()?, InHand::default());
    let mut pages = Pages::new(STRIDE, |action: &Action| action.call_id.clone());
    while let Some(batch) = pages.next(|page| {
        let after = page.after.as_deref().unwrap_or_default();
        reads.actions(&session.scope, session.id, after, page.limit)
    })? {
        for action in batch.into_iter().filter(|action| action.runner.as_ref() == Some(actor)) {
            match &action.state {
                ActionState::Started { permit, since, .. } => found.1.push((action.call_id, *permit, *since)),
                ActionState::Allowed { permit } if now < permit.expires_at => found.0.push(action.call_id),
                ActionState::Allowed { .. }
                | ActionState::Waiting { .. }
                | ActionState::Denied
                | ActionState::Rejected { .. }
                | ActionState::Done { .. }
                | ActionState::Failed { .. }
                | ActionState::Unknown { .. } => {}
            }
        }
    }
    Ok(found)
}
