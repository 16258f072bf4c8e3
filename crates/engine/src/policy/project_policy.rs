//! Shows, checks, explains and changes the policy of a project, and pauses and resumes approvals.

use std::sync::Arc;

use ::policy::{Asking, ConsideredRule, Explanation, Finding, PartRuling, Policy, PolicyInput};
use domain::access::Right;
use domain::{
    Actor, Adoption, AgentEnvironment, Call, Caller, FloorRuling, PolicySource, PolicyState, PolicyVersion, Problem,
    Refusal, Role, Ruling, Scope, Verdict, text,
};
use serde_json::Value;
use similar::TextDiff;
use store::{Page, PolicyChangeRecord, StoreError};

use crate::policy;
use crate::policy::in_force::{InForce, PolicyMismatch};
use crate::policy::learn;
use crate::policy::ruling::{OnBehalfOf, ServerPolicy, apply_floor, apply_switch, ask_on_misfit, asked_by, misfit_of};
use crate::policy::server_file::{RefusedFile, ServerFile, load_policy};
use crate::run;
use crate::run::transaction::Work;
use crate::{Engine, Error, Idempotency};

/// File name in the findings about a policy that was not read from a file.
pub(crate) const NAME: &str = "policy.toml";
/// Number of bytes of a diff that the audit trail stores.
const DIFF_BYTES: usize = 64 * 1024;

/// Hypothetical call to explain.
#[derive(Debug, Clone)]
pub struct HypotheticalCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments of the call.
    pub arguments: Value,
    /// Name of the agent.
    pub agent: Option<String>,
    /// Name of the user who would have started the session; the caller by default.
    pub user: Option<String>,
    /// Role of the key that would propose the call; an agent's role by default.
    pub role: Option<Role>,
    /// Program and directory of that key.
    pub environment: AgentEnvironment,
    /// Policy text to try instead of the policy in force.
    pub draft: Option<String>,
}

/// Notices about the policy files of this server.
#[derive(Debug, Clone, Default)]
pub struct PolicyNotices {
    /// Policy file that was refused or could not be read yet.
    pub refused: Option<RefusedFile>,
    /// Floor file that was refused or could not be read yet.
    pub floor_refused: Option<RefusedFile>,
    /// Difference between this node and the versions that were put in force last.
    pub differs: Option<PolicyMismatch>,
}

/// Explanation of the ruling on a call.
#[derive(Debug, Clone)]
pub struct CallExplanation {
    /// Final ruling, including the floor.
    pub ruling: Ruling,
    /// Rules of the policy that were evaluated, in order, up to the deciding one.
    pub considered: Vec<ConsideredRule>,
    /// Facts that the parsers extracted from the arguments.
    pub parsed: Value,
    /// Ruling of the policy on each part of the call, in the order of its text.
    pub parts: Vec<PartRuling>,
    /// Rules that ask, if the ruling is to ask: first rules of the policy, then rules of the floor.
    pub asks: Vec<Asking>,
    /// Explanation by the server's floor, if one is in force.
    pub floor: Option<FloorExplanation>,
}

/// Explanation of the floor's ruling on a call.
#[derive(Debug, Clone)]
pub struct FloorExplanation {
    /// Ruling of the floor.
    pub ruling: FloorRuling,
    /// Rules of the floor that were evaluated, in order, up to the deciding one.
    pub considered: Vec<ConsideredRule>,
}

impl CallExplanation {
    /// Combines the explanation by a policy with the explanation by the floor. Returns `None` if the caller has gone.
    fn of(
        explanation: Explanation,
        floor: Option<&Policy>,
        call: &PolicyInput<'_>,
        wanted: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let Explanation { considered, parsed, ruling, asks, parts } = explanation;
        let floor = match floor {
            Some(floor) => Some(floor.explain_while(call, &[], wanted)?),
            None => None,
        };
        let below = floor.as_ref().map(|floor| floor.asks.clone()).unwrap_or_default();
        let asks = asked_by(&ruling, asks, below);
        let (said, below) = floor.map_or((None, Vec::new()), |floor| (Some(floor.ruling), floor.considered));
        let ruling = apply_floor(ruling, said);
        let asks = if ruling.verdict == Verdict::Ask { asks } else { Vec::new() };
        let floor = ruling.floor.clone().map(|ruling| FloorExplanation { ruling, considered: below });
        Some(Self { ruling, considered, parsed, parts, asks, floor })
    }
}

