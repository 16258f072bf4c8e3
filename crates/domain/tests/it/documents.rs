//! Checks the documents of the repository: kinds, links, and the paths that they name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Kinds of document. The first line of each document in `docs` begins with one of them, and in other documents the line
/// below the title does. The README of the repository has none.
const KINDS: [&str; 4] = ["*Get started.* ", "*How to.* ", "*Reference.* ", "*Why it is so.* "];
/// Folders that the paths of the architecture page are relative to.
const BASES: [&str; 3] = ["", "crates", "crates/engine/src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown file of the repository that people read as documentation.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = vec![root.join("web/README.md")];
    for folder in ["", "docs", "docs/guides", "docs/decisions"] {
        let files = fs::read_dir(root.join(folder)).unwrap().map(|file| file.unwrap().path());
        found.extend(files.filter(|file| file.extension().is_some_and(|end| end == "md")));
    }
    found.sort();
    found
}

fn report(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

#[test]
fn each_document_says_its_kind() {
    let mut findings = Vec::new();
    for file in documents().iter().filter(|file| **file != root().join("README.md")) {
        let text = fs::read_to_string(file).unwrap();
        let lines = if file.starts_with(root().join("docs")) { 1 } else { 3 };
        if !text.lines().take(lines).any(|line| KINDS.iter().any(|kind| line.starts_with(kind))) {
            findings.push(format!("{}: the first {lines} lines name none of {KINDS:?}", file.display()));
        }
    }
    report(&findings);
}

#[test]
fn the_list_of_documents_is_complete() {
    let docs = root().join("docs");
    let list = fs::read_to_string(docs.join("README.md")).unwrap();
    let mut findings = Vec::new();
    for file in documents() {
        let Ok(name) = file.strip_prefix(&docs) else { continue };
        let name = name.to_str().unwrap();
        if name != "README.md" && !name.starts_with("decisions/") && !list.contains(&format!("]({name})")) {
            findings.push(format!("docs/README.md does not list {name}"));
        }
    }
    report(&findings);
}

#[test]
fn every_link_leads_somewhere() {
    let (mut findings, mut found) = (Vec::new(), 0);
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap();
        for link in links(&text) {
            found += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let leads = target.exists() && (anchor.is_empty() || anchors(&target).contains(anchor));
            if !leads {
                findings.push(format!("{}: {link} leads nowhere", file.display()));
            }
        }
    }
    assert!(found > 100, "{found} links");
    report(&findings);
}

/// Links of a document to other files of the repository and to its own headings.
fn links(text: &str) -> Vec<&str> {
    let ends = text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
    ends.filter(|link| !link.contains("://") && !link.contains(' ')).collect()
}

/// Anchors of the headings of a document.
fn anchors(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// Each path of the architecture page and of the page for contributors exists. A name without a folder, such as `caller.rs`, is beside a file that its paragraph named before.
#[test]
fn every_path_of_the_pages_for_contributors_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let text = format!("{text}\n\n{contributing}");
    let (mut findings, mut found) = (Vec::new(), 0);
    for paragraph in text.split("\n\n").flat_map(|part| part.split("\n| ")) {
        let mut folders: Vec<PathBuf> = BASES.iter().map(|base| root().join(base)).collect();
        for code in paragraph.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            for path in alternatives(code) {
                found += 1;
                let Some(there) = folders.iter().find_map(|folder| matching(folder, &path)) else {
                    findings.push(format!("{path} does not exist, or its paragraph does not say where"));
                    continue;
                };
                folders.extend([there.parent().unwrap().to_owned(), there.with_extension("")]);
            }
        }
    }
    assert!(found > 150, "{found} paths");
    report(&findings);
}

/// The path of an answer passes at most this many files from the socket to the commit, without the types and rules of this crate.
const MOST_FILES_OF_AN_ANSWER: usize = 30;

/// Steps 1 to 6 of "A person answers" name as many files as the page says.
#[test]
fn path_of_an_answer_passes_the_number_of_files_that_the_page_states() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## ").find(|section| section.starts_with("A person answers")).unwrap();
    let stated =
        section.split_once(" files, which steps 1 to 6 name").and_then(|(before, _)| before.rsplit(' ').next());
    let steps = section.split_once("\n1. ").and_then(|(_, rest)| rest.split_once("\n7. ")).unwrap().0;
    let mut folders: Vec<PathBuf> = BASES.iter().map(|base| root().join(base)).collect();
    let mut files = BTreeSet::new();
    for path in steps.split('`').skip(1).step_by(2).filter(|code| code.strip_suffix(".rs").is_some()) {
        let there = folders.iter().find_map(|folder| matching(folder, path)).unwrap();
        folders.extend([there.parent().unwrap().to_owned(), there.with_extension("")]);
        files.insert(there.canonicalize().unwrap());
    }
    assert_eq!(stated, Some(files.len().to_string().as_str()), "{files:#?}");
    assert!(files.len() <= MOST_FILES_OF_AN_ANSWER, "{} files", files.len());
}

/// Each path in any document that begins with a folder of the repository exists.
#[test]
fn every_path_of_a_document_exists() {
    let (mut findings, mut found) = (Vec::new(), 0);
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap();
        for code in text.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            if !["crates/", "docs/", "scripts/", "examples/"].iter().any(|folder| code.starts_with(folder)) {
                continue;
            }
            found += 1;
            for path in alternatives(code).iter().filter(|path| matching(&root(), path).is_none()) {
                findings.push(format!("{}: {path} does not exist", file.display()));
            }
        }
    }
    assert!(found > 30, "{found} paths");
    report(&findings);
}

fn is_path(code: &str) -> bool {
    let plain = code.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-./*{},<>".contains(sign));
    let is_file = [".rs", ".ts", ".md", ".toml", ".json"].iter().any(|end| code.ends_with(end));
    let is_folder = code.contains('/') && !code.starts_with('/') && !code.contains("//");
    plain && (is_file || is_folder) && !code.starts_with('/') && !code.starts_with("target/")
}

/// Paths that a name with braces stands for: `{a,b}.rs` is `a.rs` and `b.rs`.
fn alternatives(code: &str) -> Vec<String> {
    let Some((before, rest)) = code.split_once('{') else { return vec![code.to_owned()] };
    let (names, after) = rest.split_once('}').unwrap();
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

/// File or folder below `folder` that a path names. `*` and `<noun>` stand for any part of a name.
fn matching(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for part in path.trim_end_matches('/').split('/') {
        let Some((before, rest)) = part.split_once(['*', '<']) else {
            found = found.into_iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect();
            continue;
        };
        let after = rest.split_once('>').map_or(rest, |(_, after)| after);
        let fits = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with(before) && name.ends_with(after)
        };
        let inside = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        found = found.into_iter().flat_map(inside).filter(fits).collect();
    }
    found.into_iter().next()
}
