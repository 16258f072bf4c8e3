//! Policy floor of the servers: rules for every project that no project can loosen.
//!
//! The operator of the server writes the floor as a policy file (`--policy-floor`). A denial or a question by the floor holds even if the
//! project's policy, a grant or a pause of approvals would allow the call. The store records the version in force, as it does for the
//! server's policy.

use std::sync::Arc;

use ::policy::{AskTerms, Finding, Policy};
use domain::{
    Action, Actor, Digest, PolicySource, PolicyState, PolicyVersion, ProjectId, Refusal, Resolution, Scope, Session,
    State, Timestamp,
};
use store::Cost;
use uuid::Uuid;

use crate::policy;
use crate::policy::project_policy::diff;
use crate::policy::ruling::{Judged, Policies, report_version};
use crate::policy::server_file::{FileRefusal, RefusedFile, ServerFile, load_floor};
use crate::run;
use crate::run::transaction::Work;
use crate::secrets::unlock::INSTALLATION;
use crate::{Engine, Error};

/// Scope under which the store records the floor: beside the server's own policy, in no project.
pub(crate) const FLOOR: Scope = Scope { tenant: INSTALLATION, project: ProjectId::from_uuid(Uuid::from_u128(1)) };
/// File name in the findings about a floor that was read from the store.
const NAME: &str = "floor.toml";

/// Floor of this process.
#[derive(Default)]
pub(crate) struct Floor {
    pub(super) policy: Option<Arc<Policy>>,
    /// Whether this process was given its floor. Otherwise it follows the floor that the store records.
    given: bool,
    /// Floor file that was refused or could not be read yet.
    pub(crate) refused: Option<RefusedFile>,
}

impl Floor {
    /// Whether this process follows the floor that the store records.
    pub(crate) fn is_followed(&self) -> bool {
        !self.given
    }
}

impl Policies {
    fn floor_replace(&self, policy: Option<Arc<Policy>>, given: bool) {
        let now = policy.as_ref().map(|policy| policy.version().to_owned());
        let mut floor = self.floor.write();
        let before = floor.policy.take().map(|policy| policy.version().to_owned());
        (floor.policy, floor.given) = (policy, given);
        drop(floor);
        report_version("floor", before.as_deref().filter(|before| Some(*before) != now.as_deref()), now.as_deref());
        self.accept(ServerFile::Floor);
    }
}

impl Engine {
    /// Puts the content of the floor file in force. A file with errors leaves the previous floor in force and is reported in the log, in
    /// a metric and with the policy.
    pub async fn floor_load(&self, name: String, text: String) -> Result<(), FileRefusal> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let given = self.policies.floor.read().given;
        if given && self.policies.floor_here().is_some_and(|floor| floor.version() == digest) {
            self.policies.accept(ServerFile::Floor);
            return Ok(());
        }
        let file = name.clone();
        let floor = match run::heavy_work::off_reactor(move || load_floor(&name, &text)).await {
            Ok(Ok(floor)) => Arc::new(floor),
            Ok(Err(findings)) => return Err(policy::server_file::report_refused(self, ServerFile::Floor, findings)),
            Err(error) => return Err(policy::server_file::report_postponed(self, ServerFile::Floor, &file, &error)),
        };
        floor.warnings().iter().for_each(|finding| tracing::warn!(%finding, "floorWarning"));
        let version = floor.version().to_owned();
        put_floor(self, Some(floor))
            .await
            .map_err(|error| policy::server_file::report_postponed(self, ServerFile::Floor, &file, &error))?;
        tracing::info!(version, "floorLoaded");
        Ok(())
    }

    /// Removes the floor from all servers.
    pub async fn floor_remove(&self) -> Result<(), Error> {
        put_floor(self, None).await
    }

    /// Records that there is no floor, unless the store has a record already. Then takes the floor that the store records.
    pub async fn floor_restore(&self) -> Result<(), Error> {
        if !self.policies.is_beside_servers() {
            self.transact_again(|work| {
                // A record is never replaced here: another server that starts at this moment may have written its floor.
                if work.tx.policy_state(&FLOOR)?.is_none() {
                    let (state, _) = PolicyState::initial(work.now).put_floor(None, work.now);
                    work.tx.policy_save(&FLOOR, &state)?;
                }
                Ok(())
            })
            .await?;
        }
        follow_servers(self).await?;
        if let Some(floor) = self.policies.floor_here() {
            tracing::info!(version = floor.version(), "floorFollowed");
        }
        Ok(())
    }
}

async fn put_floor(engine: &Engine, floor: Option<Arc<Policy>>) -> Result<(), Error> {
    // A process beside the servers must have their floor and records none of its own.
    if !engine.policies.is_beside_servers() {
        record_floor(engine, floor.clone()).await?;
    }
    engine.policies.floor_replace(floor, true);
    Ok(())
}

