//! Tests that every dependency is used. The compiler's lint `unused_crate_dependencies`, which each crate root of the
//! workspace turns on, finds unused dependencies of libraries and binaries. It cannot judge development dependencies,
//! because each test binary uses only some of them. These tests find those by name, and entries of
//! `[workspace.dependencies]` that no crate takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::crate_layers::packages;

/// Attribute of a crate root. Units with tests also see the development dependencies, so the lint is off there.
const LINT: &str = "#![cfg_attr(not(test), warn(unused_crate_dependencies))]";

#[test]
fn every_crate_root_turns_the_lint_on() {
    let roots = packages().into_iter().map(|package| {
        let targets = package["targets"].as_array().unwrap();
        let of_kind = |kind: &str| targets.iter().find(|target| target["kind"][0] == kind);
        let root = of_kind("lib").or_else(|| of_kind("bin")).unwrap();
        root["src_path"].as_str().unwrap().to_owned()
    });
    let silent: Vec<String> = roots.filter(|root| !fs::read_to_string(root).unwrap().contains(LINT)).collect();
    assert_eq!(silent, [""; 0], "these files need `{LINT}`");
}

#[test]
fn every_development_dependency_is_named_in_its_crate() {
    let mut unused = Vec::new();
    for package in packages() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let text = source_text(folder);
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        for dependency in dependencies.filter(|dependency| dependency["kind"] == "dev").map(local_name) {
            if !is_named(&text, &dependency.replace('-', "_")) {
                unused.push(format!("{}: {dependency}", folder.display()));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
}

#[test]
fn every_dependency_of_the_workspace_is_used() {
    let packages = packages();
    let dependencies = packages.iter().flat_map(|package| package["dependencies"].as_array().unwrap());
    let used: BTreeSet<&str> = dependencies.map(local_name).collect();
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")).unwrap();
    let (_, table) = manifest.split_once("\n[workspace.dependencies]\n").unwrap();
    let (table, _) = table.split_once("\n[").unwrap();
    let entries = table.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
    let unused: Vec<&str> = entries.filter(|name| !used.contains(name)).collect();
    assert_eq!(unused, [""; 0]);
}

/// Name by which a crate uses a dependency.
fn local_name(dependency: &Value) -> &str {
    dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap()
}

/// Says whether a path or a declaration in `text` begins with the name of a crate.
fn is_named(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(|last: char| last.is_alphanumeric() || last == '_');
        is_whole && ["::", ";", " as "].iter().any(|next| after.starts_with(next))
    })
}

/// All Rust files below a folder without lines that are comments. Fuzz targets are a workspace of their own.
fn source_text(folder: &Path) -> String {
    let mut text = String::new();
    let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        if path.ends_with("fuzz") {
            continue;
        }
        if path.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = fs::read_to_string(path).unwrap();
            let lines = file.lines().filter(|line| !line.trim_start().starts_with("//"));
            text.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
    text
}
