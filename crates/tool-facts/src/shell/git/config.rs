//! `git config`, which reads a setting, or decides what git runs from then on.

use super::harmless;
use crate::shell::walk::Walk;
use crate::shell::word::Word;

/// Options and subcommands that only show settings. Git refuses a second action beside one of them.
const READING: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--get-urlmatch",
    "--get-color",
    "--get-colorbool",
    "get",
    "--list",
    "-l",
    "list",
];

/// Options that choose the file a setting is read from.
const SCOPES: &[&str] = &["--local", "--global", "--system", "--worktree"];

/// Notes a doubt unless the words only read, or are exactly `[--local] KEY [VALUE]` with a key that runs nothing.
///
/// Every other shape is in doubt: an option may take the word that looks like the key (`--comment user.name core.pager x`), and
/// `--rename-section` turns a harmless setting into one that runs a program.
pub(super) fn look(walk: &mut Walk, args: &[Word]) {
    let words: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let scoped = words.split_first().filter(|(first, _)| SCOPES.contains(first)).map_or(&words[..], |(_, rest)| rest);
    if scoped.first().is_some_and(|first| READING.contains(first)) {
        return;
    }
    let local = words.strip_prefix(&["--local"]).unwrap_or(&words);
    match local {
        [key] | [key, _] if !harmless(key) => {
            walk.doubt(format!("the setting `{key}` may make `git` run another program"));
        }
        [_] => {}
        [_, value] if !value.starts_with('-') => {}
        _ => walk.doubt("what `git config` changes is not known"),
    }
}