/// Records the floor in force, and appends the change to the audit trail of every project. Returns the time since which the floor is
/// in force.
async fn record_floor(engine: &Engine, floor: Option<Arc<Policy>>) -> Result<Timestamp, Error> {
    engine
        .transact_again(move |work| {
            let known = work.tx.policy_state(&FLOOR)?;
            let first = known.is_none();
            let state = known.unwrap_or(PolicyState::initial(work.now));
            let version = floor.as_ref().map(|floor| floor.version().to_owned());
            if !first && state.own == version {
                return Ok(state.at);
            }
            let before = match &state.own {
                Some(before) => work.tx.policy_version(&FLOOR, before)?.map(|before| before.text),
                None => None,
            };
            if let Some(floor) = &floor {
                let kept = PolicyVersion {
                    version: floor.version().to_owned(),
                    text: floor.text().to_owned(),
                    source: PolicySource::File,
                    by: Actor::system(),
                    at: work.now,
                    before: state.own.clone(),
                };
                work.tx.policy_version_insert(&FLOOR, &kept)?;
            }
            let (state, audit_draft) = state.put_floor(version, work.now);
            work.tx.policy_save(&FLOOR, &state)?;
            if first && floor.is_none() {
                return Ok(work.now);
            }
            let text = floor.as_ref().map_or("", |floor| floor.text());
            let diff = diff(before.as_deref().unwrap_or_default(), text);
            let audit_draft = audit_draft.with_diff(Some(&diff));
            for scope in work.tx.scopes()? {
                work.append_audit(&scope, &audit_draft)?;
            }
            Ok(work.now)
        })
        .await
}

/// Takes the floor that the servers put in force last, unless this process was given its own. Returns whether the floor changed.
pub(crate) async fn follow_servers(engine: &Engine) -> Result<bool, Error> {
    if !engine.policies.floor.read().is_followed() {
        return Ok(false);
    }
    let noted = engine.read(Cost::Point, move |reads| {
        let own = reads.policy_state(&FLOOR)?.and_then(|state| state.own);
        own.map_or(Ok(None), |version| Ok(reads.policy_version(&FLOOR, &version)?))
    });
    let (noted, here) = (noted.await?, engine.policies.floor_here());
    if noted.as_ref().map(|noted| noted.version.as_str()) == here.as_ref().map(|floor| floor.version()) {
        return Ok(false);
    }
    let floor = match noted {
        Some(noted) => Some(Arc::new(readable_floor(noted.text).await?)),
        None => None,
    };
    tracing::info!(version = floor.as_ref().map(|floor| floor.version()), "floorLoaded");
    engine.policies.floor_replace(floor, false);
    Ok(true)
}

/// Reads a floor that was put in force earlier. Rules that this version of the program refuses are kept; if it cannot read the floor at all, this
/// process permits nothing.
async fn readable_floor(text: String) -> Result<Policy, Error> {
    let findings = match run::heavy_work::off_reactor(move || Policy::load_stored_floor(NAME, &text)).await? {
        Ok(floor) => return Ok(floor),
        Err(findings) => findings,
    };
    let problem = |finding: &Finding| domain::Problem::new("/text", finding.to_string());
    Err(Error::PolicyInvalid(findings.iter().map(problem).collect()))
}

/// Refuses to start an action that the floor asks about, unless the audiences of the floor have approved exactly these arguments. A decision by a
/// grant, a program or a deadline is not an approval by an audience.
pub(crate) fn require_floor_approval(
    work: &mut Work<'_>,
    session: &Session,
    action: &Action,
    judged: &Judged,
) -> Result<(), Error> {
    if !judged.ruling.floor_asks() {
        return Ok(());
    }
    let asked = match action.asked.last() {
        Some(asked) => work.tx.interaction(&session.scope, *asked)?,
        None => None,
    };
    let answered = asked.is_some_and(|asked| match &asked.state {
        State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } => {
            let agreeing: Vec<_> = if votes.is_empty() {
                vec![answer]
            } else {
                votes.iter().filter(|vote| vote.agrees_with(answer)).collect()
            };
            let enough = |ask: &AskTerms| {
                ask.audiences.iter().all(|audience| audience.settled_by(&agreeing, &asked.origin.started_by))
            };
            judged.floor_ask.as_ref().is_some_and(enough)
        }
        State::Resolved { .. } | State::Pending(_) => false,
    });
    if answered { Ok(()) } else { Err(Refusal::NowAsked(Box::new(judged.ruling.clone())).into()) }
}
