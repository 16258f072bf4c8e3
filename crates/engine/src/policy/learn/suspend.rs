//! Suspends a learnt rule when a person decides against it, in the transaction of that decision.

use std::sync::Arc;

use ::policy::Policy;
use domain::access::Right;
use domain::{
    AnswerDraft, Call, Caller, Decision, Effect, Interaction, Kind, Lift, PolicyState, Problem, Refusal, Scope, Verdict,
};
use store::StoreError;

use crate::interactions::plan::AnswerSubject;
use crate::policy;
use crate::policy::in_force::InForce;
use crate::policy::learn;
use crate::policy::learn::decisions::{Contradictions, allows};
use crate::policy::project_policy::check_reason;
use crate::policy::ruling::{Judged, OnBehalfOf, ServerPolicy};
use crate::run::transaction::Work;
use crate::{Engine, Error, Idempotency};

/// Ruling of the policy in force on the action of a question, valid for one revision of the policy state.
#[derive(Clone)]
pub(crate) struct CurrentRuling {
    revision: u64,
    /// Learnt rules that match the action; `None` unless the question decides whether the action may run.
    learnt: Option<Vec<(String, Verdict)>>,
    /// Ruling on the proposed action, if the answer would approve it.
    approved: Option<Judged>,
}

impl CurrentRuling {
    /// Refuses an approval of an action that the policy now denies. A vote is refused too, so that no other person agrees to it.
    pub(crate) fn require_not_denied(&self) -> Result<(), Refusal> {
        match self.approved().map(|judged| &judged.ruling).filter(|ruling| ruling.verdict == Verdict::Deny) {
            Some(denied) => Err(Refusal::NowDenied(Box::new(denied.clone()))),
            None => Ok(()),
        }
    }

    /// Refuses the approval of a program where the floor asks people.
    pub(crate) fn require_no_floor_question(&self) -> Result<(), Refusal> {
        if self.approved().is_some_and(|judged| judged.ruling.floor_asks()) {
            let problem = Problem::new("/effect", "the floor of the server asks people about this action");
            Err(Refusal::AnswerInvalid(vec![problem]))
        } else {
            Ok(())
        }
    }

    /// Ruling on the proposed action, if the answer would approve it.
    pub(crate) const fn approved(&self) -> Option<&Judged> {
        self.approved.as_ref()
    }
}

/// Judges the action of a question by the policy in force. Returns `None` if the question is about no action.
pub(crate) async fn judge_subject(
    engine: &Engine,
    subject: &AnswerSubject,
    draft: &AnswerDraft,
    in_force: InForce,
) -> Result<Option<CurrentRuling>, Error> {
    let approves = subject.asked.question.effect_of(draft) == Some(Effect::Approve);
    let Some(AskedCall { call, behalf, decides, proposed }) = AskedCall::of(subject) else { return Ok(None) };
    let revision = in_force.state.revision;
    let learnt = decides.then(|| {
        let rules = in_force.policy.learnt_about(&behalf.call(&call)).into_iter();
        rules.map(|(name, verdict)| (name.to_owned(), verdict)).collect()
    });
    let approved =
        if proposed && approves { Some(policy::ruling::judge(engine, in_force, behalf, call).await?) } else { None };
    Ok(Some(CurrentRuling { revision, learnt, approved }))
}

/// Call that a question is about.
pub(crate) struct AskedCall {
    /// Tool and arguments of the call.
    pub(crate) call: Call,
    /// Agent, user and role on whose behalf the call was proposed.
    pub(crate) behalf: OnBehalfOf,
    /// Whether the question decides if the call may run.
    decides: bool,
    /// Whether the call belongs to a proposed action, which runs only with a permit.
    proposed: bool,
}

impl AskedCall {
    /// Returns the call that a question is about, or `None` if the question has no call.
    pub(crate) fn of(subject: &AnswerSubject) -> Option<Self> {
        let original = &subject.original;
        let call = original.question.call.clone()?;
        let user = original.origin.started_by.name.clone();
        let behalf = match &subject.action {
            Some(action) => OnBehalfOf::of(action, user),
            None => OnBehalfOf::agent(original.origin.asked_by.name.clone(), user),
        };
        let decides = original.question.kind == Kind::Approval;
        Some(Self { call, behalf, decides, proposed: subject.action.is_some() })
    }
}

