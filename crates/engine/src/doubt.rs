//! A person decides otherwise than a learnt rule says: the rule is suspended, in the transaction of the decision.

use domain::{
    Action, Caller, Decision, Effect, Interaction, InteractionId, Kind, PolicyState, Refusal, Role, Scope, Verdict,
};
use store::{Cost, Reads, StoreError};

use crate::judge::Behalf;
use crate::work::Work;
use crate::{Engine, Error};

/// The learnt rules that are about the action of a question, under one state of the policy.
#[derive(Debug, Clone)]
pub(crate) struct LearntAbout {
    revision: u64,
    rules: Vec<(String, Verdict)>,
}

impl Engine {
    /// The learnt rules that are about the action that somebody answers a question about. None where it is about none.
    pub(crate) async fn learnt_about(&self, caller: &Caller, id: InteractionId) -> Result<Option<LearntAbout>, Error> {
        let scope = caller.scope;
        let asked = self.read(Cost::Point, move |reads| asked_about(reads, &scope, id)).await?;
        let Some((action, behalf)) = asked else { return Ok(None) };
        let in_force = match self.in_force(scope).await {
            // Where no policy can be read, none allows anything; people answer all the same.
            Err(Error::Store(StoreError::Corrupt(_))) => return Ok(None),
            in_force => in_force?,
        };
        let rules = in_force.policy.learnt_about(&behalf.call(&action));
        let rules = rules.into_iter().map(|(name, verdict)| (name.to_owned(), verdict)).collect();
        Ok(Some(LearntAbout { revision: in_force.state.revision, rules }))
    }
}

fn asked_about(reads: &mut dyn Reads, scope: &Scope, id: InteractionId) -> Result<Option<(Action, Behalf)>, Error> {
    let Some(mut asked) = reads.interaction(scope, id)? else { return Ok(None) };
    // The action is in the session where it was proposed, wherever the question went.
    while let Some(from) = asked.origin.handed_from.take() {
        asked = reads.interaction(scope, from.interaction)?.ok_or(Refusal::NotFound("interaction"))?;
    }
    let Some(action) = asked.question.action.filter(|_| asked.question.kind == Kind::Approval) else { return Ok(None) };
    let proposal = match &asked.question.call {
        Some(call) => reads.proposal(scope, asked.origin.session, call)?,
        None => None,
    };
    let (agent, role) = match proposal {
        Some(proposal) => (proposal.proposed_by.name, proposal.role),
        None => (asked.origin.asked_by.name, Role::Agent),
    };
    Ok(Some((action, Behalf { agent: Some(agent), user: asked.origin.started_by.name, role })))
}

impl Work<'_> {
    /// Suspends the learnt rules that a decision speaks against. A policy that has moved since they were found is looked at again.
    pub(crate) fn doubted(&mut self, interaction: &Interaction, about: Option<&LearntAbout>) -> Result<(), Error> {
        let (Some(about), Some(decision)) = (about, Decision::of(interaction)) else { return Ok(()) };
        let now = self.tx.policy_state(&interaction.scope)?.map_or(0, |state| state.revision);
        if now != about.revision {
            return Err(StoreError::Conflict.into());
        }
        let otherwise = |verdict: Verdict| match verdict {
            Verdict::Allow => decision.effect != Effect::Approve,
            // An answer never loosens a policy: a denial is taken back by whoever manages it.
            Verdict::Ask | Verdict::Deny => false,
        };
        let rules: Vec<String> =
            about.rules.iter().filter(|(_, verdict)| otherwise(*verdict)).map(|(name, _)| name.clone()).collect();
        self.suspended(&interaction.scope, &rules, &decision)
    }

    /// Has rules match nothing any more, because of a decision; those that do so already stay as they are.
    pub(crate) fn suspended(&mut self, scope: &Scope, rules: &[String], decision: &Decision) -> Result<(), Error> {
        for rule in rules {
            let state = self.tx.policy_state(scope)?.unwrap_or(PolicyState::initial(self.now));
            let Some((state, happening)) = state.suspend(rule, decision) else { continue };
            self.tx.policy_save(scope, &state)?;
            self.audited(scope, &happening)?;
        }
        Ok(())
    }
}
