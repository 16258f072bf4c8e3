//! Somebody says that they will not answer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Change, Interaction, Pending, Reviewer, State};
use crate::access::Right;
use crate::audience::Person;
use crate::{Actor, Audience, Caller, EventDraft, Refusal, text};

/// Who will not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abstention {
    /// Who.
    pub by: Actor,
    /// When they said so.
    pub at: Timestamp,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Interaction {
    /// Notes that somebody will not answer, and whether those of `people` who are left could. Whoever answers after all takes it back.
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
        let reachable = |audience: &Audience| audience.enough(&self.left(audience, &pending, people));
        pending.deserted = !self.question.audiences().iter().all(reachable);
        let data = json!({ "note": note, "abstained": pending.abstained.len() });
        let happening = EventDraft::by("interaction.abstained", &by, data);
        Ok((self.became(State::Pending(pending)), happening))
    }

    /// Whether it is for a caller to answer, or was when it was open: not what went elsewhere, and not what they will not answer.
    #[must_use]
    pub fn awaits(&self, caller: &Caller) -> bool {
        let declined = match &self.state {
            State::Pending(pending) => pending.abstained.iter().any(|one| one.by.is_same_person(&caller.actor)),
            State::Resolved { .. } => false,
        };
        !declined && self.handed_over().is_none() && self.admit(caller).is_ok()
    }

    /// What is reported when too few are left who could answer.
    #[must_use]
    pub fn desertion(&self) -> Option<EventDraft> {
        let State::Pending(Pending { deserted: true, abstained, .. }) = &self.state else { return None };
        let data = json!({ "quorum": self.question.audience.quorum, "abstained": abstained.len() });
        Some(EventDraft::plain("interaction.deserted", data))
    }

    /// The groups of everybody in an audience who could still answer, one entry for each person.
    fn left(&self, audience: &Audience, pending: &Pending, people: &[Person]) -> Vec<Vec<String>> {
        let gone = |actor: &Actor| pending.abstained.iter().any(|one| one.by.is_same_person(actor));
        let mut left: Vec<(&str, Vec<String>)> = Vec::new();
        for person in people {
            let name = person.actor.name.as_str();
            let started = person.actor.is_same_person(&self.origin.started_by);
            let may = person.role.may(Right::Answer) && self.unbarred_in(audience, &person.actor).is_ok();
            if !may || gone(&person.actor) || !audience.includes_person(person, started) {
                continue;
            }
            // Somebody with several keys is one person, with the groups of them all.
            match left.iter_mut().find(|(known, _)| text::same_name(known, name)) {
                Some((_, groups)) => groups.extend(person.groups.iter().cloned()),
                None => left.push((name, person.groups.clone())),
            }
        }
        left.into_iter().map(|(_, groups)| groups).collect()
    }
}
