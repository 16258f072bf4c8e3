//! Names of files and directories that decide what runs later: hooks, tasks, settings, start files.

use crate::word_list::WordList;

/// Complete names, in lower case.
static NAMES: WordList = WordList::new(include_str!("../../data/path/steering.txt"));

/// Beginnings of names with several endings: `.mise.local.toml`, `.pnpmfile.mjs`, `.aider.model.settings.yml`.
const BEGINNINGS: &[&str] = &[".mise.", ".pnpmfile.", ".aider."];

/// Says whether a component of a path, in lower case, names a file or directory that decides what runs later. `x.git` is a bare repository,
/// with hooks and settings as in `.git`.
#[expect(clippy::case_sensitive_file_extension_comparisons, reason = "the component is in lower case")]
pub(crate) fn is_steering(part: &str) -> bool {
    // Windows reads `.git.` as `.git`. It also reads `git~1` as `.git` if that is the first file with such a short name.
    let part = if part.trim_end_matches('.').is_empty() { part } else { part.trim_end_matches('.') };
    part == "git~1"
        || NAMES.contains(part)
        || part.ends_with(".git")
        || BEGINNINGS.iter().any(|begin| part.starts_with(begin))
}
