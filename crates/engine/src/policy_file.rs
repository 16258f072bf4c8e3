//! The server's own policy: read from its file, followed, and put on the trail of everybody whom it concerns.

use std::sync::Arc;

use domain::{Actor, Digest, Happening, PolicySource, PolicyState, PolicyVersion, ProjectId, Scope, Timestamp};
use forms::Forms;
use policy::{Finding, Policy, Severity};
use serde_json::json;
use uuid::Uuid;

use crate::forms_check::off_reactor;
use crate::policy_admin::diff;
use crate::unlock::INSTALLATION;
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
const NOWHERE: Scope = Scope { tenant: INSTALLATION, project: ProjectId::from_uuid(Uuid::nil()) };

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
    let findings: Vec<Finding> = unusable.collect();
    if findings.is_empty() { Ok(policy) } else { Err(findings) }
}

impl Engine {
    /// Takes the server's policy file as it is now. A bad one leaves the one before in force, and is told everywhere.
    pub async fn policy_file(&self, name: String, text: String) -> Result<(), Vec<Finding>> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let (before, source) = self.policies.server();
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
        let (policy, source) = self.policies.server();
        if let Err(error) = self.note(policy, source).await {
            tracing::error!(%error, "the change of the server's policy is not on the audit trail");
        }
    }

    async fn note(&self, policy: Arc<Policy>, source: PolicySource) -> Result<(), Error> {
        self.transact(move |work| {
            let state = work.tx.policy_state(&NOWHERE)?;
            let first = state.is_none();
            let state = state.unwrap_or(PolicyState::initial(work.now));
            if state.own.as_deref() == Some(policy.version()) {
                return Ok(());
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
            let (state, _) = state.adopt(Some(version.version.clone()), Actor::system(), None, work.now);
            work.tx.policy_save(&NOWHERE, &state)?;
            if first && source == PolicySource::Builtin {
                // Nothing was different before.
                return Ok(());
            }
            let data = json!({ "version": version.version, "before": version.before, "source": source });
            let diff = before.map(|before| diff(&before.text, &version.text));
            let happening = Happening::by("policy.changed", &Actor::system(), data).recording(json!({ "diff": diff }));
            for scope in work.tx.scopes()? {
                work.audited(&scope, &happening)?;
            }
            Ok(())
        })
        .await
    }
}
