//! Replays the fuzzer's corpus and the named regressions on the stable compiler.
//!
//! Each line of `regressions.txt` is a text with the reason why it is read or refused. The archive has the inputs that widened the coverage of
//! the fuzzer; the example `minimise_corpus` removes those that are read like another one.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use policy::Policy;
use tar::Archive;
use tool_facts::{PathFacts, Shell, Sql, UrlFacts};

use crate::common::{any_path, any_policy, any_shell, any_sql, any_url};

/// Checks every text of a fuzz target in the archive.
fn replay(target: &str, check: fn(&str)) {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus.tar.gz");
    let mut archive = Archive::new(GzDecoder::new(File::open(archive).unwrap()));
    let directory = Path::new("corpus").join(target);
    let mut tried = 0;
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if !entry.path().unwrap().starts_with(&directory) {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check(text);
            tried += 1;
        }
    }
    assert!(tried >= 100, "{tried} texts in the corpus of {target}");
}

#[test]
fn every_command_of_the_corpus_is_parsed_or_refused() {
    replay("shell", any_shell::check);
}

#[test]
fn every_path_of_the_corpus_is_parsed_or_refused() {
    replay("path", any_path::check);
}

#[test]
fn every_url_of_the_corpus_is_parsed_or_refused() {
    replay("url", any_url::check);
}

#[test]
fn every_sql_text_of_the_corpus_is_parsed_or_refused() {
    replay("sql", any_sql::check);
}

#[test]
fn every_policy_of_the_corpus_is_loaded_or_refused() {
    replay("policy", any_policy::check);
}

#[test]
fn named_regressions_are_read_or_refused() {
    let lines = include_str!("regressions.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut wrong = Vec::new();
    for line in lines {
        let [target, text, expected, story] = line.splitn(4, " | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (text, times) = text.split_once(" * ").map_or((text, 1), |(text, times)| (text, times.parse().unwrap()));
        let text = serde_json::from_str::<String>(text).unwrap().repeat(times);
        let (check, is_read): (fn(&str), bool) = match target {
            "shell" => (any_shell::check, Shell::parse(&text).is_ok_and(|shell| shell.doubt.is_none())),
            "path" => (any_path::check, PathFacts::parse(&text).is_ok()),
            "url" => (any_url::check, UrlFacts::parse(&text, "GET").is_ok()),
            "sql" => (any_sql::check, Sql::parse(&text).is_ok()),
            "policy" => (any_policy::check, Policy::load("policy.toml", &text).is_ok()),
            other => panic!("no target {other}"),
        };
        check(&text);
        if expected != if is_read { "read" } else { "refused" } {
            wrong.push(format!("{target}: {story}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
