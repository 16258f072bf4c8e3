//! A person decides otherwise than a learnt rule says: the rule is suspended, in the transaction of the decision.

use std::sync::Arc;

use ::policy::Policy;
use domain::access::Right;
use domain::{
    AnswerDraft, Call, Caller, Decision, Effect, Interaction, Kind, Lift, PolicyState, Problem, Refusal, Role, Scope,
    Verdict,
};
use store::StoreError;

use crate::interactions::plan::AnswerSubject;
use crate::policy;
use crate::policy::learn::decisions::{Contradictions, loosening};
use crate::policy::project_policy::explained;
use crate::policy::ruling::{InForce, Judged, OnBehalfOf, ServerPolicy};
use crate::run::transaction::Work;
use crate::{Engine, Error, Idempotency};

/// What policy says by now of the action of a question, under one state of the policy.
#[derive(Clone)]
pub(crate) struct CurrentRuling {
    revision: u64,
    /// The learnt rules that are about it, where the question decides about it.
    learnt: Option<Vec<(String, Verdict)>>,
    /// The ruling on a proposed action that the answer would approve.
    approved: Option<Judged>,
}

impl CurrentRuling {
    /// Refuses an approval that would come to nothing, also as a vote: nobody else should be brought to agree to it.
    pub(crate) fn require_not_denied(&self) -> Result<(), Refusal> {
        match self.approved().map(|judged| &judged.ruling).filter(|ruling| ruling.verdict == Verdict::Deny) {
            Some(denied) => Err(Refusal::DeniedByNow(Box::new(denied.clone()))),
            None => Ok(()),
        }
    }

    /// Refuses the word of a program where the floor asks people.
    pub(crate) fn require_no_floor_question(&self) -> Result<(), Refusal> {
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
    /// Rules on the action of a question by the policy in force. `None` where the question is about no action.
    pub(crate) async fn current_ruling(
        &self,
        subject: &AnswerSubject,
        draft: &AnswerDraft,
        in_force: InForce,
    ) -> Result<Option<CurrentRuling>, Error> {
        let approves = subject.asked.question.effect_of(draft) == Some(Effect::Approve);
        let Some(AskedCall { action, behalf, decides, proposed }) = AskedCall::of(subject) else { return Ok(None) };
        let revision = in_force.state.revision;
        let learnt = decides.then(|| {
            let rules = in_force.policy.learnt_about(&behalf.call(&action)).into_iter();
            rules.map(|(name, verdict)| (name.to_owned(), verdict)).collect()
        });
        let approved = match proposed && approves {
            true => Some(self.judge_by(in_force, behalf, action).await?),
            false => None,
        };
        Ok(Some(CurrentRuling { revision, learnt, approved }))
    }
}

/// What a question asks about.
pub(crate) struct AskedCall {
    /// The action.
    pub(crate) action: Call,
    /// On whose behalf it was proposed.
    pub(crate) behalf: OnBehalfOf,
    /// Whether the question is whether it may run.
    decides: bool,
    /// Whether it was proposed, so that it runs by a permit alone.
    proposed: bool,
}

impl AskedCall {
    /// The call that a question is about. `None` where it is about none.
    pub(crate) fn of(subject: &AnswerSubject) -> Option<Self> {
        let original = &subject.original;
        let action = original.question.call.clone()?;
        let (agent, role) = match &subject.action {
            Some(proposal) => (proposal.proposed_by.name.clone(), proposal.role),
            None => (original.origin.asked_by.name.clone(), Role::Agent),
        };
        let behalf = OnBehalfOf { agent: Some(agent), user: original.origin.started_by.name.clone(), role };
        let decides = original.question.kind == Kind::Approval;
        Some(Self { action, behalf, decides, proposed: subject.action.is_some() })
    }
}

/// Suspends the learnt rules that a decision speaks against. A policy that has moved since they were found is looked at again.
pub(crate) fn suspend_contradicted_rules(
    work: &mut Work<'_>,
    interaction: &Interaction,
    about: Option<&CurrentRuling>,
) -> Result<(), Error> {
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
        true => work.tx.policy_lock_shared(&interaction.scope)?,
        false => work.tx.policy_state(&interaction.scope)?,
    };
    if state.map_or(0, |state| state.revision) != about.revision {
        return Err(StoreError::Conflict.into());
    }
    suspend_rules(work, &interaction.scope, &rules, &decision)
}

/// Has rules match nothing any more, because of a decision; those that do so already stay as they are.
pub(crate) fn suspend_rules(
    work: &mut Work<'_>,
    scope: &Scope,
    rules: &[String],
    decision: &Decision,
) -> Result<(), Error> {
    for rule in rules {
        let state = work.tx.policy_state(scope)?.unwrap_or(PolicyState::initial(work.now));
        let Some((state, happening)) = state.suspend(rule, decision) else { continue };
        work.tx.policy_save(scope, &state)?;
        work.append_audit(scope, &happening)?;
    }
    Ok(())
}

impl Engine {
    /// Holds the learnt rules of the server's policy against what people have decided in a project, before anything is ruled on by them there:
    /// the server's file knows nothing of a project. Where the server's policy has none, whoever decides has none to find, which is noted too.
    pub(crate) async fn vet(&self, scope: Scope, served: ServerPolicy) -> Result<(), Error> {
        let _one = self.policies.vetting(scope.project).await?;
        let ServerPolicy { policy, since, learnt, .. } = served;
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
            enforce_earlier_decisions(work, &scope, (&policy, None), against.as_ref())
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
            work.append_audit(&scope, &happening)
        })
        .await?;
        self.in_force(scope).await
    }
}

/// In the transaction that puts learnt rules in force: those that somebody has decided otherwise about begin suspended, and one that was
/// suggested is refused.
pub(crate) fn enforce_earlier_decisions(
    work: &mut Work<'_>,
    scope: &Scope,
    (policy, suggested): (&Policy, Option<&String>),
    against: Option<&Contradictions>,
) -> Result<(), Error> {
    let Some(Contradictions { found, since }) = against else { return Ok(()) };
    let later = policy::find_contradictions(work, scope, policy, *since)?;
    for (rule, decision) in found.iter().chain(&later) {
        if suggested == Some(rule) {
            return Err(Refusal::NotFound("suggestion").into());
        }
        if loosening(policy, rule) {
            suspend_rules(work, scope, std::slice::from_ref(rule), decision)?;
        }
    }
    Ok(())
}
