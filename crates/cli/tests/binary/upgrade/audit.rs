//! Checks that the archive of closed questions and the audit trail continue where the old server left them.

use domain::{AuditKind, EventKind};
use serde_json::Value;

use super::fixture::Fixture;
use crate::common::binary;

/// Exports the questions that the old server archived.
pub(super) fn archive_is_exported(fixture: &Fixture) {
    let file = fixture.deployment.path("archive.jsonl");
    let output = fixture.deployment.run_into(&["archive", "export"], &file);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let exported: Vec<Value> = lines.map(|line| line["interaction"]["id"].clone()).collect();
    assert_eq!(exported, *fixture.manifest["archived"].as_array().unwrap());
}

/// Verifies the trail as one chain over both servers, with the public key and through the checkpoint of the old server.
/// Then every sealed value that is left is opened and sealed again.
pub(super) fn trail_is_whole(fixture: &Fixture) {
    let file = fixture.deployment.path("trail.jsonl");
    let output = fixture.deployment.run_into(&["audit", "export"], &file);
    assert!(output.status.success(), "{output:?}");
    let part = |name: &str| fixture.manifest["audit"][name].as_str().unwrap();
    let from = ["--whole", "--public-key", part("public_key"), "--from-checkpoint", part("checkpoint")];
    let output = binary().args(["audit", "verify"]).arg(&file).args(from).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let trail = std::fs::read_to_string(&file).unwrap();
    for name in
        ["policy.rule_suspended", "policy.suspension_lifted", "user.signed_in", "interaction.expired", "action.done"]
    {
        assert!(trail.contains(&format!("\"type\":\"{name}\"")), "{name} is not on the trail");
    }
    let lines = trail.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries: Vec<Value> = lines.filter_map(|line| line.get("entry").cloned()).collect();
    assert!(!entries.is_empty());
    entries.iter().for_each(details_are_known);
    let rotated = fixture.deployment.run(&["secrets", "rotate"]);
    assert!(rotated.status.success(), "{rotated:?}");
}

/// Reads the details of an entry of either server as those of its kind.
fn details_are_known(entry: &Value) {
    let (name, data) = (entry["type"].as_str().unwrap(), &entry["data"]);
    let is_known = match entry.get("event") {
        Some(_) => EventKind::read(name, data).is_some(),
        None => AuditKind::read(name, data).is_some(),
    };
    assert!(is_known, "{name}: {data}");
}