impl Engine {
    /// Returns the policy in force and the notices about the server's policy files.
    pub async fn policy_get(&self, caller: &Caller) -> Result<(InForce, PolicyNotices), Error> {
        caller.require(Right::Read)?;
        let (refused, floor_refused) =
            (self.policies.refused(ServerFile::Policy), self.policies.refused(ServerFile::Floor));
        let differs = self.compare_policy_with_store().await?;
        Ok((policy::in_force::load(self, caller.scope).await?, PolicyNotices { refused, floor_refused, differs }))
    }

    /// Lists the changes of the project's policy, the newest first, with the cursor of the next page. With a `version`, lists only the
    /// changes that put that version in force.
    pub async fn policy_version_list(
        &self,
        caller: &Caller,
        version: Option<String>,
        page: Page<u64>,
    ) -> Result<(Vec<PolicyChangeRecord>, Option<u64>), Error> {
        caller.require(Right::Read)?;
        let (scope, most) = (caller.scope, page.limit as usize);
        let page = Page { limit: page.limit + 1, ..page };
        let found = self.list(caller, move |reads, _| Ok(reads.policy_changes(&scope, version.as_deref(), page)?));
        let mut found = found.await?;
        found.truncate(most);
        let next = found.last().filter(|_| found.more).map(|known| known.number);
        Ok((found.into_vec(), next))
    }

    /// Returns the findings about a policy text without putting it in force.
    pub async fn policy_check(&self, caller: &Caller, text: String) -> Result<Vec<Finding>, Error> {
        caller.require(Right::Read)?;
        let heavy_work = run::gates::begin_heavy_work(self, caller).await?;
        match heavy_work.off_reactor(move |_| load_policy(NAME, &text)).await? {
            Ok(policy) => Ok(policy.warnings().to_vec()),
            Err(findings) => Ok(findings),
        }
    }

    /// Explains, rule by rule, the ruling on a hypothetical call.
    pub async fn policy_explain(&self, caller: &Caller, supposed: HypotheticalCall) -> Result<CallExplanation, Error> {
        caller.require(Right::Read)?;
        let mut problems = Vec::new();
        domain::action::check_arguments("/arguments", &supposed.arguments, &mut problems);
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let user = supposed.user.clone().unwrap_or_else(|| caller.actor.name.clone());
        let call = Call { tool: supposed.tool, arguments: supposed.arguments };
        let (role, environment) = (supposed.role.unwrap_or(Role::Agent), supposed.environment);
        let behalf = OnBehalfOf { agent: supposed.agent, user, role, environment };
        if let Some(text) = supposed.draft {
            return explain_draft(self, caller, text, (call, behalf)).await;
        }
        let InForce { policy, state, floor, .. } = policy::in_force::load(self, caller.scope).await?;
        let misfit = policy::ruling::find_misfit(self, &policy, &call).await?;
        let explained = run::heavy_work::off_reactor(move || {
            let input = behalf.call(&call);
            let mut explanation = policy.explain_without(&input, &state.silent());
            explanation.ruling = apply_switch(ask_on_misfit(explanation.ruling, misfit), &state);
            CallExplanation::of(explanation, floor.as_deref(), &input, &|| true)
        });
        Ok(explained.await?.ok_or(StoreError::Busy)?)
    }

    /// Puts a policy of the project's own in force, if it has no errors and `base` is still the version in force.
    pub async fn policy_put(
        &self,
        caller: &Caller,
        text: String,
        (base, reason): (Option<String>, Option<String>),
        idempotency: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(reason.as_deref())?;
        let policy = parse_policy(NAME, text).await?;
        adopt(self, caller, NewPolicy::of_project(policy, (base, reason)), idempotency).await
    }

    /// Puts the server's policy in force again.
    pub async fn policy_reset(
        &self,
        caller: &Caller,
        reason: Option<String>,
        idempotency: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(reason.as_deref())?;
        let ServerPolicy { policy, source, .. } = self.policies.server();
        adopt(self, caller, NewPolicy { policy, source, base: None, reason, suggested: None }, idempotency).await
    }

