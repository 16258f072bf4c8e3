//! Tests `holdpoint audit`: export beside a running server and without one, verification by the binary alone, and
//! tampering.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{Deployment, binary, on_postgres};

/// Exports the whole trail to a file.
fn exported(deployment: &Deployment, name: &str) -> PathBuf {
    let file = deployment.path(name);
    let output = deployment.run_into(&["audit", "export"], &file);
    assert!(output.status.success(), "{output:?}");
    file
}

/// Verifies an export with the file alone, without a data directory or server.
fn verified(file: &Path, more: &[&str]) -> Output {
    binary().args(["audit", "verify"]).arg(file).args(more).output().unwrap()
}

/// Exports and verifies the whole trail, checks that each session's events are there once and in order, and returns the
/// entries.
pub(crate) fn proved(deployment: &Deployment) -> Vec<Value> {
    let file = exported(deployment, "trail.jsonl");
    let output = verified(&file, &["--whole"]);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries: Vec<Value> = lines.filter_map(|line| line.get("entry").cloned()).collect();
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in &entries {
        if let (Some(session), Some(event)) = (entry["session"].as_str(), entry["event"].as_u64()) {
            let before = last.insert(session, event).unwrap_or(0);
            assert_eq!(event, before + 1, "{session} goes from entry {before} to {event}");
        }
    }
    entries
}

async fn check_audit_commands(deployment: &Deployment) {
    let server = deployment.launch().start().await;
    let (bot, alice, root) =
        (deployment.key("agent", "bot"), deployment.key("operator", "alice"), deployment.key("admin", "root"));
    let (bot, alice, root) = (server.client(&bot), server.client(&alice), server.client(&root));
    // The first export signs a checkpoint after five entries: the first admin, the link for them, and the three keys.
    let early = exported(deployment, "early.jsonl");
    let session = bot.start().await;
    let action = json!({ "tool": "deploy", "arguments": { "version": "1.4" } });
    let question = json!({ "kind": "approval", "title": "Deploy?", "action": action, "resume_point": { "a": "b" } });
    let question = bot.ask(&session, question).await;
    alice.answer(&question, json!({ "effect": "edit", "arguments": { "version": "1.5" } })).await.done(200);
    bot.post(&format!("/v1/interactions/{question}/delivery/take"), json!({})).await.done(200);

    let beside = exported(deployment, "beside.jsonl");
    let key = String::from_utf8(deployment.run(&["audit", "key"]).stdout).unwrap();
    let key = key.trim();
    let output = verified(&beside, &["--public-key", key, "--whole"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with("verified: entries 1 to 9, ") && said.contains(&format!("signed by {key}\n")), "{said}");
    let checkpoint = said.lines().last().unwrap().strip_prefix("last checkpoint: ").unwrap().to_owned();
    assert_eq!(root.get("/v1/audit/key").await.done(200).text("/public_key"), key);
    let over_http = root.get("/v1/audit/export").await.done(200).body;
    let over_http = over_http.as_str().unwrap();
    let (http, file) = (without_seal(over_http), std::fs::read_to_string(&beside).unwrap());
    assert_eq!(http, without_seal(&file), "only the seals differ");
    check_tampered_exports(deployment, &beside);
    check_truncated_exports(deployment, &beside);
    check_partial_export(deployment, &early);

    server.kill();
    assert_eq!(proved(deployment).len(), 9, "after a kill");
    let server = deployment.launch().start().await;
    server.client(&deployment.key("agent", "late")).ask_plainly("Go on?").await;
    assert!(server.stop().success());
    assert_eq!(proved(deployment).len(), 13, "after a restart, which makes another link");
    let trail = deployment.path("trail.jsonl");
    assert!(verified(&trail, &["--public-key", key, "--from-checkpoint", &checkpoint]).status.success());
    refused(&verified(&trail, &["--public-key", &key.replace(&key[..1], "x")]), "another key");
    refused(&verified(&trail, &["--from-checkpoint", &format!("9:{}", "0".repeat(64))]), "up to 9");

    let output = deployment.run(&["secrets", "rotate"]);
    assert!(output.status.success(), "{output:?}");
    let entries = proved(deployment);
    let last = entries.last().unwrap();
    assert_eq!((entries.len(), &last["type"], &last["how"]["wire"]), (14, &json!("secrets.rotated"), &json!("cli")));
    assert!(verified(&trail, &["--public-key", key]).status.success(), "the trail is signed by its own key");
}

/// Removes the last line, the seal, of an export.
fn without_seal(text: &str) -> &str {
    let (lines, seal) = text.trim_end().rsplit_once('\n').unwrap();
    assert!(seal.starts_with("{\"seal\":"), "{seal}");
    lines
}

/// Checks that files are refused that were cut at a checkpoint with a matching header, or that lack the text of an
/// entry.
fn check_truncated_exports(deployment: &Deployment, file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let header: Value = serde_json::from_str(lines[0]).unwrap();
    let of = |seq: u64| lines.iter().position(|line| line.starts_with(&format!("{{\"seq\":{seq},"))).unwrap();
    let check = |header: &Value, rest: &[&str], words: &str| {
        let file = deployment.path("cut.jsonl");
        std::fs::write(&file, format!("{header}\n{}", rest.concat())).unwrap();
        refused(&verified(&file, &["--partial"]), words);
    };
    let seal = lines[lines.len() - 1];
    let mut shorter = header.clone();
    shorter["last"] = json!(5);
    check(&shorter, &lines[1..of(6)], "the seal was removed");
    check(&shorter, &[&lines[1..of(6)], &[seal]].concat(), "entry 6 was removed");
    let fifth: Value = serde_json::from_str(lines[of(5)]).unwrap();
    let mut later = header.clone();
    (later["after"], later["hash"]) = (json!(5), fifth["hash"].clone());
    check(&later, &lines[of(6)..], "entry 1 was removed");
    let (blank, _) = lines[of(8)].split_once(",\"entry\":").unwrap();
    let blank = format!("{blank}}}\n");
    let blanked = [&lines[1..of(8)], &[blank.as_str()], &lines[of(9)..]].concat();
    let file = deployment.path("blanked.jsonl");
    std::fs::write(&file, format!("{}{}", lines[0], blanked.concat())).unwrap();
    refused(&verified(&file, &[]), "entry 8 was changed: its text was removed");
}

/// Checks that a partial export says so, and that verification without a known key prints a warning.
fn check_partial_export(deployment: &Deployment, early: &Path) {
    let said = String::from_utf8(verified(early, &[]).stdout).unwrap();
    assert!(said.starts_with("verified: entries 1 to 5, ") && said.lines().last().unwrap().starts_with("warning: "));
    let known = said.lines().find_map(|line| line.strip_prefix("last checkpoint: ")).unwrap();
    let file = deployment.path("part.jsonl");
    assert!(deployment.run_into(&["audit", "export", "--after", "5"], &file).status.success());
    refused(&verified(&file, &[]), "entries 1 to 5 are not in it");
    for more in [&["--partial"][..], &["--from-checkpoint", known]] {
        let output = verified(&file, more);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.starts_with("verified: entries 6 to 9, "), "{said}");
        assert!(said.contains("\npartial export: entries 1 to 5 are not in it\n"), "{said}");
    }
}

