//! Loads the server's policy and floor files, and records each new version of the server's policy in the audit trail of every project.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use ::policy::{Finding, Policy, Severity};
use domain::{
    Actor, Adoption, AuditDraft, Digest, PolicySource, PolicyState, PolicyVersion, ProjectId, Scope, Timestamp,
};
use forms::Forms;
use uuid::Uuid;

use store::Cost;

use crate::policy;
use crate::policy::project_policy::diff;
use crate::policy::ruling::ServerPolicy;
use crate::run;
use crate::run::transaction::Work;
use crate::secrets::unlock::INSTALLATION;
use crate::{Engine, Error};

/// Policy file whose content is not in force.
#[derive(Debug, Clone)]
pub struct RefusedFile {
    /// Time at which the file was refused.
    pub at: Timestamp,
    /// Errors in the file, or the reason why it could not be read.
    pub findings: Vec<Finding>,
    /// Whether the file could not be read or applied and is tried again. Its content may be correct.
    pub retried: bool,
    /// Version that is in force instead.
    pub in_force: Option<String>,
}

/// Reason why a policy file is not in force.
#[derive(Debug, Clone)]
pub enum FileRefusal {
    /// The file has errors. Reading it again changes nothing.
    Refused(Vec<Finding>),
    /// The file could not be read or put in force, and has to be tried again.
    NotYet(Vec<Finding>),
}

impl FileRefusal {
    /// Findings about the file.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Refused(findings) | Self::NotYet(findings) => findings,
        }
    }
}

/// Policy file of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerFile {
    /// Policy for projects without a policy of their own.
    Policy,
    /// Floor under the policy of every project.
    Floor,
}

impl ServerFile {
    /// Name of the metric that shows whether the file is refused.
    pub(crate) const fn refused_metric(self) -> &'static str {
        match self {
            Self::Policy => "flow_policy_file_refused",
            Self::Floor => "flow_policy_floor_refused",
        }
    }
}

/// Scope under which the store records the server's policy. It belongs to no project.
pub(crate) const NOWHERE: Scope = Scope { tenant: INSTALLATION, project: ProjectId::from_uuid(Uuid::nil()) };

/// Parses a policy, and checks that the schemas of its tools can be compiled.
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

/// Parses the floor of a server.
pub fn load_floor(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    let floor = Policy::load_floor(file, text)?;
    let findings: Vec<Finding> = misnamed(file, &floor).collect();
    if findings.is_empty() { Ok(floor) } else { Err(findings) }
}

/// Findings about rules that have the name of a learnt rule but other content.
fn misnamed<'p>(file: &'p str, policy: &'p Policy) -> impl Iterator<Item = Finding> + 'p {
    policy.misnamed().map(|rule| Finding {
        file: file.to_owned(),
        line: rule.line,
        column: 1,
        code: "reserved_name",
        severity: Severity::Error,
        message: format!(
            "`{}` is the name of a learnt rule with other content: give this rule another name",
            rule.name
        ),
    })
}

/// Whether the database records this version as the server's policy: an earlier version of this program put it in force.
async fn is_recorded(engine: &Engine, version: &str) -> Result<bool, Error> {
    let states = engine.read(Cost::Point, |reads| Ok(reads.policy_states(&[NOWHERE])?)).await?;
    let served = states.into_iter().next().flatten().and_then(|state| state.own);
    Ok(served.as_deref() == Some(version))
}

/// Loads a file that is in force already, although this version of the program refuses some of its rules: these rules allow nothing.
fn load_recorded((file, text): (&str, &str), recorded: bool, findings: Vec<Finding>) -> Result<Policy, Vec<Finding>> {
    if recorded { Policy::load_stored(file, text).map_err(|_| findings) } else { Err(findings) }
}

impl Engine {
    /// Puts the content of the server's policy file in force. A file with errors leaves the previous policy in force and is reported in
    /// the log, in a metric and with the policy.
    pub async fn policy_load(&self, name: String, text: String) -> Result<(), FileRefusal> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let ServerPolicy { policy: before, source, .. } = self.policies.server();
        if source == PolicySource::File && before.version() == digest {
            self.policies.accept(ServerFile::Policy);
            return Ok(());
        }
        let file = name.clone();
        let recorded = match is_recorded(self, &digest).await {
            Ok(recorded) => recorded,
            Err(error) => return Err(report_postponed(self, ServerFile::Policy, &file, &error)),
        };
        let load =
            move || load_policy(&name, &text).or_else(|findings| load_recorded((&name, &text), recorded, findings));
        let policy = match run::heavy_work::off_reactor(load).await {
            Ok(Ok(policy)) => Arc::new(policy),
            Ok(Err(findings)) => return Err(report_refused(self, ServerFile::Policy, findings)),
            Err(error) => return Err(report_postponed(self, ServerFile::Policy, &file, &error)),
        };
        policy.warnings().iter().for_each(|finding| tracing::warn!(%finding, "policyWarning"));
        self.policies.follows.store(false, Ordering::Release);
        let put = put_served(self, Arc::clone(&policy), PolicySource::File).await;
        put.map_err(|error| report_postponed(self, ServerFile::Policy, &file, &error))?;
        tracing::info!(version = policy.version(), "policyLoaded");
        Ok(())
    }

    /// Reports a file that is missing or unreadable. The previous version stays in force.
    pub fn report_unreadable_file(&self, part: ServerFile, file: &str, why: String) {
        log_findings(self, part, &[Finding::unreadable(file, why)], true);
    }

    /// Records the server's policy as the one in force. If it differs from the previous one, the change goes to the audit trail of every
    /// project.
    pub async fn policy_record(&self) -> Result<(), Error> {
        let ServerPolicy { policy, source, .. } = self.policies.server();
        put_served(self, policy, source).await
    }
}

