//! Policies to start from, which are part of the binary.

/// The policies by name, in the order in which they are offered.
const PRESETS: [(&str, &str); 4] = [
    ("coding", include_str!("../presets/coding.toml")),
    ("data", include_str!("../presets/data.toml")),
    ("support", include_str!("../presets/support.toml")),
    ("operations", include_str!("../presets/operations.toml")),
];

/// Text of the policy to start from of this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Names of the policies to start from.
pub fn presets() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    use super::*;

    #[test]
    fn presets_can_be_loaded_and_their_examples_pass() {
        for name in presets() {
            let text = preset(name).unwrap();
            let examples = Policy::test(text);
            assert!(!examples.is_empty(), "{name} has no examples, or errors");
            let failed: Vec<_> = examples.into_iter().filter(|example| !example.is_passed()).collect();
            assert_eq!(failed, [], "{name}");
            assert!(Policy::load(name, text).is_ok(), "{name}");
        }
    }

    #[test]
    fn name_of_no_preset_gives_none() {
        assert_eq!(preset("Coding"), None);
        assert_eq!(preset(""), None);
    }
}
