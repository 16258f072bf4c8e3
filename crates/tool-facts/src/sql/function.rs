//! SQL functions that only compute. Every other function may sleep, write, read files or open connections.

use crate::word_list::WordList;

static PURE: WordList = WordList::new(include_str!("../../data/sql/pure_functions.txt"));

/// Says whether a function only computes.
pub(super) fn is_pure(name: &str) -> bool {
    PURE.contains(name)
}
