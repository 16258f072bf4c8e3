//! Words of SQL: what serves the grammar, and what is never a name.

use crate::word_list::WordList;

/// Words of the grammar that every database which knows them reads alike. Used as a name, each of them is something else somewhere.
static RESERVED: WordList = WordList::new(include_str!("../../data/sql/reserved.txt"));

/// Words of the grammar that are names as well: types, units, and what stands only where no name can.
static UNRESERVED: WordList = WordList::new(include_str!("../../data/sql/unreserved.txt"));

/// Words that begin a statement, bind two values, or change a query in some database: never a sensible name.
static NEVER_NAMES: WordList = WordList::new(include_str!("../../data/sql/never_names.txt"));

/// Words that may stand before a text in quotes; after any other, it is an alias to some and a sort of text to others.
static BEFORE_TEXT: WordList = WordList::new(include_str!("../../data/sql/before_text.txt"));

/// What may follow an alias that stands without `AS`.
static AFTER_ALIAS: WordList = WordList::new(include_str!("../../data/sql/after_alias.txt"));

/// Words that are functions where a bracket follows, and something else where none does.
static FUNCTIONS: WordList = WordList::new(include_str!("../../data/sql/function_words.txt"));

/// Says whether a word, in capitals, serves the grammar.
pub(super) fn serves(word: &str) -> bool {
    RESERVED.contains(word) || UNRESERVED.contains(word)
}

/// Says whether a word serves the grammar and nothing else.
pub(super) fn hard(word: &str) -> bool {
    RESERVED.contains(word)
}

/// Says whether a word is a name in no database that is to be understood.
pub(super) fn never(word: &str) -> bool {
    RESERVED.contains(word) || NEVER_NAMES.contains(word) || word.starts_with("SQL_")
}

pub(super) fn function(word: &str) -> bool {
    FUNCTIONS.contains(word)
}

pub(super) fn before_text(word: &str) -> bool {
    BEFORE_TEXT.contains(word)
}

pub(super) fn after_alias(word: &str) -> bool {
    AFTER_ALIAS.contains(word)
}

/// Says whether a word is a unit of time.
pub(super) fn unit(word: &str) -> bool {
    matches!(
        word,
        "MICROSECOND" | "MILLISECOND" | "SECOND" | "MINUTE" | "HOUR" | "DAY" | "WEEK" | "MONTH" | "QUARTER" | "YEAR"
    )
}
