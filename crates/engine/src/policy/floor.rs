//! The floor of the servers: rules for every project that no project can loosen.
//!
//! It is a policy file of whoever runs the server (`--policy-floor`). What it denies is denied and what it asks is asked, whatever the project's policy, a
//! grant or a switched-off policy would say. The version in force is on record in the store, as that of the server's policy is.

use std::sync::Arc;

use ::policy::{Ask, Asking, Finding, Policy};
use domain::{
    Action, Actor, Digest, FloorRuling, PolicySource, PolicyState, PolicyVersion, ProjectId, Refusal, Resolution,
    Ruling, Scope, Session, State, Timestamp, Verdict,
};
use serde_json::json;
use store::Cost;
use uuid::Uuid;

use crate::interactions::forms_check::off_reactor;
use crate::policy::project_policy::diff;
use crate::policy::ruling::{Judged, Policies, told_in_force};
use crate::policy::server_file::{FileRefusal, RefusedFile, ServerFile, load_floor};
use crate::run::transaction::Work;
use crate::secrets::unlock::INSTALLATION;
use crate::{Engine, Error};

/// Where the record of the floor is kept: beside the server's own policy, in nobody's project.
pub(crate) const FLOOR: Scope = Scope { tenant: INSTALLATION, project: ProjectId::from_uuid(Uuid::from_u128(1)) };
/// The name that a floor out of the store goes by in its findings.
const NAME: &str = "floor.toml";

/// The floor that this process has.
#[derive(Default)]
pub(crate) struct Floor {
    policy: Option<Arc<Policy>>,
    /// Whether it was given to this process. Otherwise the process takes the floor that is on record.
    given: bool,
    /// Its file, where that was refused or could not be read yet.
    pub(crate) refused: Option<RefusedFile>,
}

impl Floor {
    /// Whether this process takes its floor out of the store.
    pub(crate) fn followed(&self) -> bool {
        !self.given
    }
}

impl Policies {
    /// The floor that this process has, where it has one.
    pub(crate) fn floor_here(&self) -> Option<Arc<Policy>> {
        self.floor.read().policy.clone()
    }

    fn floor_replace(&self, policy: Option<Arc<Policy>>, given: bool) {
        let now = policy.as_ref().map(|policy| policy.version().to_owned());
        let mut floor = self.floor.write();
        let before = floor.policy.take().map(|policy| policy.version().to_owned());
        (floor.policy, floor.given) = (policy, given);
        drop(floor);
        told_in_force("floor", before.as_deref().filter(|before| Some(*before) != now.as_deref()), now.as_deref());
        self.accept(ServerFile::Floor);
    }
}

/// A ruling under what the floor said of the same call.
pub(crate) fn floored(ruling: Ruling, floor: Option<Ruling>) -> Ruling {
    match floor {
        Some(Ruling { verdict, rule, reason, policy: version, .. }) => {
            ruling.under_floor(FloorRuling { version, verdict, rule, reason })
        }
        None => ruling,
    }
}

/// Everything that asks about a call on which the policy ruled so: its own part where it asks, then the floor's.
pub(crate) fn asked_by(ruling: &Ruling, policy: Vec<Asking>, floor: Vec<Asking>) -> Vec<Asking> {
    let mut asks = match ruling.verdict {
        // The call does not fit the schema of its tool, and no rule asks.
        Verdict::Ask if policy.is_empty() => vec![Asking::by_default()],
        Verdict::Ask => policy,
        Verdict::Allow | Verdict::Deny => Vec::new(),
    };
    asks.extend(floor);
    asks
}

impl Engine {
    /// Takes the file of the floor as it is now. A bad one leaves the floor before it in force, and is told everywhere.
    pub async fn floor_file(&self, name: String, text: String) -> Result<(), FileRefusal> {
        let digest = Digest::of_bytes(text.as_bytes()).to_string();
        let given = self.policies.floor.read().given;
        if given && self.policies.floor_here().is_some_and(|floor| floor.version() == digest) {
            self.policies.accept(ServerFile::Floor);
            return Ok(());
        }
        let file = name.clone();
        let floor = match off_reactor(move || load_floor(&name, &text)).await {
            Ok(Ok(floor)) => Arc::new(floor),
            Ok(Err(findings)) => return Err(self.file_refused(ServerFile::Floor, findings)),
            Err(error) => return Err(self.file_not_yet(ServerFile::Floor, &file, &error)),
        };
        floor.warnings().iter().for_each(|finding| tracing::warn!(%finding, "floorWarning"));
        let version = floor.version().to_owned();
        self.floor_put(Some(floor)).await.map_err(|error| self.file_not_yet(ServerFile::Floor, &file, &error))?;
        tracing::info!(version, "floorLoaded");
        Ok(())
    }

