//! JavaScript package managers: the directory in which they work, and other programs that they run.

use super::collector::{Argv, Collector};
use super::word::Word;
use crate::word_list::WordList;

/// The package managers.
const PROGRAMS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Long options that name another working directory.
const PLACES: &[&str] = &["prefix", "local-prefix", "global-prefix", "dir", "cwd", "cache"];

/// Long options that name a program to run, or a file of settings that may name one.
static RUNNING_OPTIONS: WordList = WordList::new(include_str!("../../data/shell/package_manager_options.txt"));

/// Subcommands that run any program, or change a setting that names one. The programs accept abbreviations.
const SUBCOMMANDS: &[&str] = &["explore", "edit", "config", "c", "set"];

/// Words after `config` that only show settings.
const SHOWING: &[&str] = &["get", "list", "ls"];

/// Marks a change of directory, and adds a doubt if another program may run.
pub(super) fn inspect(collector: &mut Collector, listed: usize, name: &str, argv: &Argv) {
    if !PROGRAMS.contains(&name) {
        return;
    }
    // The words after `--` belong to a script, or to the command of `explore` and `exec`.
    let words = argv.words.iter().skip(1).map_while(|word| (word.text != "--").then_some(word));
    let words: Vec<&Word> = words.collect();
    for word in &words {
        let text = word.text.as_str();
        let option = long_option(text);
        if option.is_some_and(|option| PLACES.iter().any(|whole| whole.starts_with(option))) || text.starts_with("-C") {
            collector.shell.cwd_changed = true;
            if let Some(simple) = collector.shell.commands.get_mut(listed) {
                simple.cwd_changed = true;
            }
        }
        if option.is_some_and(|option| RUNNING_OPTIONS.any(|whole| whole.starts_with(option))) {
            collector.add_doubt(format!("`{name} {text}` may run another program"));
        }
    }
    if let Some(subcommand) = running_subcommand(&words) {
        collector.add_doubt(format!("`{name} {subcommand}` may run another program"));
    }
}

/// The name of the long option in a word, without dashes and value. The programs accept abbreviations, and one dash instead of two.
fn long_option(text: &str) -> Option<&str> {
    let option = text.strip_prefix("--").or_else(|| text.strip_prefix('-').filter(|letters| letters.len() > 2))?;
    option.split('=').next().filter(|option| option.len() > 1)
}

/// The subcommand, if it may run other programs. A word after an option may be its value or the subcommand.
fn running_subcommand<'a>(words: &[&'a Word]) -> Option<&'a str> {
    let mut behind_option = false;
    for (at, word) in words.iter().enumerate() {
        let text = word.text.as_str();
        if text.starts_with('-') {
            behind_option = !text.contains('=');
            continue;
        }
        let next = words.get(at + 1).map(|word| word.text.as_str());
        let shows = matches!(text, "config" | "c") && next.is_some_and(|next| SHOWING.contains(&next));
        let named = |whole: &&str| text == *whole || (text.len() > 1 && whole.starts_with(text));
        // With a name, these subcommands run a program named after it: `npm init x` runs `create-x`.
        let begins = matches!(text, "init" | "create" | "innit") && next.is_some_and(|next| !next.starts_with('-'));
        if begins || (!shows && SUBCOMMANDS.iter().any(named)) {
            return Some(text);
        }
        if !std::mem::take(&mut behind_option) {
            return None;
        }
    }
    None
}
