//! Tests that no test is left out by a manifest. Crates without unit tests say so in their manifests, because `make
//! test` would otherwise link a test program for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

#[test]
fn targets_that_are_not_tested_contain_no_tests() {
    let targets = targets();
    let sources_of = |target: &Value| sources(Path::new(target["src_path"].as_str().unwrap()).parent().unwrap());
    let left_out: Vec<PathBuf> = targets
        .iter()
        .filter(|target| target["test"] == false && target["kind"] != json!(["custom-build"]))
        .flat_map(sources_of)
        .filter(|file| has_test(&fs::read_to_string(file).unwrap()))
        .collect();
    assert!(targets.len() > 15, "only {} targets", targets.len());
    assert_eq!(left_out, [""; 0].map(PathBuf::from));
}

fn has_test(text: &str) -> bool {
    text.lines()
        .map(str::trim_start)
        .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test") || line.starts_with("proptest!"))
}

/// Targets of all crates of the workspace.
fn targets() -> Vec<Value> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().flat_map(|package| package["targets"].as_array().unwrap().clone()).collect()
}

/// Every source file below a directory.
fn sources(root: &Path) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}
