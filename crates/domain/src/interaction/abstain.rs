//! Abstentions: people who declare that they will not answer a question.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Change, Interaction, Pending, Reviewer, State};
use crate::access::Right;
use crate::audience::Person;
use crate::event::{InteractionAbstained, InteractionDeserted};
use crate::{Actor, Audience, Caller, EventDraft, EventKind, Refusal, text};

/// Declaration of a person that they will not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// Person who will not answer.
    pub by: Actor,
    /// Time of the abstention.
    pub at: Timestamp,
    /// Reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Interaction {
    /// Records an abstention, and whether the rest of `people` could still reach the quorum. A later answer of the person withdraws the
    /// abstention.
    pub fn abstain(
        self,
        reviewer: &Reviewer,
        note: Option<String>,
        people: &[Person],
        now: Timestamp,
    ) -> Result<Change, Refusal> {
        let pending = self.answerable(reviewer, now)?;
        let by = reviewer.actor.clone();
        if pending.abstained.iter().any(|one| one.by.is_same_person(&by)) {
            return Err(Refusal::AlreadyAbstained(self.id));
        }
        let mut pending = pending.clone();
        pending.votes.retain(|vote| !vote.by.is_same_person(&by));
        pending.claim = pending.claim.filter(|claim| !claim.by.is_same_person(&by));
        pending.abstained.push(Abstention { by: by.clone(), at: now, note: note.clone() });
        let reachable = |audience: &Audience| audience.is_reached_by(&self.left(audience, &pending, people));
        pending.deserted = !self.question.audiences().iter().all(reachable);
        let abstained = InteractionAbstained { note, abstained: pending.abstained.len() };
        let draft = EventDraft::by(&by, EventKind::InteractionAbstained(abstained));
        Ok((self.with_state(State::Pending(pending)), draft))
    }

    /// Whether the question is, or was while it was open, for this caller to answer. Questions that were handed over and questions from
    /// which the caller abstained are not.
    #[must_use]
    pub fn awaits(&self, caller: &Caller) -> bool {
        let declined = match &self.state {
            State::Pending(pending) => pending.abstained.iter().any(|one| one.by.is_same_person(&caller.actor)),
            State::Resolved { .. } => false,
        };
        !declined && self.handed_over().is_none() && self.admit(caller).is_ok()
    }

    /// Event draft that reports that too few people remain who could answer. `None` if enough remain.
    #[must_use]
    pub fn desertion(&self) -> Option<EventDraft> {
        let State::Pending(Pending { deserted: true, abstained, .. }) = &self.state else { return None };
        let deserted = InteractionDeserted { quorum: self.question.audience.quorum, abstained: abstained.len() };
        Some(EventDraft::plain(EventKind::InteractionDeserted(deserted)))
    }

    /// Groups of the people in an audience who could still answer, one entry for each person.
    fn left(&self, audience: &Audience, pending: &Pending, people: &[Person]) -> Vec<Vec<String>> {
        let gone = |actor: &Actor| pending.abstained.iter().any(|one| one.by.is_same_person(actor));
        let mut left: Vec<(&str, Vec<String>)> = Vec::new();
        for person in people {
            let name = person.actor.name.as_str();
            let started = person.actor.is_same_person(&self.origin.started_by);
            let may = person.role.may(Right::Answer) && self.require_unbarred_in(audience, &person.actor).is_ok();
            if !may || gone(&person.actor) || !audience.includes_person(person, started) {
                continue;
            }
            // A person with several keys counts once, with the groups of all keys.
            match left.iter_mut().find(|(known, _)| text::is_same_name(known, name)) {
                Some((_, groups)) => groups.extend(person.groups.iter().cloned()),
                None => left.push((name, person.groups.clone())),
            }
        }
        left.into_iter().map(|(_, groups)| groups).collect()
    }
}
