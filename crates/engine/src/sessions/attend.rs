//! Somebody attends a session: what is open in it now, and from where on to follow it.

use domain::access::Right;
use domain::{
    ActionState, Actor, Caller, Interaction, InteractionId, PermitId, Refusal, Scope, Session, SessionId, Status,
    Timestamp,
};
use store::{Cost, InteractionFilter, Page, Reads};

use crate::access::sight::Sight;
use crate::run::fair_gate::Entrant;
use crate::sessions::names::newest_in;
use crate::{Engine, Error};

/// How many actions are read at once.
const STRIDE: u32 = 200;

/// A session as somebody finds it who begins to attend it.
#[derive(Debug, Clone)]
pub struct SessionSnapshot {
    /// The session. Whatever comes after its last event is news.
    pub session: Session,
    /// Its open questions, the oldest first.
    pub open: Vec<InteractionId>,
    /// The calls that may run now and are the caller's client's to run.
    pub ready: Vec<String>,
    /// The calls that the caller's client has begun and not reported, each with its run and since when.
    pub running: Vec<(String, PermitId, Timestamp)>,
}

impl Engine {
    /// What is open in a session now.
    pub async fn attend(&self, caller: &Caller, session: SessionId) -> Result<SessionSnapshot, Error> {
        caller.require(Right::Read)?;
        let (scope, actor, reader) = (caller.scope, caller.actor.clone(), Entrant::of(caller));
        let caller = caller.clone();
        self.list_patiently(reader, move |reads| {
            // First, so that what changes meanwhile is found twice rather than never.
            let session = Sight::of(reads, &caller)?.session(reads, &scope, session)?;
            let open = reads.open_interactions(&scope, session.id)?;
            let runs = session.hosted && session.started_by == actor && session.ended.is_none();
            let (ready, running) = if runs { in_hand(reads, &session, &actor)? } else { Default::default() };
            Ok(SessionSnapshot { session, open, ready, running })
        })
        .await
    }

    /// A question, and the call that it is known by: the one that it was the first to be asked about. Later ones about the same call have their
    /// own id alone, so that a decision that was made about the first never meets another.
    pub async fn question_shown(
        &self,
        caller: &Caller,
        id: InteractionId,
    ) -> Result<(Interaction, Option<String>), Error> {
        caller.require(Right::Read)?;
        let caller = caller.clone();
        self.read(Cost::Point, move |reads| {
            Sight::of(reads, &caller)?.question(reads, &caller.scope, id)?;
            shown(reads, &caller.scope, id)
        })
        .await
    }

    /// A page of the open questions of a session, or of all that go on in a channel, the oldest first, each with the call that it is known by; and
    /// after which one the next page begins.
    pub async fn questions_shown(
        &self,
        caller: &Caller,
        session: Option<SessionId>,
        channel: &str,
        page: Page<InteractionId>,
    ) -> Result<(Vec<(Interaction, Option<String>)>, Option<InteractionId>), Error> {
        caller.require(Right::Read)?;
        let (scope, reader, channel) = (caller.scope, caller.clone(), channel.to_owned());
        self.list(caller, move |reads| {
            let sight = Sight::of(reads, &reader)?;
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
            let shown: Result<Vec<_>, Error> = open.into_iter().map(|asked| known_as(reads, &scope, asked)).collect();
            Ok((shown?, next))
        })
        .await
    }

    /// The question that a client means: the first one about a call of the session, or one of the session by its id.
    pub async fn question_meant(&self, caller: &Caller, session: SessionId, call: &str) -> Result<Interaction, Error> {
        caller.require(Right::Read)?;
        let (scope, caller, call) = (caller.scope, caller.clone(), call.to_owned());
        self.read(Cost::Point, move |reads| {
            Sight::of(reads, &caller)?.session(reads, &scope, session)?;
            let asked = match reads.action(&scope, session, &call)? {
                Some(proposal) => proposal.asked.first().copied(),
                None => call.parse::<InteractionId>().ok(),
            };
            let found = match asked {
                Some(asked) => reads.interaction(&scope, asked)?,
                None => None,
            };
            let found = found.filter(|found| found.origin.session == session);
            Ok(found.ok_or(Refusal::NotFound("interaction"))?)
        })
        .await
    }
}

fn shown(reads: &mut dyn Reads, scope: &Scope, id: InteractionId) -> Result<(Interaction, Option<String>), Error> {
    let asked = reads.interaction(scope, id)?.ok_or(Refusal::NotFound("interaction"))?;
    known_as(reads, scope, asked)
}

/// A question with the call that it is known by.
fn known_as(reads: &mut dyn Reads, scope: &Scope, asked: Interaction) -> Result<(Interaction, Option<String>), Error> {
    let proposal = match &asked.question.call_id {
        Some(call) => reads.action(scope, asked.origin.session, call)?,
        None => None,
    };
    let call = proposal.filter(|proposal| proposal.asked.first() == Some(&asked.id)).map(|proposal| proposal.call_id);
    Ok((asked, call))
}

/// What the client of somebody has to run: what it may begin now, and what it has begun.
type InHand = (Vec<String>, Vec<(String, PermitId, Timestamp)>);

fn in_hand(reads: &mut dyn Reads, session: &Session, actor: &Actor) -> Result<InHand, Error> {
    let (now, mut found, mut after) = (reads.now()?, InHand::default(), String::new());
    loop {
        let portion = reads.actions(&session.scope, session.id, &after, STRIDE)?;
        let full = portion.more;
        let Some(last) = portion.last() else { return Ok(found) };
        after.clone_from(&last.call_id);
        for proposal in portion.into_iter().filter(|proposal| proposal.runner.as_ref() == Some(actor)) {
            match &proposal.state {
                ActionState::Started { permit, since, .. } => found.1.push((proposal.call_id, *permit, *since)),
                ActionState::Allowed { permit } if now < permit.expires_at => found.0.push(proposal.call_id),
                _ => {}
            }
        }
        if !full {
            return Ok(found);
        }
    }
}
