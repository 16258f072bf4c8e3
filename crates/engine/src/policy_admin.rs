//! The policy of a project: shown, checked, explained, changed, switched off and on.

use std::sync::Arc;

use domain::access::Right;
use domain::{Caller, Digest, PolicySource, PolicyState, PolicyVersion, Problem, Refusal, Role, Timestamp, text};
use policy::{Call, Explanation, Finding, Policy};
use serde_json::Value;
use similar::TextDiff;
use store::Cost;

use crate::forms_check::off_reactor;
use crate::judge::{InForce, switched};
use crate::{Engine, Error, Idempotency};

/// The name that a policy without a file goes by in its findings.
const NAME: &str = "policy.toml";
/// How much of a diff the record keeps.
const DIFF_BYTES: usize = 64 * 1024;

/// A policy file that was refused, and since when.
#[derive(Debug, Clone)]
pub struct RefusedFile {
    /// Since when.
    pub at: Timestamp,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// A call that somebody wants explained.
#[derive(Debug, Clone)]
pub struct Supposed {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// The agent's name.
    pub agent: Option<String>,
    /// Who would have started the session; the caller if none.
    pub user: Option<String>,
    /// The role of the key that would propose; an agent's if none.
    pub role: Option<Role>,
    /// A policy to try in place of the one in force.
    pub draft: Option<String>,
}

impl Engine {
    /// The policy in force, and the server's policy file if it was refused.
    pub async fn policy(&self, caller: &Caller) -> Result<(InForce, Option<RefusedFile>), Error> {
        caller.require(Right::Read)?;
        Ok((self.in_force(caller.scope).await?, self.policies.refused()))
    }

    /// The policies that were in force in the project, the newest first.
    pub async fn policy_versions(&self, caller: &Caller, limit: u32) -> Result<Vec<PolicyVersion>, Error> {
        caller.require(Right::Read)?;
        let scope = caller.scope;
        self.read(Cost::Scan, move |reads| Ok(reads.policy_versions(&scope, limit)?)).await
    }

    /// What there is to say about a policy, without putting it in force.
    pub async fn policy_check(&self, caller: &Caller, text: String) -> Result<Vec<Finding>, Error> {
        caller.require(Right::Read)?;
        match off_reactor(move || Policy::load(NAME, &text)).await? {
            Ok(policy) => Ok(policy.warnings().to_vec()),
            Err(findings) => Ok(findings),
        }
    }

    /// How a call would be ruled on, rule by rule.
    pub async fn policy_explain(&self, caller: &Caller, supposed: Supposed) -> Result<Explanation, Error> {
        caller.require(Right::Read)?;
        let mut problems = Vec::new();
        domain::proposal::check_arguments("/arguments", &supposed.arguments, &mut problems);
        if !problems.is_empty() {
            return Err(Refusal::QuestionInvalid(problems).into());
        }
        let (policy, state) = match supposed.draft.clone() {
            None => {
                let InForce { policy, state, .. } = self.in_force(caller.scope).await?;
                (policy, Some(state))
            }
            Some(text) => (Arc::new(loaded(text).await?), None),
        };
        let user = supposed.user.clone().unwrap_or_else(|| caller.actor.name.clone());
        off_reactor(move || {
            let mut explanation = policy.explain(&Call {
                tool: &supposed.tool,
                arguments: &supposed.arguments,
                agent: supposed.agent.as_deref(),
                user: &user,
                role: supposed.role.unwrap_or(Role::Agent),
            });
            if let Some(state) = state {
                explanation.ruling = switched(explanation.ruling, &state);
            }
            explanation
        })
        .await
    }

    /// Puts the project's own policy in force, if it is a good one and `base` is still the one that it replaces.
    pub async fn policy_put(
        &self,
        caller: &Caller,
        text: String,
        (base, reason): (Option<String>, Option<String>),
        once: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(reason.as_deref())?;
        let policy = loaded(text.clone()).await?;
        self.check_schemas(&policy).await?;
        let before = self.in_force(caller.scope).await?;
        let version = policy.version().to_owned();
        let adopted = Adopted { version, text, base, reason };
        self.adopt(caller, before, Some(adopted), once).await
    }

    /// Puts the server's policy in force again.
    pub async fn policy_reset(&self, caller: &Caller, once: Option<Idempotency>) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        let before = self.in_force(caller.scope).await?;
        self.adopt(caller, before, None, once).await
    }