    /// Has no floor in force any more, on any server.
    pub async fn floor_remove(&self) -> Result<(), Error> {
        self.floor_put(None).await
    }

    /// Has it on record that there is no floor, where no server has said anything about one; otherwise takes the floor that is on record.
    pub async fn floor_kept(&self) -> Result<(), Error> {
        if !self.policies.beside() {
            self.transact_again(|work| {
                // Only where nothing is on record: another server that starts at this moment may put its floor there.
                if work.tx.policy_state(&FLOOR)?.is_none() {
                    let (state, _) = PolicyState::initial(work.now).put_floor(None, work.now);
                    work.tx.policy_save(&FLOOR, &state)?;
                }
                Ok(())
            })
            .await?;
        }
        self.floor_of_servers().await?;
        if let Some(floor) = self.policies.floor_here() {
            tracing::info!(version = floor.version(), "floorFollowed");
        }
        Ok(())
    }

    async fn floor_put(&self, floor: Option<Arc<Policy>>) -> Result<(), Error> {
        // A process beside the servers has to have what they have.
        if !self.policies.beside() {
            self.floor_noted(floor.clone()).await?;
        }
        self.policies.floor_replace(floor, true);
        Ok(())
    }

    /// Puts on record, and on the trail of every project, which floor is in force.
    async fn floor_noted(&self, floor: Option<Arc<Policy>>) -> Result<Timestamp, Error> {
        self.transact_again(move |work| {
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
            let (state, mut happening) = state.put_floor(version, work.now);
            work.tx.policy_save(&FLOOR, &state)?;
            if first && floor.is_none() {
                return Ok(work.now);
            }
            let text = floor.as_ref().map_or("", |floor| floor.text());
            happening.record = json!({ "diff": diff(before.as_deref().unwrap_or_default(), text) });
            for scope in work.tx.scopes()? {
                work.append_audit(&scope, &happening)?;
            }
            Ok(work.now)
        })
        .await
    }

    /// Takes the floor that the servers put in force last, unless this process was given its own. Says whether it took another one.
    pub(crate) async fn floor_of_servers(&self) -> Result<bool, Error> {
        if !self.policies.floor.read().followed() {
            return Ok(false);
        }
        let noted = self.read(Cost::Point, move |reads| {
            let own = reads.policy_state(&FLOOR)?.and_then(|state| state.own);
            own.map_or(Ok(None), |version| Ok(reads.policy_version(&FLOOR, &version)?))
        });
        let (noted, here) = (noted.await?, self.policies.floor_here());
        if noted.as_ref().map(|noted| noted.version.as_str()) == here.as_ref().map(|floor| floor.version()) {
            return Ok(false);
        }
        let floor = match noted {
            Some(noted) => Some(Arc::new(readable_floor(noted.text).await?)),
            None => None,
        };
        tracing::info!(version = floor.as_ref().map(|floor| floor.version()), "floorLoaded");
        self.policies.floor_replace(floor, false);
        Ok(true)
    }
}

/// A floor that was put in force. Another version of this program may read it more strictly: then nothing is permitted here.
async fn readable_floor(text: String) -> Result<Policy, Error> {
    let findings = match off_reactor(move || load_floor(NAME, &text)).await? {
        Ok(floor) => return Ok(floor),
        Err(findings) => findings,
    };
    let problem = |finding: &Finding| domain::Problem::new("/text", finding.to_string());
    Err(Error::PolicyInvalid(findings.iter().map(problem).collect()))
}

/// Refuses to start what the floor asks about, unless people whom it asks for have approved these very arguments. What a grant, a program or a
/// deadline has decided is no approval here.
pub(crate) fn require_floor_approval(
    work: &mut Work<'_>,
    session: &Session,
    proposal: &Action,
    judged: &Judged,
) -> Result<(), Error> {
    if !judged.ruling.floor_asks() {
        return Ok(());
    }
    let asked = match proposal.asked.last() {
        Some(asked) => work.tx.interaction(&session.scope, *asked)?,
        None => None,
    };
    let answered = asked.is_some_and(|asked| match &asked.state {
        State::Resolved { resolution: Resolution::Answered { answer, votes }, .. } => {
            let agreeing: Vec<_> = match votes.is_empty() {
                true => vec![answer],
                false => votes.iter().filter(|vote| vote.agrees_with(answer)).collect(),
            };
            let enough = |ask: &Ask| {
                ask.audiences.iter().all(|audience| audience.settled_by(&agreeing, &asked.origin.started_by))
            };
            judged.floor_ask.as_ref().is_some_and(enough)
        }
        State::Resolved { .. } | State::Pending(_) => false,
    });
    if answered { Ok(()) } else { Err(Refusal::AskedByNow(Box::new(judged.ruling.clone())).into()) }
}
