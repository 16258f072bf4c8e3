//! A draft that is judged beside the policy in force. It decides nothing, holds nothing up, and what it would have said otherwise is kept
//! with the action.

use std::sync::Arc;

use domain::access::Right;
use domain::{Action, Caller, Difference, PolicyState, Proposal, Refusal, Ruling, Scope, Shadow};
use metrics::counter;
use policy::Policy;
use serde_json::json;
use store::{Cost, DifferenceCount};

use crate::judge::{Behalf, InForce, Judged, drafted, switched};
use crate::policy_admin::{diff, explained, loaded};
use crate::policy_file::load_policy;
use crate::work::Work;
use crate::{Engine, Error, Idempotency};

/// How many differences of a draft are kept.
pub(crate) const KEPT: u32 = 1000;
/// How many of them are shown.
const SHOWN: u32 = 100;

/// A draft that is judged beside the policy in force, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shadowed {
    /// Which, since when, by whom and why.
    pub shadow: Shadow,
    /// Its text.
    pub text: String,
    /// How often it would have said something else.
    pub counts: Vec<DifferenceCount>,
    /// The newest of those.
    pub recent: Vec<Difference>,
}

/// What the draft says of an action that is being ruled on.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    number: u64,
    /// None if it failed, or took too long.
    ruling: Option<Ruling>,
}

impl Engine {
    /// The draft that is judged beside the policy in force, and where it differs.
    pub async fn policy_shadow(&self, caller: &Caller) -> Result<Shadowed, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Scan, move |reads| {
            let none = Refusal::NotFound("shadow");
            let shadow = reads.policy_state(&scope)?.and_then(|state| state.shadow).ok_or(none.clone())?;
            // Between the two reads it may have been replaced.
            let text = reads.shadow_text(&scope, shadow.number)?.ok_or(none)?;
            let counts = reads.difference_counts(&scope, shadow.number)?;
            let recent = reads.differences(&scope, shadow.number, SHOWN)?;
            Ok(Shadowed { shadow, text, counts, recent })
        })
        .await
    }

    /// Has a draft judged beside the policy in force, in place of any before. What was counted for that one is forgotten.
    pub async fn policy_shadow_put(
        &self,
        caller: &Caller,
        text: String,
        reason: Option<String>,
        once: Option<Idempotency>,
    ) -> Result<Shadowed, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(reason.as_deref())?;
        let policy = Arc::new(loaded(text.clone()).await?);
        let version = policy.version().to_owned();
        let (scope, by) = (caller.scope, caller.actor.clone());
        let diff = diff(self.in_force(scope).await?.policy.text(), &text);
        self.policies.drafts.insert(version.clone(), Some(policy));
        self.command(caller, once, move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(work.now));
            let (state, happening) = state.shadow(version.clone(), by.clone(), reason.clone(), work.now);
            work.tx.policy_save(&scope, &state)?;
            if let Some(shadow) = &state.shadow {
                work.tx.shadow_keep(&scope, shadow, &text)?;
            }
            work.audited(&scope, &happening.recording(json!({ "diff": diff })))?;
            Ok(())
        })
        .await?;
        self.policy_shadow(caller).await
    }

    /// Has no draft judged beside the policy in force any more, and forgets what was counted.
    pub async fn policy_shadow_remove(&self, caller: &Caller) -> Result<(), Error> {
        caller.require(Right::ManagePolicy)?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, None, move |work| {
            let state = work.tx.policy_state(&scope)?.and_then(|state| state.unshadow(&by));
            let (state, happening) = state.ok_or(Refusal::NotFound("shadow"))?;
            work.tx.policy_save(&scope, &state)?;
            work.tx.shadow_forget(&scope)?;
            work.audited(&scope, &happening)?;
            Ok(())
        })
        .await
    }

    /// Rules on an action, and meanwhile has the draft say what it would. The ruling does not depend on the draft.
    pub(crate) async fn judge_beside(
        &self,
        scope: Scope,
        behalf: Behalf,
        action: Action,
    ) -> Result<(Judged, Option<Beside>), Error> {
        let in_force = self.in_force(scope).await?;
        let beside = self.beside(scope, in_force.clone(), behalf.clone(), action.clone());
        let (judged, beside) = tokio::join!(self.judge_by(in_force, behalf, action), beside);
        Ok((judged?, beside))
    }

    async fn beside(&self, scope: Scope, in_force: InForce, behalf: Behalf, action: Action) -> Option<Beside> {
        let shadow = in_force.state.shadow.clone()?;
        let number = shadow.number;
        let ruling =
            tokio::time::timeout(self.settings().draft_time, self.drafted(scope, shadow, behalf, action)).await;
        let ruling = ruling.ok().flatten().map(|ruling| switched(ruling, &in_force.state));
        let said = ruling.as_ref().map_or("failed", |ruling| ruling.verdict.name());
        counter!("flow_policy_shadow_verdicts_total", "verdict" => said).increment(1);
        Some(Beside { number, ruling })
    }

    async fn drafted(&self, scope: Scope, shadow: Shadow, behalf: Behalf, action: Action) -> Option<Ruling> {
        let policy = self.draft(scope, shadow).await?;
        let (place, forms) = (self.policies.place_for_draft()?, Arc::clone(&self.forms));
        let judging = tokio::task::spawn_blocking(move || {
            let ruling = drafted(&policy, &forms, &behalf, &action);
            drop(place);
            ruling
        });
        judging.await.ok()
    }

    /// The draft itself, read once. One that cannot be read stays so.
    async fn draft(&self, scope: Scope, shadow: Shadow) -> Option<Arc<Policy>> {
        let Shadow { version, number, .. } = shadow;
        if let Some(known) = self.policies.drafts.get(&version) {
            return known;
        }
        let text = self.read(Cost::Point, move |reads| Ok(reads.shadow_text(&scope, number)?)).await.ok()??;
        let (place, policies) = (self.policies.place_for_draft()?, Arc::clone(&self.policies));
        let loading = tokio::task::spawn_blocking(move || {
            let policy = load_policy("policy.toml", &text).ok().map(Arc::new);
            policies.drafts.insert(version, policy.clone());
            drop(place);
            policy
        });
        loading.await.ok()?
    }
}

