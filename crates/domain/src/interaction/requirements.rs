//! Checks who may answer a question, and whether the votes reach the quorum of each of its audiences.

use super::{Interaction, State};
use crate::event::{InteractionVoted, RequirementsMet};
use crate::{Actor, Answer, Audience, Caller, Refusal, Resolution};

impl Interaction {
    /// Refuses a caller who belongs to none of the audiences, or is excluded from each audience that they belong to.
    pub(super) fn invites(&self, caller: &Caller) -> Result<(), Refusal> {
        let started = caller.actor.is_same_person(&self.origin.started_by);
        let mut refusal = Refusal::NotInAudience;
        for audience in self.question.audiences() {
            match self.unbarred_in(audience, &caller.actor) {
                Ok(()) if audience.includes(caller, started) => return Ok(()),
                Ok(()) => {}
                Err(barred) => refusal = barred,
            }
        }
        Err(refusal)
    }

    /// Refuses an actor who can never count in this audience: the asker and, with four eyes, the person who started the session.
    pub(super) fn unbarred_in(&self, audience: &Audience, actor: &Actor) -> Result<(), Refusal> {
        if actor.is_same_person(&self.origin.asked_by) {
            return Err(Refusal::AskerCannotAnswer);
        }
        if audience.four_eyes && actor.is_same_person(&self.origin.started_by) {
            return Err(Refusal::FourEyes);
        }
        Ok(())
    }

    /// Whether equal votes reach the quorum of every audience.
    pub(super) fn is_settled_by(&self, agreeing: &[&Answer]) -> bool {
        match self.question.requirements.as_slice() {
            // Every voter was admitted, so they belong to the only audience.
            [] => self.question.audience.satisfied(agreeing),
            _ => self.met_by(agreeing).into_iter().all(|met| met),
        }
    }

    /// For each of the `requirements`, whether the votes so far reach its quorum. If people gave different answers, the answer that
    /// satisfies the most requirements is used.
    #[must_use]
    pub fn requirements_met(&self) -> Vec<bool> {
        let none: &[Answer] = &[];
        let (votes, said) = match &self.state {
            State::Pending(pending) => (pending.votes.as_slice(), pending.votes.as_slice()),
            State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } => {
                let decided = std::slice::from_ref(answer);
                (if votes.is_empty() { decided } else { votes.as_slice() }, decided)
            }
            State::Resolved { .. } => (none, none),
        };
        self.met_at_best(votes, said)
    }

    /// Event data of a vote that does not decide the question yet.
    pub(super) fn voted(&self, answer: &Answer, votes: &[Answer]) -> InteractionVoted {
        let requirements = (!self.question.requirements.is_empty()).then(|| {
            let met = self.met_at_best(votes, votes);
            RequirementsMet { met: met.iter().filter(|met| **met).count(), of: met.len() }
        });
        let quorum = self.question.audience.quorum;
        InteractionVoted { effect: answer.effect, votes: votes.len(), quorum, requirements }
    }

    fn met_at_best(&self, votes: &[Answer], said: &[Answer]) -> Vec<bool> {
        let met = said.iter().map(|one| {
            let agreeing: Vec<&Answer> = votes.iter().filter(|vote| vote.agrees_with(one)).collect();
            self.met_by(&agreeing)
        });
        let best = met.max_by_key(|met| met.iter().filter(|met| **met).count());
        best.unwrap_or_else(|| vec![false; self.question.requirements.len()])
    }

    fn met_by(&self, agreeing: &[&Answer]) -> Vec<bool> {
        let settled = |audience: &Audience| audience.settled_by(agreeing, &self.origin.started_by);
        self.question.requirements.iter().map(settled).collect()
    }
}
