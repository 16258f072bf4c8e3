//! A person decides otherwise than a learnt rule says: the rule is suspended, in the transaction of the decision.

use std::sync::Arc;

use domain::access::Right;
use domain::{
    AnswerDraft, Call, Caller, Decision, Effect, Interaction, InteractionId, Kind, Lift, PolicyState, Problem, Refusal,
    Role, Scope, Verdict,
};
use policy::Policy;
use store::{Cost, Reads, StoreError};

use crate::decided::{Against, loosening};
use crate::judge::{Behalf, InForce, Judged, Served};
use crate::policy_admin::explained;
use crate::work::Work;
use crate::{Engine, Error, Idempotency};

/// What policy says by now of the action of a question, under one state of the policy.
#[derive(Clone)]
pub(crate) struct ByNow {
    revision: u64,
    /// The learnt rules that are about it, where the question decides about it.
    learnt: Option<Vec<(String, Verdict)>>,
    /// The ruling on a proposed action that the answer would approve.
    approved: Option<Judged>,
}

impl ByNow {
    /// Refuses an approval that would come to nothing, also as a vote: nobody else should be brought to agree to it.
    pub(crate) fn allows(&self) -> Result<(), Refusal> {
        match self.approved().map(|judged| &judged.ruling).filter(|ruling| ruling.verdict == Verdict::Deny) {
            Some(denied) => Err(Refusal::DeniedByNow(Box::new(denied.clone()))),
            None => Ok(()),
        }
    }

    /// Refuses the word of a program where the floor asks people.
    pub(crate) fn needs_no_person(&self) -> Result<(), Refusal> {
        match self.approved().is_some_and(|judged| judged.ruling.floor_asks()) {
            true => {
                let problem = Problem::new("/effect", "the floor of the server asks people about this action");
                Err(Refusal::AnswerInvalid(vec![problem]))
            }
            false => Ok(()),
        }
    }

    /// The ruling on a proposed action that the answer would approve.
    pub(crate) const fn approved(&self) -> Option<&Judged> {
        self.approved.as_ref()
    }
}

impl Engine {
    /// What policy says by now of the action that somebody answers a question about. None where it is about none.
    pub(crate) async fn by_now(
        &self,
        caller: &Caller,
        id: InteractionId,
        draft: &AnswerDraft,
    ) -> Result<Option<ByNow>, Error> {
        let (scope, draft) = (caller.scope, draft.clone());
        let found = self.read(Cost::Point, move |reads| {
            let Some(asked) = reads.interaction(&scope, id)? else { return Ok(None) };
            let approves = asked.question.effect_of(&draft) == Some(Effect::Approve);
            Ok(asked_about(reads, &scope, asked)?.map(|asked| (asked, approves)))
        });
        let Some((Asked { action, behalf, decides, proposed }, approves)) = found.await? else { return Ok(None) };
        let in_force = match self.in_force(scope).await {
            // Where no policy can be read, none allows anything; people answer all the same.
            Err(Error::Store(StoreError::Corrupt(_))) => return Ok(None),
            in_force => in_force?,
        };
        let revision = in_force.state.revision;
        let learnt = decides.then(|| {
            let rules = in_force.policy.learnt_about(&behalf.call(&action)).into_iter();
            rules.map(|(name, verdict)| (name.to_owned(), verdict)).collect()
        });
        let approved = match proposed && approves {
            true => Some(self.judge_by(in_force, behalf, action).await?),
            false => None,
        };
        Ok(Some(ByNow { revision, learnt, approved }))
    }
}

/// What a question asks about.
pub(crate) struct Asked {
    /// The action.
    pub(crate) action: Call,
    /// On whose behalf it was proposed.
    pub(crate) behalf: Behalf,
    /// Whether the question is whether it may run.
    decides: bool,
    /// Whether it was proposed, so that it runs by a permit alone.
    proposed: bool,
}

/// The action that a question is about, and on whose behalf it was proposed.
pub(crate) fn asked_about<R: Reads + ?Sized>(
    reads: &mut R,
    scope: &Scope,
    mut asked: Interaction,
) -> Result<Option<Asked>, Error> {
    // The action is in the session where it was proposed, wherever the question went.
    while let Some(from) = asked.origin.handed_from.take() {
        asked = reads.interaction(scope, from.interaction)?.ok_or(Refusal::NotFound("interaction"))?;
    }
    let Some(action) = asked.question.call else { return Ok(None) };
    let proposal = match &asked.question.call_id {
        Some(call) => reads.proposal(scope, asked.origin.session, call)?,
        None => None,
    };
    let (decides, proposed) = (asked.question.kind == Kind::Approval, proposal.is_some());
    let (agent, role) = match proposal {
        Some(proposal) => (proposal.proposed_by.name, proposal.role),
        None => (asked.origin.asked_by.name, Role::Agent),
    };
    let behalf = Behalf { agent: Some(agent), user: asked.origin.started_by.name, role };
    Ok(Some(Asked { action, behalf, decides, proposed }))
}