impl Work<'_> {
    /// Keeps what the draft would have said of an action, where that is not what was said.
    pub(crate) fn compared(&mut self, proposal: &Proposal, beside: Option<&Beside>) -> Result<(), Error> {
        let Some(Beside { number, ruling }) = beside else { return Ok(()) };
        if ruling.as_ref().is_some_and(|drafted| drafted.verdict == proposal.ruling.verdict) {
            return Ok(());
        }
        let difference = Difference {
            session: proposal.session,
            call: proposal.call.clone(),
            tool: proposal.action.tool.clone(),
            at: proposal.at,
            given: proposal.ruling.clone(),
            drafted: ruling.clone(),
        };
        Ok(self.tx.difference_insert(&proposal.scope, *number, &difference)?)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{Role, Verdict};
    use serde_json::{Value, json};
    use store::SystemClock;
    use store_sqlite::{Options, SqliteStore};

    use super::*;
    use crate::{Ids, MasterKey, NewKey, Propose, Settings, Start, Vault};

    const OPEN: &str = "version = 1\n[[rule]]\nname = \"open\"\ntools = [\"write_file\"]\nverdict = \"allow\"\n";

    async fn caller(engine: &Engine, role: Role) -> Caller {
        let new = NewKey { role, user: Some(role.name().into()), groups: Vec::new(), lifetime: None };
        let (key, _) = engine.key_install("default", "default", new).await.unwrap();
        key.caller(engine.now()).unwrap()
    }

    fn writing(call: &str) -> Propose {
        let action = Action { tool: "write_file".into(), arguments: json!({ "path": "a" }) };
        let (context, call) = (Value::Null, call.to_owned());
        Propose { call, action, context, traceparent: None, deadline_seconds: None, repeatable: false, client: false }
    }

    /// Drafts that never come to an end have taken every place: the ruling is given all the same.
    #[tokio::test]
    async fn a_draft_without_a_place_holds_up_no_ruling() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), Arc::new(SystemClock), &Options::default()).unwrap();
        let vault = Vault::new(MasterKey::from_bytes([7; 32]));
        let settings = Settings { draft_time: Duration::from_secs(60), ..Settings::default() };
        let engine = Engine::new(Arc::new(store), Arc::new(SystemClock), Ids::default(), vault, settings);
        engine.unlock().await.unwrap();
        let (root, agent) = (caller(&engine, Role::Admin).await, caller(&engine, Role::Agent).await);
        let session = engine.start(&agent, Start::default(), None).await.unwrap().id;
        engine.policy_shadow_put(&root, OPEN.into(), None, None).await.unwrap();
        let taken: Vec<_> = std::iter::from_fn(|| engine.policies.place_for_draft()).collect();
        for call in ["c1", "c2"] {
            let ruling = engine.propose(&agent, session, writing(call), None).await.unwrap().proposal.ruling;
            assert_eq!((ruling.verdict, ruling.rule.as_deref()), (Verdict::Ask, Some("ask-before-changing")));
        }
        drop(taken);
        engine.propose(&agent, session, writing("c3"), None).await.unwrap();
        let shown = engine.policy_shadow(&root).await.unwrap();
        let count = |drafted: &str, count| DifferenceCount { given: "ask".into(), drafted: drafted.into(), count };
        assert_eq!(shown.counts, [count("allow", 1), count("failed", 2)]);
    }
}
