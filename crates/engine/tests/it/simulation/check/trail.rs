//! Checks the audit trail: one entry for each event and one event for each entry, in one chain that verifies and shows no secret.

use domain::audit::Entry;
use domain::audit::verify::{Demands, verify};
use futures::executor::block_on;
use holdpoint_engine::{Engine, ExportRange};

use super::holds;
use crate::simulation::books::StoreContents;
use crate::simulation::cast::Tenant;
use crate::simulation::questions::MARKER;
use crate::simulation::world::Verdict;

/// Checks the whole trail of one tenant, exported by an engine on an intact store.
pub(crate) fn check(engine: &Engine, name: &str, tenant: &Tenant, books: &StoreContents) -> Verdict {
    let lines = block_on(tokio::task::unconstrained(exported(engine, name)));
    let demanded = Demands { whole: true, ..Demands::default() };
    let verified = verify(lines.iter().map(|line| line.clone().into_bytes()), &demanded);
    holds!(verified.is_ok(), "the trail of {name} does not verify: {verified:?}");
    let entries: Vec<Entry> = lines.iter().filter_map(|line| entry(line)).collect();
    let told = entries.iter().filter_map(|entry| Some((entry.session?, entry.event?, entry.name.as_str(), entry.at)));
    let happened = books.log.iter().map(|(_, event)| (event.session, event.seq, event.name.as_str(), event.at));
    let (told, happened): (Vec<_>, Vec<_>) = (told.collect(), happened.collect());
    holds!(told == happened, "the trail of {name} has {} entries of {} events", told.len(), happened.len());
    let others = entries.iter().filter(|entry| entry.session.is_none()).map(|entry| entry.name.as_str());
    let (made, others): (Vec<&str>, Vec<&str>) = others.partition(|name| *name == "key.created");
    let keys = tenant.agents.len() + tenant.people.len();
    holds!(made.len() == keys, "the trail of {name} has {} of {keys} keys", made.len());
    let strange = others.iter().find(|name| !name.starts_with("policy.") && **name != "grant.revoked");
    holds!(strange.is_none(), "beside its sessions the trail of {name} has {strange:?}");
    let revoked = books.grants.values().filter(|grant| grant.revoked.is_some()).count();
    let told = others.iter().filter(|name| **name == "grant.revoked").count();
    holds!(told == revoked, "the trail of {name} takes back {told} of {revoked} grants");
    holds!(!lines.iter().any(|line| line.contains(MARKER)), "the trail of {name} shows a secret");
    Ok(())
}

async fn exported(engine: &Engine, name: &str) -> Vec<String> {
    let mut export = engine.audit_export_all(name, ExportRange::default()).await.unwrap();
    let mut text = String::new();
    while let Some(lines) = export.next().await.unwrap() {
        text += &lines;
    }
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn entry(line: &str) -> Option<Entry> {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let entry = line.get("entry")?;
    Some(serde_json::from_value(entry.clone()).unwrap())
}
