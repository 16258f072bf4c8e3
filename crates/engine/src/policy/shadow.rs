//! Judges a draft beside the policy in force, after the ruling on an action. The draft decides nothing and delays nothing; rulings in
//! which it differs are stored.

use std::sync::Arc;

use ::policy::Policy;
use domain::access::Right;
use domain::{Action, Caller, Difference, PolicyState, Refusal, Ruling, Scope, Shadow};
use metrics::counter;
use store::{Cost, DifferenceCount};
use tokio::sync::OwnedSemaphorePermit;

use crate::access::sight::Sight;
use crate::policy;
use crate::policy::learn;
use crate::policy::project_policy::{NAME, check_reason, diff, parse_policy};
use crate::policy::ruling::{DraftPolicy, OnBehalfOf, apply_switch, judge_draft};
use crate::policy::server_file::load_policy;
use crate::{Engine, Error, Idempotency};

/// Number of differences that are stored for a draft.
pub(crate) const KEPT: u32 = 1000;
/// Number of differences that are returned.
const SHOWN: u32 = 100;

/// Shadow draft, with the rulings in which it differs from the policy in force.
#[derive(Debug, Clone, PartialEq)]
pub struct ShadowReport {
    /// Version of the draft, and who set it, when and why.
    pub shadow: Shadow,
    /// Text of the draft.
    pub text: String,
    /// Number of differences for each pair of verdicts.
    pub counts: Vec<DifferenceCount>,
    /// Newest differences between draft and policy.
    pub recent: Vec<Difference>,
}

impl Engine {
    /// Returns the shadow draft and its differences from the policy in force.
    pub async fn policy_shadow_get(&self, caller: &Caller) -> Result<ShadowReport, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.list(caller, move |reads, caller| {
            let none = Refusal::NotFound("shadow");
            if matches!(Sight::of(reads, caller)?, Sight::Own(_)) {
                // The report contains the calls of all agents, and this agent may read only its own sessions.
                return Err(none.into());
            }
            let shadow = reads.policy_state(&scope)?.and_then(|state| state.shadow).ok_or(none.clone())?;
            // The draft may have been replaced between the two reads.
            let text = reads.shadow_text(&scope, shadow.number)?.ok_or(none)?;
            let counts = reads.difference_counts(&scope, shadow.number)?;
            let recent = reads.differences(&scope, shadow.number, SHOWN)?.into_vec();
            Ok(ShadowReport { shadow, text, counts, recent })
        })
        .await
    }

    /// Sets the shadow draft. A previous draft is replaced, and its differences are deleted.
    pub async fn policy_shadow_put(
        &self,
        caller: &Caller,
        text: String,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<ShadowReport, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(reason.as_deref())?;
        let policy = Arc::new(parse_policy(NAME, text.clone()).await?);
        let version = policy.version().to_owned();
        let scope = caller.scope;
        let in_force = policy::in_force::load(self, scope).await?;
        let (diff, since) = (diff(in_force.policy.text(), &text), in_force.changed().1);
        self.policies.drafts.insert(version.clone(), Some(policy));
        self.command(caller, idempotency, move |work| {
            // A draft does not change the policy in force, so the initial state keeps the time of the last change.
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(since));
            let (state, audit_draft) = state.shadow(version.clone(), work.by().clone(), reason.clone(), work.now);
            work.tx.policy_save(&scope, &state)?;
            if let Some(shadow) = &state.shadow {
                work.tx.shadow_save(&scope, shadow, &text)?;
            }
            work.append_audit(&scope, &audit_draft.with_diff(Some(&diff)))?;
            Ok(())
        })
        .await?;
        self.policy_shadow_get(caller).await
    }

    /// Removes the shadow draft and deletes its differences.
    pub async fn policy_shadow_remove(&self, caller: &Caller) -> Result<(), Error> {
        caller.require(Right::ManagePolicy)?;
        let scope = caller.scope;
        self.command(caller, None, move |work| {
            let state = work.tx.policy_state(&scope)?.and_then(|state| state.unshadow(work.by()));
            let (state, audit_draft) = state.ok_or(Refusal::NotFound("shadow"))?;
            work.tx.policy_save(&scope, &state)?;
            work.tx.shadow_delete(&scope)?;
            work.append_audit(&scope, &audit_draft)?;
            Ok(())
        })
        .await
    }

    /// Waits until all running judgements of shadow drafts have ended.
    pub async fn wait_for_drafts(&self) {
        let mut drafting = std::mem::take(&mut *self.policies.drafting.lock());
        while drafting.join_next().await.is_some() {}
    }
}

