//! What the fuzzer has kept is read or refused on the stable compiler too.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

extern crate holdpoint_policy as policy;

#[path = "common/any_path.rs"]
mod any_path;
#[path = "common/any_shell.rs"]
mod any_shell;
#[path = "common/any_sql.rs"]
mod any_sql;
#[path = "common/any_url.rs"]
mod any_url;

use std::{fs, path::Path};

fn replay(target: &str, check: fn(&str)) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let mut tried = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            check(text);
            tried += 1;
        }
    }
    assert!(tried >= 100, "{tried} files in the corpus of {target}");
}

#[test]
fn the_corpus_of_commands_is_read_or_refused() {
    replay("shell", any_shell::check);
}

#[test]
fn the_corpus_of_paths_is_read_or_refused() {
    replay("path", any_path::check);
}

#[test]
fn the_corpus_of_urls_is_read_or_refused() {
    replay("url", any_url::check);
}

#[test]
fn the_corpus_of_sql_is_read_or_refused() {
    replay("sql", any_sql::check);
}
