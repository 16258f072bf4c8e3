//! Programs that run something in a manner that nobody relies on here; what their words tell of it is listed all the same.

use crate::word_list::WordList;

/// Their names. No such list is ever whole: what is on none of ours is taken for the program itself, and a rule has to name it.
static NAMES: WordList = WordList::new(include_str!("../../data/shell/unread_runners.txt"));

/// Says whether a program is one of them.
pub(super) fn is(name: &str) -> bool {
    NAMES.contains(name)
}
