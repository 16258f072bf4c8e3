//! `git config`, which reads a setting, or changes what git runs later.

use super::is_harmless_setting;
use crate::shell::collector::Collector;
use crate::shell::word::Word;

/// Options and subcommands that only show settings. Git refuses a second action beside one of these.
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

/// Options that choose the settings file.
const SCOPES: &[&str] = &["--local", "--global", "--system", "--worktree"];

/// Adds a doubt unless the words only read, or are exactly `[--local] KEY [VALUE]` with a key that runs no program.
///
/// Every other shape is in doubt: an option may take the word that looks like the key (`--comment user.name core.pager x`), and
/// `--rename-section` turns a harmless setting into one that runs a program.
pub(super) fn inspect(collector: &mut Collector, args: &[Word]) {
    let words: Vec<&str> = args.iter().map(|word| word.text.as_str()).collect();
    let scoped = words.split_first().filter(|(first, _)| SCOPES.contains(first)).map_or(&words[..], |(_, rest)| rest);
    if scoped.first().is_some_and(|first| READING.contains(first)) {
        return;
    }
    let local = words.strip_prefix(&["--local"]).unwrap_or(&words);
    match local {
        [key] | [key, _] if !is_harmless_setting(key) => {
            collector.add_doubt(format!("the setting `{key}` may make `git` run another program"));
        }
        [_] => {}
        [_, value] if !value.starts_with('-') => {}
        _ => collector.add_doubt("the change by `git config` is not known"),
    }
}
