//! Names that say where something is, and nothing of what is done with it.
//!
//! What ends like the name of a path may say more: `hook_path`, `pipe_to`, `make_target`, `upload_to`. Words that are not known here may mean
//! that it is run, or sent.

use super::name::words;
use crate::word_list::WordList;

/// Words of such names: `old_path`, `target_directory`.
static LOCATION_WORDS: WordList = WordList::new(include_str!("../../data/argument/location_words.txt"));

/// Says whether a name that is that of a path tells nothing else: `pipe_to` and `hook_path` do.
pub(super) fn only_names_a_place(written: &str) -> bool {
    let words = words(written);
    let known = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.is_empty() || LOCATION_WORDS.contains(word)
    };
    words.len() <= 1 || words.iter().all(known)
}
