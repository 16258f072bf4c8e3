//! Package managers of JavaScript: where they are told to work, and what else they are told to run.

use super::walk::{Argv, Walk};
use super::word::Word;
use crate::word_list::WordList;

/// The programs that are looked at.
const PROGRAMS: &[&str] = &["npm", "pnpm", "yarn", "bun"];

/// Long options that name another directory to work in.
const PLACES: &[&str] = &["prefix", "local-prefix", "global-prefix", "dir", "cwd", "cache"];

/// Long options that name a program to run, or a file of settings that may name one.
static RUNNING_OPTIONS: WordList = WordList::new(include_str!("../../data/shell/package_manager_options.txt"));

/// Subcommands that run any program, or change a setting that names one. Each may be cut short.
const SUBCOMMANDS: &[&str] = &["explore", "edit", "config", "c", "set"];

/// What may follow `config` without a change of settings.
const SHOWING: &[&str] = &["get", "list", "ls"];

/// Notes another directory, and doubts about what runs.
pub(super) fn look(walk: &mut Walk, listed: usize, name: &str, argv: &Argv) {
    if !PROGRAMS.contains(&name) {
        return;
    }
    // What stands behind `--` belongs to a script, apart from what `explore` and `exec` run.
    let words = argv.words.iter().skip(1).map_while(|word| (word.text != "--").then_some(word));
    let words: Vec<&Word> = words.collect();
    for word in &words {
        let text = word.text.as_str();
        let option = long_option(text);
        if option.is_some_and(|option| PLACES.iter().any(|whole| whole.starts_with(option))) || text.starts_with("-C") {
            walk.shell.cwd_changed = true;
            if let Some(simple) = walk.shell.commands.get_mut(listed) {
                simple.cwd_changed = true;
            }
        }
        if option.is_some_and(|option| RUNNING_OPTIONS.any(|whole| whole.starts_with(option))) {
            walk.doubt(format!("`{name} {text}` may run another program"));
        }
    }
    if let Some(subcommand) = running_subcommand(&words) {
        walk.doubt(format!("`{name} {subcommand}` may run another program"));
    }
}

/// The long option that a word is, without its dashes and value. The programs take a beginning for the whole option, and one dash for two.
fn long_option(text: &str) -> Option<&str> {
    let option = text.strip_prefix("--").or_else(|| text.strip_prefix('-').filter(|letters| letters.len() > 2))?;
    option.split('=').next().filter(|option| option.len() > 1)
}

/// The subcommand that runs other programs, if it may be one. A word behind an option may be the option's value or the subcommand.
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
        // With a name, they run a program that is called after it.
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
