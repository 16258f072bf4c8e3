//! Built-in commands of shells that evaluate their words once more, or change the meaning of later words.

use super::collector::Collector;
use super::word::Word;
use crate::word_list::WordList;

/// Built-in commands that are always in doubt.
static ALWAYS_IN_DOUBT: WordList = WordList::new(include_str!("../../data/shell/doubtful_builtins.txt"));

/// Words of `set` that only make a shell stricter or more verbose.
static STRICTNESS: WordList = WordList::new(include_str!("../../data/shell/strictness_options.txt"));

/// Adds a doubt if a built-in command could do more than its words say. Quotes do not help: `test -v 'a[$(x)]'` runs `x`.
pub(super) fn inspect(collector: &mut Collector, name: &str, words: &[Word]) {
    let args = words.get(1..).unwrap_or_default();
    let risky = ALWAYS_IN_DOUBT.contains(name)
        || match name {
            "test" => args.iter().any(|word| evaluates(&word.text) || matches!(word.text.as_str(), "-v" | "-R")),
            "printf" => args.iter().any(|word| word.text.starts_with("-v") || sets(&word.text)),
            "export" | "readonly" | "unset" => !args.iter().all(|word| names(&word.text)),
            "wait" => !args.iter().all(|word| word.text.trim_start_matches('%').chars().all(|c| c.is_ascii_digit())),
            "source" | "." => args.iter().any(|word| evaluates(&word.text)),
            "set" => !args.iter().all(|word| STRICTNESS.contains(&word.text)),
            _ => false,
        };
    if risky {
        collector.add_doubt(format!("`{name}` may run its words, or change what the words after it mean"));
    }
}

/// Says whether a format of `printf` has `%n`, which sets a variable.
fn sets(format: &str) -> bool {
    let between = |c: char| c.is_ascii_digit() || "-+ #'.*$".contains(c);
    format.split('%').skip(1).any(|rest| {
        rest.trim_start_matches(between).trim_start_matches(['h', 'l', 'j', 'z', 't', 'L']).starts_with('n')
    })
}

/// Says whether a text would run a command if it were evaluated.
pub(super) fn evaluates(text: &str) -> bool {
    text.contains(['[', '`']) || text.contains("$(")
}

/// Says whether a word is `NAME` or `NAME=value`, with nothing that could be evaluated.
fn names(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    letters && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && !evaluates(text)
}