/// Judges an action by the shadow draft in the background, after the ruling on it. If too many drafts are being judged already, the
/// action is skipped and a counter is incremented.
pub(crate) fn judge_in_background(engine: &Engine, state: PolicyState, behalf: OnBehalfOf, action: Action) {
    let Some(shadow) = state.shadow.clone() else { return };
    let Some(permit) = engine.policies.permit_for_draft() else {
        return counter!("flow_policy_shadow_dropped_total").increment(1);
    };
    let (policies, engine, permit) = (Arc::clone(&engine.policies), engine.clone(), Arc::new(permit));
    let mut drafting = policies.drafting.lock();
    while drafting.try_join_next().is_some() {}
    drafting.spawn(async move {
        let judging = judge_by_draft(&engine, &action, shadow.clone(), (behalf, state.clone()), Arc::clone(&permit));
        let ruling = tokio::time::timeout(engine.settings().draft_time, judging).await;
        let ruling = ruling.ok().flatten().map(|ruling| apply_switch(ruling, &state));
        let said = ruling.as_ref().map_or("failed", |ruling| ruling.verdict.name());
        counter!("flow_policy_shadow_verdicts_total", "verdict" => said).increment(1);
        if let Err(error) = save_difference(&engine, action, shadow.number, ruling).await {
            counter!("flow_policy_shadow_dropped_total").increment(1);
            tracing::warn!(%error, "the difference of a draft could not be stored");
        }
        drop(permit);
    });
}

async fn judge_by_draft(
    engine: &Engine,
    action: &Action,
    shadow: Shadow,
    (behalf, state): (OnBehalfOf, PolicyState),
    permit: Arc<OwnedSemaphorePermit>,
) -> Option<Ruling> {
    let policy = load_draft(engine, action.scope, shadow, Arc::clone(&permit)).await?;
    let suspended = suspended_rules(engine, action.scope, &policy, &state).await.ok()?;
    let trial = DraftPolicy { policy, suspended, floor: engine.policies.floor_here() };
    let (forms, call) = (Arc::clone(&engine.forms), action.call.clone());
    let judging = tokio::task::spawn_blocking(move || {
        let ruling = judge_draft((&trial, &forms), &behalf, &call, &|| true);
        // The permit is held until the judgement ends, even if it has timed out and nobody waits for it.
        drop(permit);
        ruling
    });
    judging.await.ok().flatten()
}

/// Names of the suspended rules of a draft. If the draft has learnt rules, the decisions of people are read and the result is cached
/// for a while.
async fn suspended_rules(
    engine: &Engine,
    scope: Scope,
    draft: &Arc<Policy>,
    state: &PolicyState,
) -> Result<Vec<String>, Error> {
    if draft.learnt().next().is_none() {
        return Ok(state.silent().into_iter().map(str::to_owned).collect());
    }
    let key = (scope.project, state.revision);
    if let Some(known) = engine.policies.draft_suspensions.get(&key) {
        return Ok(known);
    }
    let silent = learn::suspend::suspended_rules(engine, scope, draft).await?;
    engine.policies.draft_suspensions.insert(key, silent.clone());
    Ok(silent)
}

