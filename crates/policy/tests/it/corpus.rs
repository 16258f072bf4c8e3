//! Replays the fuzzer's corpus on the stable compiler.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use tar::Archive;

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
