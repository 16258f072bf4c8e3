//! Word lists and option tables, which are data files under `data/`.
//!
//! A list of more than ten words is a text file: a comment that says what the list is and who reads it, then one word a line in byte order.
//! A table, which gives the options of each program and their meaning, is TOML. Both are embedded in the binary and parsed once, at first use.
//! `tests/it/data.rs` checks that every file is sorted, free of duplicates and not empty; the tests of commands parse every table.

use std::collections::HashSet;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;

/// A set of words from a data file.
pub(crate) struct WordList {
    text: &'static str,
    words: OnceLock<HashSet<&'static str>>,
}

impl WordList {
    /// Takes the text of a data file. Every line is a word, apart from empty lines and comments (`# `).
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, words: OnceLock::new() }
    }

    /// Says whether a word is on the list, as it is written there.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.words().contains(word)
    }

    /// Says whether any word of the list satisfies a condition.
    pub(crate) fn any(&self, mut condition: impl FnMut(&str) -> bool) -> bool {
        self.words().iter().any(|word| condition(word))
    }

    fn words(&self) -> &HashSet<&'static str> {
        self.words
            .get_or_init(|| self.text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")).collect())
    }
}

/// Parses an embedded table.
#[expect(
    clippy::panic,
    reason = "a table without its rows would let programs through; the tests of commands parse every table"
)]
pub(crate) fn parse_table<T: DeserializeOwned>(text: &'static str) -> T {
    match toml::from_str(text) {
        Ok(table) => table,
        Err(error) => panic!("an embedded table cannot be parsed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_list_has_its_lines_without_comments() {
        static LIST: WordList = WordList::new("# What it is.\n\na\n.\n");
        assert!(LIST.contains("a") && LIST.contains("."));
        assert!(!LIST.contains("") && !LIST.contains("# What it is.") && !LIST.contains("b"));
        assert!(LIST.any(|word| "abc".starts_with(word)));
    }
}
