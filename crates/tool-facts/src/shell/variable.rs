//! Environment variables that may change which program runs. All variables count as such, except the harmless ones on a list.

use crate::word_list::WordList;

/// Names of variables that change only language, colours, numbers and verbosity. Case matters.
static HARMLESS: WordList = WordList::new(include_str!("../../data/shell/harmless_variables.txt"));

/// Says whether setting a variable may change which program a command runs, or which file it reads first.
#[must_use]
pub fn may_steer(name: &str, value: &str) -> bool {
    let known = HARMLESS.contains(name)
        || name.strip_prefix("LC_").is_some_and(|rest| rest.chars().all(|c| c.is_ascii_uppercase()));
    // A language, a time zone or a terminal may be given as the path of a file.
    !known || value.starts_with(['/', ':', '~', '.']) || value.contains("..")
}
