//! The server's own policy: read from its file, followed, and put on the trail of everybody whom it concerns.

use std::sync::Arc;

use domain::{
    Actor, Adoption, Digest, Happening, PolicySource, PolicyState, PolicyVersion, ProjectId, Scope, Timestamp,
};
use forms::Forms;
use policy::{Finding, Policy, Severity};
use serde_json::json;
use uuid::Uuid;

use crate::forms_check::off_reactor;
use crate::judge::Served;
use crate::policy_admin::diff;
use crate::unlock::INSTALLATION;
use crate::work::Work;
use crate::{Engine, Error};

/// A policy file that was refused, and since when.
#[derive(Debug, Clone)]
pub struct RefusedFile {
    /// Since when.
    pub at: Timestamp,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// Where the server's own policy is kept beside those of projects: in nobody's.
pub(crate) const NOWHERE: Scope = Scope { tenant: INSTALLATION, project: ProjectId::from_uuid(Uuid::nil()) };

/// Reads a policy whose schemas can be used too.
pub fn load_policy(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    let policy = Policy::load(file, text)?;
    let forms = Forms::default();
    let unusable = policy.schemas().filter_map(|(tool, schema)| {
        let error = forms.admit(schema).err()?;
        let place = text.find(&format!("\"{tool}\"")).unwrap_or(0);
        Some(Finding {
            file: file.to_owned(),
            line: text[..place].matches('\n').count() + 1,
            column: 1,
            code: "unusable_schema",
            severity: Severity::Error,
            message: format!("the schema of `{tool}`{}: {}", error.pointer, error.reason),
        })
    });
    let misnamed = policy.misnamed().map(|rule| Finding {
        file: file.to_owned(),
        line: rule.line,
        column: 1,
        code: "reserved_name",
        severity: Severity::Error,
        message: format!(
            "`{}` is the name of a rule that was learnt, and this one says something else: give it another name",
            rule.name
        ),
    });
    let findings: Vec<Finding> = unusable.chain(misnamed).collect();
    if findings.is_empty() { Ok(policy) } else { Err(findings) }
}

impl Engine {
    /// Takes the server's policy file as it is now. A bad one leaves the one before in force, and is told everywhere.
    pub async fn policy_file(&self, name: String, text: String) -> Result<(), Vec<Finding>> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let Served { policy: before, source, .. } = self.policies.server();
        if source == PolicySource::File && before.version() == digest {
            self.policies.accept();
            return Ok(());
        }
        let file = name.clone();
        match off_reactor(move || load_policy(&name, &text)).await {
            Ok(Ok(policy)) => {
                tracing::info!(version = policy.version(), "policyLoaded");
                policy.warnings().iter().for_each(|finding| tracing::warn!(%finding, "policyWarning"));
                self.policies.replace(Arc::new(policy), PolicySource::File);
                self.policy_noted().await;
                Ok(())
            }
            Ok(Err(findings)) => {
                findings.iter().for_each(|finding| tracing::error!(%finding, "policyRefused"));
                self.policies.refuse(RefusedFile { at: self.now(), findings: findings.clone() });
                Err(findings)
            }
            // A file that takes too long is no better than a bad one: a start must not go on without it.
            Err(error) => Err(self.policy_unreadable(&file, format!("the file could not be looked at: {error}"))),
        }
    }

    /// The server's policy file is gone, or cannot be read: the one before stays in force.
    pub fn policy_unreadable(&self, file: &str, why: String) -> Vec<Finding> {
        let findings = vec![Finding::unreadable(file, why)];
        findings.iter().for_each(|finding| tracing::error!(%finding, "policyRefused"));
        self.policies.refuse(RefusedFile { at: self.now(), findings: findings.clone() });
        findings
    }

    /// Puts on the trail of every project that the server's policy is another one than before, if it is.
    pub async fn policy_noted(&self) {
        if self.policies.beside() {
            return;
        }
        let Served { policy, source, .. } = self.policies.server();
        match self.note(Arc::clone(&policy), source).await {
            Ok(since) => self.policies.dated(policy.version(), since),
            Err(error) => tracing::error!(%error, "the change of the server's policy is not on the audit trail"),
        }
    }

    /// Gives since when it is the server's.
    async fn note(&self, policy: Arc<Policy>, source: PolicySource) -> Result<Timestamp, Error> {
        self.transact(move |work| {
            let state = work.tx.policy_state(&NOWHERE)?;
            let first = state.is_none();
            let state = state.unwrap_or(PolicyState::initial(work.now));
            if state.own.as_deref() == Some(policy.version()) {
                return Ok(state.at);
            }
            let before = match &state.own {
                Some(before) => work.tx.policy_version(&NOWHERE, before)?,
                None => None,
            };
            let version = PolicyVersion {
                version: policy.version().to_owned(),
                text: policy.text().to_owned(),
                source,
                by: Actor::system(),
                at: work.now,
                before: state.own.clone(),
            };
            work.tx.policy_keep(&NOWHERE, &version)?;
            let adoption = Adoption {
                own: Some(version.version.clone()),
                version: version.version.clone(),
                before: version.before.clone(),
                reason: None,
                vetted: None,
            };
            let (state, mut happening) = state.adopt(adoption, Actor::system(), work.now);
            work.tx.policy_save(&NOWHERE, &state)?;
            // Where nothing was different before, there is nothing to tell.
            if !(first && source == PolicySource::Builtin) {
                happening.data["source"] = json!(source);
                happening.record = json!({ "diff": before.as_ref().map(|before| diff(&before.text, &version.text)) });
                work.policy_served(&happening, before, &version)?;
            }
            Ok(work.now)
        })
        .await
    }
}

impl Work<'_> {
    /// Tells every project that the server's policy is another one. Those without their own keep both texts: they were in force there.
    fn policy_served(
        &mut self,
        happening: &Happening,
        before: Option<PolicyVersion>,
        now: &PolicyVersion,
    ) -> Result<(), Error> {
        for scope in self.tx.scopes()? {
            self.audited(&scope, happening)?;
            if self.tx.policy_state(&scope)?.is_some_and(|state| state.own.is_some()) {
                continue;
            }
            // It may have been judged by already.
            if self.policy_newest(&scope)?.as_deref() == Some(&now.version) {
                continue;
            }
            if let Some(before) = &before {
                self.policy_first_known(&scope, before)?;
            }
            self.policy_put_in_force(&scope, now, None)?;
        }
        Ok(())
    }
}