    /// Pauses or resumes approvals. During a pause the policy asks nobody; its denials and the floor still hold.
    pub async fn policy_switch(
        &self,
        caller: &Caller,
        enabled: bool,
        reason: String,
        idempotency: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        check_reason(Some(&reason))?;
        let scope = caller.scope;
        self.command(caller, idempotency, move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(work.now));
            if state.enabled == enabled {
                return Ok(());
            }
            let (state, audit_draft) = state.switch(enabled, work.by().clone(), reason.clone(), work.now);
            work.tx.policy_save(&scope, &state)?;
            work.append_audit(&scope, &audit_draft)?;
            Ok(())
        })
        .await?;
        policy::in_force::load(self, caller.scope).await
    }
}

/// Explains the ruling on a call by a draft, as if the draft were in force and approvals were not paused.
async fn explain_draft(
    engine: &Engine,
    caller: &Caller,
    text: String,
    (call, behalf): (Call, OnBehalfOf),
) -> Result<CallExplanation, Error> {
    caller.require(Right::TryDrafts)?;
    let heavy_work = run::gates::begin_heavy_work(engine, caller).await?;
    let policy = Arc::new(heavy_work.off_reactor(move |_| parse_policy_here(NAME, &text)).await??);
    let suspended = learn::suspend::suspended_rules(engine, caller.scope, &policy).await?;
    let (forms, floor) = (Arc::clone(&engine.forms), engine.policies.floor_here());
    let explained = heavy_work.off_reactor(move |wanted| {
        let silent: Vec<&str> = suspended.iter().map(String::as_str).collect();
        let input = behalf.call(&call);
        let mut explanation = policy.explain_while(&input, &silent, wanted)?;
        explanation.ruling = ask_on_misfit(explanation.ruling, misfit_of(&policy, &forms, &call));
        CallExplanation::of(explanation, floor.as_deref(), &input, wanted)
    });
    Ok(explained.await?.ok_or(StoreError::Busy)?)
}

/// Puts a policy in force, and suspends its learnt rules that earlier decisions contradict.
pub(crate) async fn adopt(
    engine: &Engine,
    caller: &Caller,
    adopted: NewPolicy,
    idempotency: Option<Idempotency>,
) -> Result<InForce, Error> {
    let scope = caller.scope;
    let current = match policy::in_force::load(engine, caller.scope).await {
        Ok(current) => Some(current),
        // A policy that can no longer be read can still be replaced.
        Err(Error::Store(StoreError::Corrupt(_))) => None,
        Err(error) => return Err(error),
    };
    let diff = current.as_ref().map(|current| diff(current.policy.text(), adopted.policy.text()));
    let against = learn::decisions::read_contradictions(engine, scope, &adopted.policy).await?;
    engine
        .command(caller, idempotency, move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(work.now));
            let before = current.as_ref().map(|current| current.policy.version().to_owned()).or(state.own.clone());
            let moved = current.as_ref().is_some_and(|current| current.state.revision != state.revision);
            if moved || (adopted.base.is_some() && adopted.base != before) {
                return Err(Refusal::PolicyMoved { current: before.unwrap_or_default() }.into());
            }
            if let Some(current) = &current {
                keep_replaced_policy(work, &scope, current)?;
            }
            let NewPolicy { policy, source, reason, .. } = &adopted;
            let version = policy.version().to_owned();
            let kept = PolicyVersion {
                version: version.clone(),
                text: policy.text().to_owned(),
                source: *source,
                by: work.by().clone(),
                at: work.now,
                before: before.clone(),
            };
            put_in_force(work, &scope, &kept, reason.clone())?;
            let own = (*source == PolicySource::Project).then(|| version.clone());
            let vetted = (own.is_none() && against.is_some()).then(|| version.clone());
            let adoption = Adoption { own, version, before, reason: reason.clone(), source: None, vetted };
            // Suspensions stay, even if the suspended rule is absent from the policy for some time.
            let (state, audit_draft) = state.adopt(adoption, work.by().clone(), work.now);
            work.tx.policy_save(&scope, &state)?;
            work.append_audit(&scope, &audit_draft.with_diff(diff.as_deref()))?;
            policy::enforce_earlier_decisions(work, &scope, (policy, adopted.suggested.as_ref()), against.as_ref())
        })
        .await?;
    policy::in_force::load(engine, caller.scope).await
}