/// Suspends the learnt rules that a decision contradicts. Fails with a conflict if the policy has changed since the rules were found; the
/// answer is then tried again.
pub(crate) fn suspend_contradicted_rules(
    work: &mut Work<'_>,
    interaction: &Interaction,
    about: &CurrentRuling,
) -> Result<(), Error> {
    let (Some(learnt), Some(decision)) = (&about.learnt, Decision::of(interaction)) else { return Ok(()) };
    let otherwise = |verdict: Verdict| match verdict {
        Verdict::Allow => decision.effect != Effect::Approve,
        // An answer never loosens a policy: only a caller who manages the policy takes back a denial.
        Verdict::Ask | Verdict::Deny => false,
    };
    let rules: Vec<String> =
        learnt.iter().filter(|(_, verdict)| otherwise(*verdict)).map(|(name, _)| name.clone()).collect();
    // The shared lock orders this decision and a concurrent change of the policy: either the change sees the decision, or this
    // transaction sees the new revision.
    let state = if rules.is_empty() {
        work.tx.policy_lock_shared(&interaction.scope)?
    } else {
        work.tx.policy_state(&interaction.scope)?
    };
    if state.map_or(0, |state| state.revision) != about.revision {
        return Err(StoreError::Conflict.into());
    }
    suspend_rules(work, &interaction.scope, &rules, &decision)
}

/// Suspends rules because of a decision. Rules that are suspended already stay as they are.
pub(crate) fn suspend_rules(
    work: &mut Work<'_>,
    scope: &Scope,
    rules: &[String],
    decision: &Decision,
) -> Result<(), Error> {
    for rule in rules {
        let state = work.tx.policy_state(scope)?.unwrap_or(PolicyState::initial(work.now));
        let Some((state, audit_draft)) = state.suspend(rule, decision) else { continue };
        work.tx.policy_save(scope, &state)?;
        work.append_audit(scope, &audit_draft)?;
    }
    Ok(())
}

impl Engine {
    /// Puts a suspended rule in force again, in spite of the earlier decisions.
    pub async fn suspension_lift(
        &self,
        caller: &Caller,
        rule: String,
        reason: String,
        idempotency: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(Some(&reason))?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let state = work.tx.policy_state(&scope)?.ok_or(Refusal::NotFound("suspension"))?;
            let lift = Lift { by: work.by().clone(), at: work.now, reason: reason.clone() };
            let (state, audit_draft) = state.lift(&rule, lift).ok_or(Refusal::NotFound("suspension"))?;
            work.tx.policy_save(&scope, &state)?;
            work.append_audit(&scope, &audit_draft)
        })
        .await?;
        policy::in_force::load(self, scope).await
    }
}

/// Compares the learnt rules of the server's policy with the decisions of a project before the first ruling by them, because the
/// server's file knows nothing of the project. A policy without learnt rules is recorded as compared too.
pub(crate) async fn compare_with_decisions(engine: &Engine, scope: Scope, served: ServerPolicy) -> Result<(), Error> {
    let _one = engine.policies.vetting(scope.project).await?;
    let ServerPolicy { policy, since, learnt, .. } = served;
    if policy::in_force::read_state(engine, scope).await?.vetted == learnt {
        return Ok(());
    }
    let against = learn::decisions::read_contradictions(engine, scope, &policy).await?;
    engine
        .transact(move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(since.unwrap_or(work.now)));
            if state.own.is_some() || state.vetted == learnt {
                return Ok(());
            }
            // The save increments the revision, so that an answer that was prepared under another policy starts again.
            work.tx.policy_save(&scope, &state.mark_compared(learnt.clone()))?;
            enforce_earlier_decisions(work, &scope, (&policy, None), against.as_ref())
        })
        .await
}

/// Names of the rules that would be suspended in a draft if it were put in force.
pub(crate) async fn suspended_rules(engine: &Engine, scope: Scope, draft: &Arc<Policy>) -> Result<Vec<String>, Error> {
    let mut state = policy::in_force::read_state(engine, scope).await?;
    let against = learn::decisions::read_contradictions(engine, scope, draft).await?.map(|against| against.found);
    for (rule, decision) in against.unwrap_or_default() {
        if allows(draft, &rule)
            && let Some((suspended, _)) = state.clone().suspend(&rule, &decision)
        {
            state = suspended;
        }
    }
    Ok(state.silent().into_iter().map(str::to_owned).collect())
}

/// Applies earlier decisions in the transaction that puts learnt rules in force. A contradicted rule starts suspended; a contradicted
/// rule that was just suggested is refused.
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
        if allows(policy, rule) {
            suspend_rules(work, scope, std::slice::from_ref(rule), decision)?;
        }
    }
    Ok(())
}
