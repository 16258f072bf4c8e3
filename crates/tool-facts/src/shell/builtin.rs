//! Commands of the shell itself that evaluate their words once more, or change what later words mean.

use super::walk::Walk;
use super::word::Word;
use crate::word_list::WordList;

/// Those that are never relied on.
static ALWAYS_IN_DOUBT: WordList = WordList::new(include_str!("../../data/shell/doubtful_builtins.txt"));

/// Notes a doubt where a built-in command could do more than its words say. Quoted words are no safer: `test -v 'a[$(x)]'` runs `x`.
pub(super) fn look(walk: &mut Walk, name: &str, words: &[Word]) {
    let args = words.get(1..).unwrap_or_default();
    let risky = ALWAYS_IN_DOUBT.contains(name)
        || match name {
            "test" => args.iter().any(|word| evaluates(&word.text) || matches!(word.text.as_str(), "-v" | "-R")),
            "printf" => args.iter().any(|word| word.text.starts_with("-v") || sets(&word.text)),
            "export" | "readonly" | "unset" => !args.iter().all(|word| names(&word.text)),
            "wait" => !args.iter().all(|word| word.text.trim_start_matches('%').chars().all(|c| c.is_ascii_digit())),
            "source" | "." => args.iter().any(|word| evaluates(&word.text)),
            "set" => !args.iter().all(|word| strictness(&word.text)),
            _ => false,
        };
    if risky {
        walk.doubt(format!("`{name}` may run its words, or change what the words after it mean"));
    }
}

/// `%n` in a format sets the variable that its word names.
fn sets(format: &str) -> bool {
    let between = |c: char| c.is_ascii_digit() || "-+ #'.*$".contains(c);
    format.split('%').skip(1).any(|rest| {
        rest.trim_start_matches(between).trim_start_matches(['h', 'l', 'j', 'z', 't', 'L']).starts_with('n')
    })
}

/// Says whether a text would run something, were it evaluated.
pub(super) fn evaluates(text: &str) -> bool {
    text.contains(['[', '`']) || text.contains("$(")
}

/// `NAME` or `NAME=value`, and nothing that could be evaluated.
fn names(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or_default();
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    letters && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && !evaluates(text)
}

/// Options of `set` that only make a shell stricter or talkative.
fn strictness(text: &str) -> bool {
    matches!(
        text,
        "-e" | "-u" | "-x" | "-eu" | "-ex" | "-eux" | "-euo" | "-euxo" | "-o" | "pipefail" | "+e" | "+x" | "+u"
    )
}