/// Reports a file with errors. The previous version stays in force.
pub(crate) fn report_refused(engine: &Engine, part: ServerFile, findings: Vec<Finding>) -> FileRefusal {
    log_findings(engine, part, &findings, false);
    FileRefusal::Refused(findings)
}

/// Reports a file that could not be checked or put in force. The previous version stays in force until a later attempt succeeds.
pub(crate) fn report_postponed(engine: &Engine, part: ServerFile, file: &str, error: &Error) -> FileRefusal {
    let findings = vec![Finding::unreadable(file, format!("the file could not be put in force yet: {error}"))];
    log_findings(engine, part, &findings, true);
    FileRefusal::NotYet(findings)
}

fn log_findings(engine: &Engine, part: ServerFile, findings: &[Finding], retried: bool) {
    let in_force = match part {
        ServerFile::Policy => Some(engine.policies.server().policy),
        ServerFile::Floor => engine.policies.floor_here(),
    };
    let in_force = in_force.map(|policy| policy.version().to_owned());
    let file = RefusedFile { at: engine.now(), findings: findings.to_vec(), retried, in_force: in_force.clone() };
    // The file is tried every second, but only new findings are logged.
    if engine.policies.refuse(part, file) {
        for finding in findings {
            tracing::error!(%finding, retried, in_force, "policyRefused");
        }
    }
}

/// Puts a policy in force as the server's: first in the store for every node, then in this process. A process beside the servers
/// records nothing, because it must have their policy.
async fn put_served(engine: &Engine, policy: Arc<Policy>, source: PolicySource) -> Result<(), Error> {
    if engine.policies.is_beside_servers() {
        engine.policies.replace(policy, source);
        return Ok(());
    }
    let since = record_served(engine, Arc::clone(&policy), source).await?;
    let version = policy.version().to_owned();
    engine.policies.replace(policy, source);
    engine.policies.set_since(&version, since);
    Ok(())
}

/// Records the server's policy, and returns the time since which it is in force.
async fn record_served(engine: &Engine, policy: Arc<Policy>, source: PolicySource) -> Result<Timestamp, Error> {
    engine
        .transact_again(move |work| {
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
            work.tx.policy_version_insert(&NOWHERE, &version)?;
            let adoption = Adoption {
                own: Some(version.version.clone()),
                version: version.version.clone(),
                before: version.before.clone(),
                reason: None,
                source: Some(source),
                vetted: None,
            };
            let (state, audit_draft) = state.adopt(adoption, Actor::system(), work.now);
            work.tx.policy_save(&NOWHERE, &state)?;
            // The first record of the built-in policy is not a change.
            if !(first && source == PolicySource::Builtin) {
                let diff = before.as_ref().map(|before| diff(&before.text, &version.text));
                record_served_policy(work, &audit_draft.with_diff(diff.as_deref()), before, &version)?;
            }
            Ok(work.now)
        })
        .await
}

/// Tells every project that the server's policy has changed. Projects without a policy of their own store both texts, because both were
/// in force there.
fn record_served_policy(
    work: &mut Work<'_>,
    audit_draft: &AuditDraft,
    before: Option<PolicyVersion>,
    now: &PolicyVersion,
) -> Result<(), Error> {
    for scope in work.tx.scopes()? {
        work.append_audit(&scope, audit_draft)?;
        if work.tx.policy_state(&scope)?.is_some_and(|state| state.own.is_some()) {
            continue;
        }
        // A call in this project may have been judged by the new policy already, which stored it.
        if policy::read_newest_version(work, &scope)?.as_deref() == Some(&now.version) {
            continue;
        }
        if let Some(before) = &before {
            policy::record_first_use(work, &scope, before)?;
        }
        policy::put_in_force(work, &scope, now, None)?;
    }
    Ok(())
}
