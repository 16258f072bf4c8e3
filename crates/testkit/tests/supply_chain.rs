//! Checks the packages that the product is built from: licences, sources, banned packages and duplicate versions,
//! according to `deny.toml` and `web/supply-chain.toml`. It reads only local files and needs no network. `make
//! advisories` looks for advisories.

#![expect(clippy::unwrap_used, reason = "an unreadable file fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, ParseMode};

/// Path of a file in the repository.
fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn toml(path: &str) -> Value {
    toml::from_str(&std::fs::read_to_string(file(path)).unwrap()).unwrap()
}

fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(file(path)).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, pointer: &str) -> Vec<&'a Value> {
    value.pointer(pointer).and_then(Value::as_array).map(|list| list.iter().collect()).unwrap_or_default()
}

fn texts(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Packages that are built for this machine, including tests, and the packages that need them.
struct Tree {
    packages: Vec<Value>,
    needed_by: BTreeMap<String, BTreeSet<String>>,
}

impl Tree {
    fn read() -> Self {
        let cargo = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
        let cargo = String::from_utf8(cargo.stdout).unwrap();
        let host = cargo.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let arguments = ["metadata", "--format-version", "1", "--offline", "--locked", "--all-features"];
        let output = Command::new(env!("CARGO")).args(arguments).args(["--filter-platform", host]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let packages: Vec<Value> = metadata["packages"].as_array().unwrap().clone();
        let names: BTreeMap<&str, &str> =
            packages.iter().map(|package| (package["id"].as_str().unwrap(), name(package))).collect();
        let mut needed_by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata, "/resolve/nodes") {
            for needed in list(node, "/deps") {
                let needed = names[needed["pkg"].as_str().unwrap()].to_owned();
                needed_by.entry(needed).or_default().insert(names[node["id"].as_str().unwrap()].to_owned());
            }
        }
        drop(names);
        Self { packages, needed_by }
    }

    /// Packages of other projects.
    fn foreign(&self) -> impl Iterator<Item = &Value> {
        self.packages.iter().filter(|package| !package["source"].is_null())
    }
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

/// Whether a licence expression can be satisfied with the allowed licences.
fn may_be_used(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let parsed = Expression::parse_mode(expression, ParseMode::LAX);
    parsed.is_ok_and(|parsed| parsed.evaluate(|licence| allowed.contains(&licence.to_string())))
}

fn allowed() -> BTreeSet<String> {
    texts(&toml("deny.toml"), "/licenses/allow").into_iter().collect()
}

#[test]
fn licence_expressions_are_evaluated() {
    let allowed = BTreeSet::from(["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned));
    let check = |expression: &str, expected: bool| {
        assert_eq!(may_be_used(expression, &allowed), expected, "{expression}");
    };
    check("MIT", true);
    check("GPL-3.0-only", false);
    check("MIT OR GPL-3.0-only", true);
    check("MIT/GPL-3.0-only", true);
    check("MIT AND GPL-3.0-only", false);
    check("ISC AND (MIT OR GPL-3.0-only)", true);
    check("Apache-2.0", false);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("nonsense", false);
    check("", false);
}

#[test]
fn every_crate_has_an_allowed_licence() {
    let (tree, allowed) = (Tree::read(), allowed());
    let wrong = tree.packages.iter().filter(|package| {
        let licence = package["license"].as_str().unwrap_or_default();
        !may_be_used(licence, &allowed)
    });
    let wrong: Vec<String> = wrong.map(|package| format!("{} {}", name(package), package["license"])).collect();
    assert_eq!(wrong, [""; 0], "read the licence; if it may be used, add it to deny.toml");
}

/// Checks the lock file, which names every package, including those that are built only for other machines.
#[test]
fn every_crate_comes_from_the_default_registry_with_a_checksum() {
    let lock = toml("Cargo.lock");
    let packages = list(&lock, "/package");
    let wrong: Vec<String> = packages
        .iter()
        .filter(|package| match package["source"].as_str() {
            None => !name(package).starts_with("holdpoint-"),
            Some(source) => {
                let ordinary = source.starts_with("registry+") && source.ends_with("/crates.io-index");
                !ordinary || package["checksum"].as_str().is_none_or(|checksum| checksum.len() != 64)
            }
        })
        .map(|package| format!("{} {}", name(package), package["source"]))
        .collect();
    assert!(packages.len() > 100, "the lock was read");
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn no_banned_crate_is_used() {
    let (tree, rules) = (Tree::read(), toml("deny.toml"));
    let mut wrong = Vec::new();
    for rule in list(&rules, "/bans/deny") {
        let (banned, wrappers) = (rule["crate"].as_str().unwrap(), texts(rule, "/wrappers"));
        assert!(rule["reason"].is_string(), "{banned} is banned without a reason");
        let needed_by = tree.needed_by.get(banned).cloned().unwrap_or_default();
        let others = needed_by.iter().filter(|by| !wrappers.contains(by));
        wrong.extend(others.map(|by| format!("{banned}, needed by {by}")));
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn no_crate_has_two_versions_without_a_listed_reason() {
    let (tree, rules) = (Tree::read(), toml("deny.toml"));
    let mut versions: BTreeMap<&str, BTreeSet<Vec<u64>>> = BTreeMap::new();
    for package in tree.foreign() {
        let version = package["version"].as_str().unwrap().split(['+', '-']).next().unwrap();
        let version = version.split('.').map(|number| number.parse().unwrap()).collect();
        versions.entry(name(package)).or_default().insert(version);
    }
    let mut older = BTreeSet::new();
    for (name, mut versions) in versions {
        versions.pop_last();
        for version in versions {
            let short = if version[0] == 0 { format!("0.{}", version[1]) } else { version[0].to_string() };
            older.insert(format!("{name}@{short}"));
        }
    }
    let skipped = list(&rules, "/bans/skip");
    assert!(skipped.iter().all(|skip| skip["reason"].is_string()), "a reason is missing");
    let listed: BTreeSet<String> = skipped.iter().map(|skip| skip["crate"].as_str().unwrap().to_owned()).collect();
    let unlisted: Vec<&String> = older.difference(&listed).collect();
    assert_eq!(unlisted, [""; 0], "these packages have two versions: avoid that or list them in deny.toml");
    let gone: Vec<&String> = listed.difference(&older).collect();
    assert_eq!(gone, [""; 0], "these versions are gone: remove them from deny.toml");
}

#[test]
fn every_exception_from_the_advisories_has_a_reason() {
    let rules = toml("deny.toml");
    for ignored in list(&rules, "/advisories/ignore") {
        assert!(ignored["id"].is_string() && ignored["reason"].is_string(), "{ignored}");
    }
}

/// Whether `web/supply-chain.toml` has an exception for a package.
fn is_excepted(exceptions: &Value, licence: &str, package: &str) -> bool {
    list(exceptions, "/exception").iter().any(|exception| {
        assert!(exception["reason"].is_string(), "{exception}");
        let named = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => package.starts_with(beginning),
            None => package == pattern,
        };
        exception["license"] == licence && texts(exception, "/packages").iter().any(named)
    })
}

/// Checks the packages of the page and of its tools: licence, checksum, and the registry as the only source.
#[test]
fn packages_of_the_page_follow_the_same_rules() {
    let (allowed, exceptions) = (allowed(), toml("web/supply-chain.toml"));
    for lock in ["web/package-lock.json", "web/scripts/openapi-types/package-lock.json"] {
        let locked = json(lock);
        let packages = locked["packages"].as_object().unwrap();
        assert!(packages.len() > 10, "{lock} was read");
        for (path, package) in packages.iter().filter(|(path, _)| !path.is_empty()) {
            let (_, name) = path.rsplit_once("node_modules/").unwrap();
            let licence = package["license"].as_str().unwrap_or_default();
            let usable = may_be_used(licence, &allowed) || is_excepted(&exceptions, licence, name);
            assert!(usable, "{lock}: {name} has licence {licence:?}");
            let integrity = package["integrity"].as_str().unwrap_or_default();
            assert!(integrity.starts_with("sha512-"), "{lock}: {name} has no checksum");
            // npm leaves out addresses of the registry (`web/.npmrc`), so an address in the lock file leads elsewhere.
            assert!(package["resolved"].is_null() && package["link"].is_null(), "{lock}: {name} comes from elsewhere");
        }
    }
}
