//! Reads a policy from a text, or gives all errors in it.

use std::collections::HashMap;

use domain::{Digest, Verdict};
use toml::de::DeTable;

use crate::{
    ExampleResult, Finding, Policy,
    document::{Located, Table, listed},
    example::{self, Example},
    finding::Findings,
    index::Index,
    lint,
    read_rule::{self, ReadRule},
    read_tool,
};

/// Largest file, in bytes.
const MOST_BYTES: usize = 256 << 10;
/// Largest number of rules in a file.
const MOST_RULES: usize = 5_000;
/// Largest number of patterns of `matches` in a file: compiling them is the most expensive part of loading.
const MOST_REGEXES: usize = 200;
/// Size of the stack on which a file is read, in bytes: its parsers recurse.
pub(crate) const STACK: usize = 64 << 20;

/// The kind of a policy file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    /// The policy of a project or of the server.
    Policy,
    /// A policy that was put in force by an earlier version of the program.
    Stored,
    /// The floor of the server.
    Floor,
    /// A floor that was put in force by an earlier version of the program.
    StoredFloor,
}

impl FileKind {
    /// Says whether the file is in force already, so that rules which have become errors are kept.
    const fn is_stored(self) -> bool {
        matches!(self, Self::Stored | Self::StoredFloor)
    }
}

/// A policy or the reason why it is refused, and the results of its examples.
type Read = (Result<Policy, Vec<Finding>>, Vec<ExampleResult>);

/// Reads a policy.
pub(crate) fn load(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    load_as(FileKind::Policy, file, text).0
}

/// Reads a policy that is in force. A rule that has become an error is kept and allows nothing.
pub(crate) fn load_stored(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    load_as(FileKind::Stored, file, text).0
}

/// Reads a floor.
pub(crate) fn load_floor(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    load_as(FileKind::Floor, file, text).0
}

/// Reads a floor that is in force. A rule that has become an error is kept: one that allows matches nothing, others stay as they are.
pub(crate) fn load_stored_floor(file: &str, text: &str) -> Result<Policy, Vec<Finding>> {
    load_as(FileKind::StoredFloor, file, text).0
}

/// Reads a policy, and gives the results of its examples.
pub(crate) fn test(text: &str) -> Vec<ExampleResult> {
    load_as(FileKind::Policy, "", text).1
}

/// Reads a file on a stack that its parsers cannot exhaust.
fn load_as(kind: FileKind, file: &str, text: &str) -> Read {
    let mut findings = Findings::new(file, "");
    if text.len() > MOST_BYTES {
        findings.error(0, "too_large", format!("the file has more than {MOST_BYTES} bytes"));
        return (Err(findings.into_sorted()), Vec::new());
    }
    let read = std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().name("policy".into()).stack_size(STACK);
        let read = || {
            let mut results = Vec::new();
            (read(kind, file, text, &mut results), results)
        };
        reader.spawn_scoped(scope, read).map(std::thread::ScopedJoinHandle::join)
    });
    if let Ok(Ok(read)) = read {
        return read;
    }
    findings.error(0, "unreadable", "the file could not be read; this is a fault of Holdpoint");
    (Err(findings.into_sorted()), Vec::new())
}

