//! Programs that run another command in a way that this crate does not parse. A call of such a program is in doubt; the command is listed as far
//! as the words of the call show it.

use crate::word_list::WordList;

/// Names of these programs. The list cannot be complete: a program on no list counts as an ordinary program, and a
/// rule has to name it.
static NAMES: WordList = WordList::new(include_str!("../../data/shell/unread_runners.txt"));

/// Says whether a program is one of these.
pub(super) fn is_unread(name: &str) -> bool {
    NAMES.contains(name)
}
