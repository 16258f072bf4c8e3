//! Keywords of SQL, and words that are never accepted as a name.

use crate::word_list::WordList;

/// Keywords with one meaning in all databases that have them. Used as a name, each has another meaning in some database.
static RESERVED: WordList = WordList::new(include_str!("../../data/sql/reserved.txt"));

/// Keywords that may be names as well: types, units, and words that stand only where no name can.
static UNRESERVED: WordList = WordList::new(include_str!("../../data/sql/unreserved.txt"));

/// Words that begin a statement, join two values, or change a query in some database.
static NEVER_NAMES: WordList = WordList::new(include_str!("../../data/sql/never_names.txt"));

/// Words that may stand before a string literal. After any other word some databases read the literal as an alias.
static BEFORE_TEXT: WordList = WordList::new(include_str!("../../data/sql/before_text.txt"));

/// Words that may follow an alias without `AS`.
static AFTER_ALIAS: WordList = WordList::new(include_str!("../../data/sql/after_alias.txt"));

/// Words that are a function if a bracket follows, and something else if none does.
static FUNCTIONS: WordList = WordList::new(include_str!("../../data/sql/function_words.txt"));

/// Says whether a word, in capitals, is a keyword.
pub(super) fn is_keyword(word: &str) -> bool {
    RESERVED.contains(word) || UNRESERVED.contains(word)
}

/// Says whether a word is a keyword and never a name.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(word)
}

/// Says whether a word is refused as a name.
pub(super) fn is_never_name(word: &str) -> bool {
    RESERVED.contains(word) || NEVER_NAMES.contains(word) || word.starts_with("SQL_")
}

pub(super) fn is_function_word(word: &str) -> bool {
    FUNCTIONS.contains(word)
}

pub(super) fn may_precede_text(word: &str) -> bool {
    BEFORE_TEXT.contains(word)
}

pub(super) fn may_follow_alias(word: &str) -> bool {
    AFTER_ALIAS.contains(word)
}

/// Says whether a word is a unit of time.
pub(super) fn is_time_unit(word: &str) -> bool {
    matches!(
        word,
        "MICROSECOND" | "MILLISECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR"
    )
}
