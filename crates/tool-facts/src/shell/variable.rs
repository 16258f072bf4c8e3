//! Variables that change which program runs, or make a program run another: all but those that are known not to.

use crate::word_list::WordList;

/// Names, as they are written, of what only says in which language, colours, numbers and manner a program speaks.
static HARMLESS: WordList = WordList::new(include_str!("../../data/shell/harmless_variables.txt"));

/// Says whether setting a variable may change which program a command runs, or what it reads first.
pub(super) fn steers(name: &str, value: &str) -> bool {
    let known = HARMLESS.contains(name)
        || name.strip_prefix("LC_").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_uppercase()));
    // A language, a time zone or a terminal may be named by the path of its file.
    !known || value.starts_with(['/', ':', '~', '.']) || value.contains("..")
}
