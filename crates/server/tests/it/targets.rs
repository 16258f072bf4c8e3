//! Tests that no test is left out by a manifest. Crates without doc tests or unit tests say so in their manifests, because `make test` would
//! otherwise run rustdoc or link a test program for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Fences of code that rustdoc does not compile.
const NOT_COMPILED: &[&str] = &["text", "sh", "json", "toml", "sql"];

#[test]
fn what_a_manifest_leaves_out_has_no_tests() {
    let mut left_out = Vec::new();
    let mut found = 0;
    for target in targets() {
        let is = |name: &str| target["kind"].as_array().unwrap().iter().any(|kind| kind == name);
        if !is("lib") && !is("bin") {
            continue;
        }
        found += 1;
        let root = Path::new(target["src_path"].as_str().unwrap()).parent().unwrap();
        for file in sources(root) {
            let text = fs::read_to_string(&file).unwrap();
            if is("lib") && target["doctest"] == false && has_doc_test(&text) {
                left_out.push(format!("{}: a doc test, but `doctest = false`", file.display()));
            }
            if target["test"] == false && has_test(&text) {
                left_out.push(format!("{}: a test, but `test = false`", file.display()));
            }
        }
    }
    assert!(found > 15, "only {found} libraries and programs");
    assert_eq!(left_out, [""; 0]);
}

#[test]
fn a_doc_test_is_known_by_its_fence() {
    let check = |text: &str, expected: bool| assert_eq!(has_doc_test(text), expected, "{text}");
    check("/// ```\n/// let a = 1;\n/// ```", true);
    check("    //! ```compile_fail\n    //! fn f() {}\n    //! ```", true);
    check("//! ```text\n//! a -> b\n//! ```", false);
    check("//! ```text\n//! a -> b\n//! ```\n/// ```\n/// f();\n/// ```", true);
    check("// ```\nlet text = \"```\";", false);
}

/// Whether a doc comment has code that rustdoc compiles.
fn has_doc_test(text: &str) -> bool {
    let docs = text
        .lines()
        .map(str::trim_start)
        .filter_map(|line| line.strip_prefix("///").or_else(|| line.strip_prefix("//!")));
    let fences = docs.filter_map(|line| line.trim_start().strip_prefix("```"));
    // Every second fence ends the code that the one before it opened.
    fences.step_by(2).any(|language| !NOT_COMPILED.contains(&language.trim()))
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