fn read(kind: FileKind, file: &str, text: &str, results: &mut Vec<ExampleResult>) -> Result<Policy, Vec<Finding>> {
    let mut findings = Findings::new(file, text);
    if kind.is_stored() {
        findings.tolerate();
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        findings.error(error.span().map_or(0, |span| span.start), "not_toml", error.message());
    }
    if findings.has_error() {
        return Err(findings.into_sorted());
    }
    let root = Table::new("the file", &document);
    root.only(&["version", "default", "rule", "tool"], &mut findings);
    read_version(&root, &mut findings);
    let default = match kind {
        FileKind::Policy | FileKind::Stored => read_default(&root, &mut findings),
        FileKind::Floor | FileKind::StoredFloor => {
            refuse_in_floor(&root, &mut findings);
            Verdict::Allow
        }
    };
    let tools = read_tool::read(&root, &mut findings);
    let drafts = read_rules(&root, &mut findings);
    let whole = !findings.has_error();
    let places: Vec<_> = drafts.iter().map(|draft| draft.places.clone()).collect();
    let mut examples: Vec<Example> = Vec::new();
    let mut rules = Vec::with_capacity(drafts.len());
    for (number, draft) in drafts.into_iter().enumerate() {
        examples.extend(draft.examples.into_iter().map(|example| example.of_rule(number)));
        rules.push(draft.rule);
    }
    let version = Digest::of_bytes(text.as_bytes()).to_string();
    let index = Index::of(&rules);
    let mut policy = Policy { text: text.to_owned(), version, default, rules, index, tools, warnings: Vec::new() };
    lint::lint(&policy, &places, &examples, &mut findings);
    if whole {
        *results = example::prove(&policy, &examples, &mut findings);
    }
    if findings.has_error() {
        return Err(findings.into_sorted());
    }
    policy.warnings = findings.into_sorted();
    Ok(policy)
}

fn read_version(root: &Table<'_>, findings: &mut Findings<'_>) {
    if !root.has("version") {
        findings.error(0, "missing_key", "the file needs `version = 1`");
    }
    if let Some(version) = root.whole("version", findings)
        && version.it != 1
    {
        findings.error(version.at, "unknown_version", format!("`version` must be 1, not {}", version.it));
    }
}

/// Refuses the keys that a floor does not have. A floor only makes rulings stricter: it leaves calls that no rule
/// matches to the policy, and declares no tools.
fn refuse_in_floor(root: &Table<'_>, findings: &mut Findings<'_>) {
    if root.has("default") {
        let message =
            "a floor has no `default`: a call that none of its rules matches is left to the policy of the project";
        findings.error(root.place("default"), "floor_default", message);
    }
    if root.has("tool") {
        let message = "a floor declares no tools: declare them in the policy";
        findings.error(root.place("tool"), "floor_tool", message);
    }
}

fn read_default(root: &Table<'_>, findings: &mut Findings<'_>) -> Verdict {
    let Some(text) = root.text("default", findings) else { return Verdict::Ask };
    match verdict(&text, "default", findings) {
        Some(Verdict::Allow) => {
            findings.error(
                text.at,
                "default_allows",
                "`default` must be `ask` or `deny`: a call that no rule matches is never allowed",
            );
            Verdict::Ask
        }
        read => read.unwrap_or(Verdict::Ask),
    }
}

/// The verdict of this name.
pub(crate) fn verdict(text: &Located<&str>, key: &str, findings: &mut Findings<'_>) -> Option<Verdict> {
    let found = Verdict::ALL.into_iter().find(|verdict| verdict.name() == text.it);
    if found.is_none() {
        let names = listed(&Verdict::ALL.map(Verdict::name));
        findings.error(text.at, "unknown_verdict", format!("`{key}` must be one of {names}"));
    }
    found
}

fn read_rules(root: &Table<'_>, findings: &mut Findings<'_>) -> Vec<ReadRule> {
    let tables = root.tables("rule", "a rule", findings);
    if tables.len() > MOST_RULES {
        findings.error(root.place("rule"), "too_many_rules", format!("the file has more than {MOST_RULES} rules"));
        return Vec::new();
    }
    let mut regexes = MOST_REGEXES;
    let drafts: Vec<ReadRule> =
        tables.iter().filter_map(|table| read_rule::read(table, &mut regexes, findings)).collect();
    let mut names: HashMap<&str, usize> = HashMap::new();
    for draft in &drafts {
        if let Some(first) = names.insert(&draft.rule.name, draft.rule.line) {
            let message = format!("rule `{}` has the name of the rule in line {first}", draft.rule.name);
            findings.error(draft.places.name, "duplicate_name", message);
        }
    }
    drafts
}
