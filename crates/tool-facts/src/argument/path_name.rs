//! Names of path arguments that tell only the place of a file, and not its use.
//!
//! Some names also tell the use: `hook_path`, `pipe_to`, `make_target`, `upload_to`. A word that is not on the list may mean that the file is run
//! or sent.

use super::name::words;
use crate::word_list::WordList;

/// Words of which names consist that tell only the place: `old_path`, `target_directory`.
static LOCATION_WORDS: WordList = WordList::new(include_str!("../../data/argument/location_words.txt"));

/// Says whether the name of a path argument tells only where the file is. `pipe_to` and `hook_path` also tell its use.
pub(super) fn only_says_where(written: &str) -> bool {
    let words = words(written);
    let known = |word: &String| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.is_empty() || LOCATION_WORDS.contains(word)
    };
    words.len() <= 1 || words.iter().all(known)
}
