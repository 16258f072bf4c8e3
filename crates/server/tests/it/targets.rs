//! Tests that no test is left out by a manifest or by a module that names no file. Crates without unit tests say so in their manifests, because `make
//! test` would otherwise link a test program for nothing.

use std::collections::BTreeSet;
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

#[test]
fn every_source_file_is_a_module_of_a_target() {
    let targets = targets();
    let roots: Vec<PathBuf> = targets.iter().map(|target| target["src_path"].as_str().unwrap().into()).collect();
    let folders: BTreeSet<PathBuf> = roots.iter().filter_map(|root| source_folder(root)).collect();
    let written: BTreeSet<PathBuf> = folders.iter().flat_map(|folder| sources(folder)).collect();
    let mut reached: BTreeSet<PathBuf> = roots.iter().cloned().collect();
    let mut waiting = roots.clone();
    while let Some(file) = waiting.pop() {
        let children = modules(&file, roots.contains(&file));
        waiting.extend(children.into_iter().filter(|child| reached.insert(child.clone())));
    }
    assert!(written.len() > 500, "only {} files", written.len());
    let compiled_nowhere: Vec<&PathBuf> = written.difference(&reached).collect();
    assert!(compiled_nowhere.is_empty(), "no module names these files: {compiled_nowhere:#?}");
}

/// The folder `src` or `tests` of a crate that contains a file.
fn source_folder(file: &Path) -> Option<PathBuf> {
    file.ancestors().find(|folder| folder.ends_with("src") || folder.ends_with("tests")).map(Path::to_owned)
}

/// Files of the modules that a source file declares without a body.
fn modules(file: &Path, is_root: bool) -> Vec<PathBuf> {
    let inside = if is_root { file.parent().unwrap().to_owned() } else { file.with_extension("") };
    let text = fs::read_to_string(file).unwrap();
    let module = |line: &str| {
        let (before, name) = line.trim().strip_suffix(';')?.split_once("mod ")?;
        let is_declaration = before.is_empty() || before.starts_with("pub");
        is_declaration.then(|| inside.join(name).with_extension("rs"))
    };
    text.lines().filter_map(module).collect()
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