    async fn adopt(
        &self,
        caller: &Caller,
        before: InForce,
        adopted: Option<Adopted>,
        once: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        let (scope, by) = (caller.scope, caller.actor.clone());
        let (server, _) = self.policies.server();
        let after = adopted.as_ref().map_or_else(|| server.text().to_owned(), |adopted| adopted.text.clone());
        let diff = diff(before.policy.text(), &after);
        self.command(caller, once, move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(work.now));
            let moved = state.revision != before.state.revision;
            let current = before.policy.version();
            if moved || adopted.as_ref().and_then(|it| it.base.as_deref()).is_some_and(|base| base != current) {
                return Err(Refusal::PolicyMoved { current: current.to_owned() }.into());
            }
            if let Some(Adopted { version, text, .. }) = &adopted {
                let version = PolicyVersion {
                    version: version.clone(),
                    text: text.clone(),
                    source: PolicySource::Project,
                    by: by.clone(),
                    at: work.now,
                    before: Some(current.to_owned()),
                };
                work.tx.policy_keep(&scope, &version)?;
            }
            let own = adopted.as_ref().map(|adopted| adopted.version.clone());
            let reason = adopted.as_ref().and_then(|adopted| adopted.reason.clone());
            let (state, mut happening) = state.adopt(own, by.clone(), reason, work.now);
            happening.data["diff"] = Value::String(diff.clone());
            work.tx.policy_save(&scope, &state)?;
            work.audited(&scope, &happening)?;
            Ok(())
        })
        .await?;
        self.in_force(caller.scope).await
    }

    /// Switches the policy on or off. Off means that nobody is asked; what it denies stays denied.
    pub async fn policy_switch(
        &self,
        caller: &Caller,
        enabled: bool,
        reason: String,
        once: Option<Idempotency>,
    ) -> Result<InForce, Error> {
        caller.require(Right::ManagePolicy)?;
        explained(Some(&reason))?;
        let (scope, by) = (caller.scope, caller.actor.clone());
        self.command(caller, once, move |work| {
            let state = work.tx.policy_state(&scope)?.unwrap_or(PolicyState::initial(work.now));
            if state.enabled == enabled {
                return Ok(());
            }
            let (state, happening) = state.switch(enabled, by.clone(), reason.clone(), work.now);
            work.tx.policy_save(&scope, &state)?;
            work.audited(&scope, &happening)?;
            Ok(())
        })
        .await?;
        self.in_force(caller.scope).await
    }

    /// Takes the server's policy file as it is now. A bad one leaves the one before in force, and is told everywhere.
    pub async fn policy_file(&self, name: String, text: String) -> Result<(), Vec<Finding>> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        if self.policies.server().0.version() == digest {
            self.policies.accept();
            return Ok(());
        }
        let loaded = off_reactor(move || Policy::load(&name, &text)).await;
        match loaded {
            Ok(Ok(policy)) => {
                tracing::info!(version = policy.version(), "policyLoaded");
                policy.warnings().iter().for_each(|finding| tracing::warn!(%finding, "policyWarning"));
                self.policies.replace(Arc::new(policy), PolicySource::File);
                Ok(())
            }
            Ok(Err(findings)) => {
                findings.iter().for_each(|finding| tracing::error!(%finding, "policyRefused"));
                self.policies.refuse(RefusedFile { at: self.now(), findings: findings.clone() });
                Err(findings)
            }
            Err(error) => {
                tracing::error!(%error, "the policy file could not be looked at");
                Ok(())
            }
        }
    }

    /// The server's policy file is gone, or cannot be read: the one before stays in force.
    pub fn policy_unreadable(&self, file: &str, why: String) {
        let finding = Finding::unreadable(file, why);
        tracing::error!(%finding, "policyRefused");
        self.policies.refuse(RefusedFile { at: self.now(), findings: vec![finding] });
    }

    /// Refuses a policy that declares a schema which no arguments could be held against.
    async fn check_schemas(&self, policy: &Policy) -> Result<(), Error> {
        for (tool, schema) in policy.schemas() {
            let forms = Arc::clone(&self.forms);
            let schema = schema.clone();
            if let Err(error) = off_reactor(move || forms.admit(&schema)).await? {
                let message = format!("the schema of {tool}{}: {}", error.pointer, error.reason);
                return Err(Error::PolicyInvalid(vec![Problem::new("/text", message)]));
            }
        }
        Ok(())
    }
}

/// A text that is to be put in force.
struct Adopted {
    version: String,
    text: String,
    base: Option<String>,
    reason: Option<String>,
}

async fn loaded(text: String) -> Result<Policy, Error> {
    off_reactor(move || Policy::load(NAME, &text)).await?.map_err(|findings| {
        let problem = |finding: &Finding| Problem::new("/text", finding.to_string());
        Error::PolicyInvalid(findings.iter().map(problem).collect())
    })
}

fn explained(reason: Option<&str>) -> Result<(), Error> {
    let mut problems = Vec::new();
    if let Some(reason) = reason {
        text::paragraphs("/reason", reason, &mut problems);
        if reason.trim().is_empty() {
            problems.push(Problem::new("/reason", "must not be empty"));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Refusal::QuestionInvalid(problems).into()) }
}

fn diff(before: &str, after: &str) -> String {
    let mut text = TextDiff::from_lines(before, after).unified_diff().header("before", "after").to_string();
    if text.len() > DIFF_BYTES {
        let end = (0..=DIFF_BYTES).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n… cut here: the whole texts are kept by version\n");
    }
    text
}