/// Policy to put in force.
pub(crate) struct NewPolicy {
    pub(crate) policy: Arc<Policy>,
    source: PolicySource,
    base: Option<String>,
    reason: Option<String>,
    /// Name of the suggested rule that the policy adds. The policy is refused if a decision contradicts this rule.
    pub(crate) suggested: Option<String>,
}

impl NewPolicy {
    /// Creates a policy of the project's own, which replaces the version `base`.
    pub(crate) fn of_project(policy: Policy, (base, reason): (Option<String>, Option<String>)) -> Self {
        Self { policy: Arc::new(policy), source: PolicySource::Project, base, reason, suggested: None }
    }

    /// Names the suggested rule that the policy adds.
    pub(crate) fn suggested(self, rule: String) -> Self {
        Self { suggested: Some(rule), ..self }
    }
}

/// Stores the text of the policy that is being replaced. The text of the server's policy may not be stored yet, if no call was judged by
/// it.
fn keep_replaced_policy(work: &mut Work<'_>, scope: &Scope, current: &InForce) -> Result<(), Error> {
    if current.source != PolicySource::Project {
        let kept = PolicyVersion {
            version: current.policy.version().to_owned(),
            text: current.policy.text().to_owned(),
            source: current.source,
            by: Actor::system(),
            at: current.since.unwrap_or(work.now),
            before: read_newest_version(work, scope)?,
        };
        record_first_use(work, scope, &kept)?;
    }
    Ok(())
}

/// Stores a policy that is put in force, and adds the change to the policy's history.
pub(crate) fn put_in_force(
    work: &mut Work<'_>,
    scope: &Scope,
    version: &PolicyVersion,
    reason: Option<String>,
) -> Result<(), Error> {
    work.tx.policy_version_insert(scope, version)?;
    Ok(work.tx.policy_change_insert(scope, &version.change(reason))?)
}

/// Stores a policy that is in force without an explicit change, and adds it to the history unless it was stored before.
pub(crate) fn record_first_use(work: &mut Work<'_>, scope: &Scope, version: &PolicyVersion) -> Result<(), Error> {
    if work.tx.policy_version_insert(scope, version)? {
        work.tx.policy_change_insert(scope, &version.change(None))?;
    }
    Ok(())
}

/// Newest version in the policy's history.
pub(crate) fn read_newest_version(work: &mut Work<'_>, scope: &Scope) -> Result<Option<String>, Error> {
    let newest = work.tx.policy_changes(scope, None, Page { after: None, limit: 1 })?;
    Ok(newest.into_iter().next().map(|known| known.change.version))
}

/// Parses a policy on a blocking thread, and refuses a policy with errors.
pub(crate) async fn parse_policy(file: &str, text: String) -> Result<Policy, Error> {
    let file = file.to_owned();
    run::heavy_work::off_reactor(move || parse_policy_here(&file, &text)).await?
}

/// Parses a policy on the current thread, which may take long, and refuses a policy with errors.
pub(crate) fn parse_policy_here(file: &str, text: &str) -> Result<Policy, Error> {
    load_policy(file, text).map_err(|findings| {
        let problem = |finding: &Finding| Problem::new("/text", finding.to_string());
        Error::PolicyInvalid(findings.iter().map(problem).collect())
    })
}

/// Refuses an empty or malformed reason.
pub(crate) fn check_reason(reason: Option<&str>) -> Result<(), Error> {
    let mut problems = Vec::new();
    if let Some(reason) = reason {
        text::check_paragraphs("/reason", reason, &mut problems);
        if reason.trim().is_empty() {
            problems.push(Problem::new("/reason", "must not be empty"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

pub(crate) fn diff(before: &str, after: &str) -> String {
    let mut text = TextDiff::from_lines(before, after).unified_diff().header("before", "after").to_string();
    if text.len() > DIFF_BYTES {
        let end = (0..=DIFF_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n… cut here: the whole texts are kept by version\n");
    }
    text
}
