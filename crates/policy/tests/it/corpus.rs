//! What the fuzzer has kept is read or refused on the stable compiler too.

use std::{fs, path::Path};

use crate::common::{any_path, any_policy, any_shell, any_sql, any_url};

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

#[test]
fn the_corpus_of_policies_is_loaded_or_refused() {
    replay("policy", any_policy::check);
}
