//! What has to hold for any text that is tried as a path.

use policy::{PathFacts, under};

/// Tries a text.
pub fn check(path: &str) {
    let Ok(facts) = PathFacts::parse(path) else { return };
    let again = PathFacts::parse(&facts.canonical).expect("a canonical path can be read");
    assert_eq!(again.canonical, facts.canonical, "a canonical path stays as it is");
    assert_eq!(again.absolute, facts.absolute);
    assert_eq!(under(path, path), Ok(!facts.escapes));
    assert!(!facts.components.iter().any(|part| part.is_empty() || part == "."));
    let inside = under(path, "/safe").expect("both can be read");
    assert_eq!(inside, facts.canonical == "/safe" || facts.canonical.starts_with("/safe/"));
}