/// Returns the parsed draft, from the cache if possible. The cache also remembers that a draft cannot be parsed.
async fn load_draft(
    engine: &Engine,
    scope: Scope,
    shadow: Shadow,
    permit: Arc<OwnedSemaphorePermit>,
) -> Option<Arc<Policy>> {
    let Shadow { version, number, .. } = shadow;
    if let Some(known) = engine.policies.drafts.get(&version) {
        return known;
    }
    let text = engine.read(Cost::Point, move |reads| Ok(reads.shadow_text(&scope, number)?)).await.ok()??;
    let policies = Arc::clone(&engine.policies);
    let loading = tokio::task::spawn_blocking(move || {
        let policy = load_policy("policy.toml", &text).ok().map(Arc::new);
        policies.drafts.insert(version, policy.clone());
        drop(permit);
        policy
    });
    loading.await.ok()?
}

/// Stores a difference if the verdict of the draft differs from the ruling and the draft has not been replaced.
async fn save_difference(engine: &Engine, action: Action, number: u64, ruling: Option<Ruling>) -> Result<(), Error> {
    if ruling.as_ref().is_some_and(|drafted| drafted.verdict == action.ruling.verdict) {
        return Ok(());
    }
    let scope = action.scope;
    let difference = Difference {
        session: action.session,
        call: action.call_id,
        tool: action.call.tool,
        at: action.at,
        given: action.ruling,
        drafted: ruling,
    };
    engine
        .transact(move |work| {
            let now = work.tx.policy_lock_shared(&scope)?.and_then(|state| state.shadow).map(|shadow| shadow.number);
            if now == Some(number) {
                work.tx.difference_insert(&scope, number, &difference)?;
            }
            Ok(())
        })
        .await
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Call, Role, Verdict};
    use serde_json::{Value, json};
    use store::SystemClock;
    use store_sqlite::{SqliteOptions, SqliteStore};

    use super::*;
    use crate::{Ids, MasterKey, NewKey, Propose, Settings, Start, Vault};

    const OPEN: &str = "version = 1\n[[rule]]\nname = \"open\"\ntools = [\"write_file\"]\nverdict = \"allow\"\n";

    async fn caller(engine: &Engine, role: Role) -> Caller {
        let new = NewKey::named(role, role.name());
        let (key, _) = engine.key_install("default", "default", new).await.unwrap();
        key.caller(engine.now()).unwrap()
    }

    fn writing(call_id: &str) -> Propose {
        let call = Call { tool: "write_file".into(), arguments: json!({ "path": "a" }) };
        let (context, call_id) = (Value::Null, call_id.to_owned());
        Propose {
            call_id,
            call,
            context,
            expected_content: None,
            traceparent: None,
            deadline_seconds: None,
            repeatable: false,
            client: false,
        }
    }

    /// A ruling is given although unfinished drafts hold all permits.
    #[tokio::test]
    async fn ruling_does_not_wait_for_a_free_draft_permit() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &SqliteOptions::default()).unwrap();
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let settings = Settings { draft_time: Duration::from_mins(1), ..Settings::default() };
        let engine = Engine::new(Arc::new(store), Arc::new(SystemClock), Ids::default(), vault, settings);
        engine.check_master_key().await.unwrap();
        let (root, agent) = (caller(&engine, Role::Admin).await, caller(&engine, Role::Agent).await);
        let session = engine.session_start(&agent, Start::default(), None).await.unwrap().id;
        engine.policy_shadow_put(&root, OPEN.into(), None, None).await.unwrap();
        let taken: Vec<_> = std::iter::from_fn(|| engine.policies.permit_for_draft()).collect();
        for call in ["c1", "c2"] {
            let ruling = engine.action_propose(&agent, session, writing(call), None).await.unwrap().action.ruling;
            assert_eq!((ruling.verdict, ruling.rule.as_deref()), (Verdict::Ask, Some("ask-before-changing")));
        }
        drop(taken);
        engine.action_propose(&agent, session, writing("c3"), None).await.unwrap();
        engine.wait_for_drafts().await;
        let shown = engine.policy_shadow_get(&root).await.unwrap();
        assert_eq!(shown.counts, [DifferenceCount { given: "ask".into(), drafted: "allow".into(), count: 1 }]);
    }
}
