//! What the fuzzer has kept is loaded or refused on the stable compiler too.

extern crate holdpoint_policy as policy;

#[path = "common/any_policy.rs"]
mod any_policy;

use std::{fs, path::Path};

#[test]
fn the_corpus_of_policies_is_loaded_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/policy");
    let mut tried = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            any_policy::check(text);
            tried += 1;
        }
    }
    assert!(tried >= 100, "{tried} files in the corpus");
}
