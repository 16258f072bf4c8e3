//! What has to hold for any text that is tried as a path.

use policy::{PathFacts, under};

/// Tries a text.
pub(crate) fn check(path: &str) {
    let Ok(facts) = PathFacts::parse(path) else { return };
    let again = PathFacts::parse(&facts.canonical).map(|again| (again.canonical, again.absolute));
    assert_eq!(again, Ok((facts.canonical.clone(), facts.absolute)), "a canonical path stays as it is");
    assert_eq!(under(path, path), Ok(!facts.escapes));
    assert!(!facts.components.iter().any(|part| part.is_empty() || part == "."));
    assert_eq!(under(path, "/safe"), Ok(facts.canonical == "/safe" || facts.canonical.starts_with("/safe/")));
}