impl Work<'_> {
    /// Suspends the learnt rules that a decision speaks against. A policy that has moved since they were found is looked at again.
    pub(crate) fn doubted(&mut self, interaction: &Interaction, about: Option<&ByNow>) -> Result<(), Error> {
        let (Some(about), Some(decision)) = (about, Decision::of(interaction)) else { return Ok(()) };
        let Some(learnt) = &about.learnt else { return Ok(()) };
        let otherwise = |verdict: Verdict| match verdict {
            Verdict::Allow => decision.effect != Effect::Approve,
            // An answer never loosens a policy: a denial is taken back by whoever manages it.
            Verdict::Ask | Verdict::Deny => false,
        };
        let rules: Vec<String> =
            learnt.iter().filter(|(_, verdict)| otherwise(*verdict)).map(|(name, _)| name.clone()).collect();
        // Whoever puts a rule in force at this moment sees the decision, or the rule is seen here.
        let state = match rules.is_empty() {
            true => self.tx.policy_held(&interaction.scope)?,
            false => self.tx.policy_state(&interaction.scope)?,
        };
        if state.map_or(0, |state| state.revision) != about.revision {
            return Err(StoreError::Conflict.into());
        }
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

impl Engine {
    /// Holds the learnt rules of the server's policy against what people have decided in a project, before anything is ruled on by them there:
    /// the server's file knows nothing of a project. Where the server's policy has none, whoever decides has none to find, which is noted too.
    pub(crate) async fn vet(&self, scope: Scope, served: Served) -> Result<(), Error> {
        let _one = self.policies.vetting(scope.project).await?;
        let Served { policy, since, learnt, .. } = served;
        if self.policy_state(scope).await?.vetted == learnt {
            return Ok(());
        }
        let against = self.spoken_against(scope, &policy).await?;
        self.transact(move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(since.unwrap_or(work.now)));
            if state.own.is_some() || state.vetted == learnt {
                return Ok(());
            }
            // This moves the revision: an answer that was looked up under another policy begins again.
            work.tx.policy_save(&scope, &state.vetted(learnt.clone()))?;
            work.unanimous(&scope, (&policy, None), against.as_ref())
        })
        .await
    }

    /// The rules that would match nothing in a draft, were it put in force.
    pub(crate) async fn silent_in(&self, scope: Scope, draft: &Arc<Policy>) -> Result<Vec<String>, Error> {
        let mut state = self.policy_state(scope).await?;
        let against = self.spoken_against(scope, draft).await?.map(|against| against.found);
        for (rule, decision) in against.unwrap_or_default() {
            if loosening(draft, &rule)
                && let Some((suspended, _)) = state.clone().suspend(&rule, &decision)
            {
                state = suspended;
            }
        }
        Ok(state.silent().into_iter().map(str::to_owned).collect())
    }

    /// Has a suspended rule match again, whatever was decided before.
    pub async fn policy_lift(
        &self,
        caller: &Caller,
        rule: String,
        reason: String,
        once: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(Some(&reason))?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let state = work.tx.policy_state(&scope)?.ok_or(Refusal::NotFound("suspension"))?;
            let lift = Lift { by: by.clone(), at: work.now, reason: reason.clone() };
            let (state, happening) = state.lift(&rule, lift).ok_or(Refusal::NotFound("suspension"))?;
            work.tx.policy_save(&scope, &state)?;
            work.audited(&scope, &happening)
        })
        .await?;
        self.in_force(scope).await
    }
}

impl Work<'_> {
    /// In the transaction that puts learnt rules in force: those that somebody has decided otherwise about begin suspended, and one that was
    /// suggested is refused.
    pub(crate) fn unanimous(
        &mut self,
        scope: &Scope,
        (policy, suggested): (&Policy, Option<&String>),
        against: Option<&Against>,
    ) -> Result<(), Error> {
        let Some(Against { found, since }) = against else { return Ok(()) };
        let later = self.decided_against(scope, policy, *since)?;
        for (rule, decision) in found.iter().chain(&later) {
            if suggested == Some(rule) {
                return Err(Refusal::NotFound("suggestion").into());
            }
            if loosening(policy, rule) {
                self.suspended(scope, std::slice::from_ref(rule), decision)?;
            }
        }
        Ok(())
    }
}
