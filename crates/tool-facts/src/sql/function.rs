//! Functions that only compute. Every other one may sleep, write, read files or call out.

use crate::word_list::WordList;

static PURE: WordList = WordList::new(include_str!("../../data/sql/pure_functions.txt"));

/// Says whether a function only computes.
pub(super) fn pure(name: &str) -> bool {
    PURE.contains(name)
}
