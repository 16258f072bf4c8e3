//! Tests that each crate depends only on crates of lower layers, never on a crate of its own layer. `ARCHITECTURE.md` lists the layers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates of each layer, from the lowest to the highest.
const LAYERS: &[(u8, &[&str])] = &[
    (0, &["domain", "confine", "command-line"]),
    (1, &["tool-facts"]),
    (2, &["policy", "forms", "store", "protocol"]),
    (3, &["store-sqlite", "store-postgres", "engine"]),
    (4, &["agent", "server", "mcp", "webhooks"]),
    (5, &["dialects"]),
    (6, &["cli"]),
];

/// Crates for tests and measurements. Crates with a layer may have them only as development dependencies.
const DEV: &[&str] = &["testkit", "server-testkit", "bench"];

/// Layer of a crate. `None` if the crate has no layer.
fn layer_of(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(_, names)| names.contains(&name)).map(|(layer, _)| *layer)
}

/// Name of the last directory of a path, which is the name of the crate in it.
fn directory(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

/// Manifests of all crates of the workspace, as `cargo metadata` shows them.
pub(crate) fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn crates_depend_on_lower_layers_only() {
    let packages = packages();
    let crates: BTreeMap<String, &Value> = packages
        .iter()
        .filter_map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str()?);
            Some((directory(manifest.parent()?)?, package))
        })
        .collect();
    let mut wrong = Vec::new();
    for (name, package) in &crates {
        let here = layer_of(name);
        if here.is_none() && !DEV.contains(&name.as_str()) {
            wrong.push(format!("{name} has no layer"));
        }
        let ordinary =
            package["dependencies"].as_array().unwrap().iter().filter(|dependency| dependency["kind"] != "dev");
        for used in ordinary.filter_map(|dependency| directory(Path::new(dependency["path"].as_str()?))) {
            let allowed = here.is_none() || layer_of(&used).is_some_and(|there| Some(there) < here);
            if !allowed {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(crates.contains_key("domain") && crates.contains_key("server"), "{:?}", crates.keys());
    assert_eq!(wrong, [""; 0]);
}
