//! Names of files and directories that decide what runs later: hooks, tasks, settings, start files.

use crate::word_list::WordList;

/// Complete names, in lower case.
static NAMES: WordList = WordList::new(include_str!("../../data/path/steering.txt"));

/// Beginnings of names with several endings: `.mise.local.toml`, `.pnpmfile.mjs`, `.aider.model.settings.yml`.
const BEGINNINGS: &[&str] = &[".mise.", ".pnpmfile.", ".aider."];

/// Endings of names: bare repositories, with hooks and settings as in `.git`, workspaces of editors, and start files of Python.
const ENDINGS: &[&str] = &[".git", ".code-workspace", ".pth"];

/// Largest number of wildcards of a component that is compared. One with more may be any name.
const MOST_STARS: usize = 4;

/// Says whether a component of a path, in lower case, names a file or directory that decides what runs later.
pub(crate) fn is_steering(part: &str) -> bool {
    // Windows reads `.git.` as `.git`. It also reads `git~1` as `.git` if that is the first file with such a short name.
    let part = if part.trim_end_matches('.').is_empty() { part } else { part.trim_end_matches('.') };
    part == "git~1"
        || NAMES.contains(part)
        || ENDINGS.iter().any(|end| part.ends_with(end))
        || BEGINNINGS.iter().any(|begin| part.starts_with(begin))
}

/// Says whether a component of a path may name a file or directory that decides what runs later. `*` and `?` stand for characters that are not
/// known.
#[must_use]
pub fn may_steer(component: &str) -> bool {
    let part = component.to_lowercase();
    if !part.contains(['*', '?']) {
        return is_steering(&part);
    }
    let (start, end) =
        (part.split(['*', '?']).next().unwrap_or_default(), part.rsplit(['*', '?']).next().unwrap_or_default());
    let end = end.trim_end_matches('.');
    let ends_alike = ENDINGS.iter().any(|known| end.ends_with(known) || known.ends_with(end));
    // A leading wildcard stands for no leading dot.
    let starts_alike = |begin: &str| !start.is_empty() && (start.starts_with(begin) || begin.starts_with(start));
    let mut signs: Vec<char> = part.chars().collect();
    signs.dedup_by(|one, other| *one == '*' && *other == '*');
    signs.iter().filter(|sign| **sign == '*').count() > MOST_STARS
        || ends_alike
        || "git~1".starts_with(start) && !start.is_empty()
        || BEGINNINGS.iter().any(|begin| starts_alike(begin))
        || NAMES.any(|name| matches(&signs, &name.chars().collect::<Vec<_>>()))
}

/// Says whether a text matches signs of which `*` and `?` are wildcards.
fn matches(signs: &[char], text: &[char]) -> bool {
    match (signs.split_first(), text.split_first()) {
        (None, None) => true,
        (Some(('*', rest)), _) => {
            matches(rest, text) || text.split_first().is_some_and(|(_, text)| matches(signs, text))
        }
        (Some((sign, rest)), Some((c, text))) => (*sign == '?' || sign == c) && matches(rest, text),
        _ => false,
    }
}
