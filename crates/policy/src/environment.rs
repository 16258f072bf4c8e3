//! Checks of the client and the root directory that a key names.

use tool_facts::{Catalogue, PathFacts};

/// Says whether the catalogue declares the tools of this client.
#[must_use]
pub fn is_client(name: &str) -> bool {
    clients().contains(&name)
}

/// The names of the clients in the catalogue, in byte order.
#[must_use]
pub fn clients() -> &'static [&'static str] {
    Catalogue::clients()
}

/// Says whether a text can be the root of relative patterns: an absolute path in its canonical form, below the root of the file system.
#[must_use]
pub fn is_root(path: &str) -> bool {
    PathFacts::parse(path)
        .is_ok_and(|facts| facts.absolute && !facts.escapes && !facts.components.is_empty() && facts.canonical == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_a_canonical_absolute_path_below_the_top() {
        for (path, expected) in [
            ("/srv/app", true),
            ("/srv", true),
            ("/", false),
            ("", false),
            ("srv/app", false),
            ("/srv/app/", false),
            ("/srv//app", false),
            ("/srv/../etc", false),
            ("/srv/./app", false),
            ("~/app", false),
            ("/srv/$APP", false),
            ("/srv/app\n", false),
        ] {
            assert_eq!(is_root(path), expected, "{path}");
        }
    }

    #[test]
    fn client_is_one_of_the_catalogue() {
        assert!(is_client("claude-code") && is_client("holdpoint"));
        assert!(!is_client("Claude-Code") && !is_client("") && !is_client("unknown"));
    }
}
