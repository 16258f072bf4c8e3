//! The server's own policy: read from its file, followed, and put on the trail of everybody whom it concerns.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::{
    Actor, Adoption, Digest, EventDraft, PolicySource, PolicyState, PolicyVersion, ProjectId, Scope, Timestamp,
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

/// A policy file that is not in force as it is, and since when.
#[derive(Debug, Clone)]
pub struct RefusedFile {
    /// Since when.
    pub at: Timestamp,
    /// What is wrong with it, or why it could not be read.
    pub findings: Vec<Finding>,
    /// Whether the file itself may be good: it could not be looked at, and that is tried again until it succeeds.
    pub retried: bool,
    /// The version that is in force meanwhile.
    pub in_force: Option<String>,
}

/// Why a policy file is not in force.
#[derive(Debug, Clone)]
pub enum Unread {
    /// The file itself is wrong. Reading it again changes nothing.
    Refused(Vec<Finding>),
    /// The file could not be looked at, or not be put in force. It has to be tried again.
    NotYet(Vec<Finding>),
}

impl Unread {
    /// What there is to say about it.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Refused(findings) | Self::NotYet(findings) => findings,
        }
    }
}

/// Which of the server's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The policy of projects that have none of their own.
    Policy,
    /// The floor under the policy of every project.
    Floor,
}

impl Part {
    /// The figure that says whether the file is refused.
    pub(crate) const fn refused_figure(self) -> &'static str {
        match self {
            Self::Policy => "flow_policy_file_refused",
            Self::Floor => "flow_policy_floor_refused",
        }
    }
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
    let findings: Vec<Finding> = unusable.chain(misnamed(file, &policy)).collect();
    if findings.is_empty() { Ok(policy) } else { Err(findings) }
}

/// Reads the floor of a server.
pub fn load_floor(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    let floor = Policy::load_floor(file, text)?;
    let findings: Vec<Finding> = misnamed(file, &floor).collect();
    if findings.is_empty() { Ok(floor) } else { Err(findings) }
}

/// The rules that have the name of a learnt rule and say something else.
fn misnamed<'p>(file: &'p str, policy: &'p Policy) -> impl Iterator<Item = Finding> + 'p {
    policy.misnamed().map(|rule| Finding {
        file: file.to_owned(),
        line: rule.line,
        column: 1,
        code: "reserved_name",
        severity: Severity::Error,
        message: format!(
            "`{}` is the name of a rule that was learnt, and this one says something else: give it another name",
            rule.name
        ),
    })
}

impl Engine {
    /// Takes the server's policy file as it is now. A bad one leaves the one before in force, and is told everywhere.
    pub async fn policy_file(&self, name: String, text: String) -> Result<(), Unread> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let Served { policy: before, source, .. } = self.policies.server();
        if source == PolicySource::File && before.version() == digest {
            self.policies.accept(Part::Policy);
            return Ok(());
        }
        let file = name.clone();
        let policy = match off_reactor(move || load_policy(&name, &text)).await {
            Ok(Ok(policy)) => Arc::new(policy),
            Ok(Err(findings)) => return Err(self.file_refused(Part::Policy, findings)),
            Err(error) => return Err(self.file_not_yet(Part::Policy, &file, &error)),
        };
        policy.warnings().iter().for_each(|finding| tracing::warn!(%finding, "policyWarning"));
        self.policies.follows.store(false, Ordering::Release);
        let put = self.served_put(Arc::clone(&policy), PolicySource::File).await;
        put.map_err(|error| self.file_not_yet(Part::Policy, &file, &error))?;
        tracing::info!(version = policy.version(), "policyLoaded");
        Ok(())
    }

    /// There is something wrong with a file: the one before stays in force.
    pub(crate) fn file_refused(&self, part: Part, findings: Vec<Finding>) -> Unread {
        self.file_told(part, &findings, false);
        Unread::Refused(findings)
    }

    /// A file could not be looked at, or its content not be put in force: the one before stays in force until that has succeeded.
    pub(crate) fn file_not_yet(&self, part: Part, file: &str, error: &Error) -> Unread {
        let findings = vec![Finding::unreadable(file, format!("the file could not be put in force yet: {error}"))];
        self.file_told(part, &findings, true);
        Unread::NotYet(findings)
    }

    /// A file is gone, or cannot be read: the one before stays in force.
    pub fn file_unreadable(&self, part: Part, file: &str, why: String) {
        self.file_told(part, &[Finding::unreadable(file, why)], true);
    }

    fn file_told(&self, part: Part, findings: &[Finding], retried: bool) {
        let in_force = match part {
            Part::Policy => Some(self.policies.server().policy),
            Part::Floor => self.policies.floor_here(),
        };
        let in_force = in_force.map(|policy| policy.version().to_owned());
        let file = RefusedFile { at: self.now(), findings: findings.to_vec(), retried, in_force: in_force.clone() };
        // What is tried every second is not told every second.
        if self.policies.refuse(part, file) {
            for finding in findings {
                tracing::error!(%finding, retried, in_force, "policyRefused");
            }
        }
    }

    /// Puts the server's policy on record as the one in force, and on the trail of every project that it is another one than before, if it is.
    pub async fn policy_noted(&self) -> Result<(), Error> {
        let Served { policy, source, .. } = self.policies.server();
        self.served_put(policy, source).await
    }

    /// Puts a policy in force as the server's own: on record for every node, and then in this process. A process beside the servers puts nothing on
    /// record: it has to have what they have.
    async fn served_put(&self, policy: Arc<Policy>, source: PolicySource) -> Result<(), Error> {
        if self.policies.beside() {
            self.policies.replace(policy, source);
            return Ok(());
        }
        let since = self.note(Arc::clone(&policy), source).await?;
        let version = policy.version().to_owned();
        self.policies.replace(policy, source);
        self.policies.dated(&version, since);
        Ok(())
    }

    /// Gives since when it is the server's.
    async fn note(&self, policy: Arc<Policy>, source: PolicySource) -> Result<Timestamp, Error> {
        self.transact_again(move |work| {
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
        happening: &EventDraft,
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