fn refused(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(output.stdout.is_empty() && said.contains(words), "{said}");
}

/// Checks that verification names each kind of tampering and the entry.
fn check_tampered_exports(deployment: &Deployment, file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let of = |seq: u64| lines.iter().position(|line| line.starts_with(&format!("{{\"seq\":{seq},"))).unwrap();
    let check = |lines: Vec<&str>, words: &str| {
        let file = deployment.path("tampered.jsonl");
        std::fs::write(&file, lines.concat()).unwrap();
        refused(&verified(&file, &[]), words);
    };
    let edited = text.replace("\"1.5\"", "\"1.6\"");
    check(vec![&edited], "entry 8 was changed");
    let mut removed = lines.clone();
    removed.remove(of(7));
    check(removed, "entry 7 was removed");
    let mut added = lines.clone();
    added.insert(of(7), lines[of(6)]);
    check(added, "entry 6 was added");
    let mut swapped = lines.clone();
    swapped.swap(of(7), of(8));
    check(swapped, "entry 8 was reordered");
    // Entries that are swapped in the database keep the sequence numbers of their rows.
    let numbered =
        |line: &str, from: u64, to: u64| line.replacen(&format!("\"seq\":{from},"), &format!("\"seq\":{to},"), 1);
    let (seventh, eighth) = (numbered(lines[of(8)], 8, 7), numbered(lines[of(7)], 7, 8));
    let mut exchanged = lines.clone();
    let (seven, eight) = (of(7), of(8));
    exchanged[seven] = &seventh;
    exchanged[eight] = &eighth;
    check(exchanged, "entry 7 was reordered");
    check(lines[..lines.len() - 1].to_vec(), "the seal was removed");
    check(lines[..lines.len() - 2].to_vec(), "a checkpoint was removed");
    check(lines[..of(9)].to_vec(), "entry 9 was removed");
    check(Vec::new(), "not an audit export");
    refused(&verified(&deployment.path("absent"), &[]), "absent");
}

#[tokio::test]
async fn audit_export_on_sqlite_is_verified_and_tampering_is_detected() {
    check_audit_commands(&Deployment::sqlite()).await;
}

#[test]
fn audit_export_on_postgres_is_verified_and_tampering_is_detected() {
    on_postgres(check_audit_commands);
}
