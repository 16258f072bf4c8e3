//! Tests that the error codes and their documentation agree.

use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../../docs/errors.md");
const SOURCE: &str = include_str!("../../../src/error.rs");

/// Each code has a heading with a text below it, and each heading is a code.
#[test]
fn error_page_describes_exactly_the_error_codes() {
    let mut sections = PAGE.split("\n## ").skip(1).map(|section| section.split_once('\n').unwrap());
    let headings: Vec<&str> = sections.clone().map(|(heading, _)| heading.trim().trim_matches('`')).collect();
    let mut sorted = headings.clone();
    sorted.sort_unstable();
    assert_eq!(headings, sorted, "the headings are in alphabetical order");
    let mut codes = server::CODES.to_vec();
    codes.sort_unstable();
    assert_eq!(headings, codes);
    assert!(sections.all(|(_, text)| text.contains('.')), "each heading has a text");
}

/// The source file lists each code that it sends, once.
#[test]
fn error_source_sends_exactly_the_listed_codes() {
    let listed: BTreeSet<&str> = server::CODES.iter().copied().collect();
    assert_eq!(listed.len(), server::CODES.len(), "a code is listed twice");
    let arms = SOURCE.split("(S::").skip(1).map(|arm| arm.split('"').nth(1).unwrap());
    assert_eq!(arms.collect::<BTreeSet<_>>(), listed);
}
