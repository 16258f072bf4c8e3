//! A crate uses crates of lower floors only, never a sibling. `ARCHITECTURE.md` has the table.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const FLOORS: &[(u8, &[&str])] = &[
    (0, &["domain", "confine"]),
    (1, &["tool-facts"]),
    (2, &["policy", "forms", "store", "protocol"]),
    (3, &["store-sqlite", "store-postgres", "engine"]),
    (4, &["agent", "server", "mcp", "webhooks"]),
    (5, &["dialects"]),
    (6, &["cli"]),
];

/// Crates for tests and measurements, which are no ordinary dependency of another crate.
const DEV: &[&str] = &["testkit", "server-testkit", "bench"];

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(_, names)| names.contains(&name)).map(|(floor, _)| *floor)
}

/// The directory that a crate is in is its name.
fn directory(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

#[test]
fn no_crate_reaches_up_or_sideways() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let crates: BTreeMap<String, &Value> = packages
        .iter()
        .filter_map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str()?);
            Some((directory(manifest.parent()?)?, package))
        })
        .collect();
    let mut wrong = Vec::new();
    for (name, package) in &crates {
        let here = floor(name);
        if here.is_none() && !DEV.contains(&name.as_str()) {
            wrong.push(format!("{name} has no floor"));
        }
        let ordinary =
            package["dependencies"].as_array().unwrap().iter().filter(|dependency| dependency["kind"] != "dev");
        for used in ordinary.filter_map(|dependency| directory(Path::new(dependency["path"].as_str()?))) {
            let allowed = here.is_none() || floor(&used).is_some_and(|there| Some(there) < here);
            if !allowed {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(crates.contains_key("domain") && crates.contains_key("server"), "{:?}", crates.keys());
    assert_eq!(wrong, [""; 0]);
}
