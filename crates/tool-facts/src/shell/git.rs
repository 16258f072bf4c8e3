//! `git`, whose subcommand hides behind options and whose options hide commands.

use super::walk::{Argv, Walk};
use super::word::Word;
use crate::path::steering::decides;
use crate::word_list::WordList;

mod config;

/// Global options that take the next word.
const VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source", "--list-cmds"];

/// Global options that stand alone.
static FLAGS: WordList = WordList::new(include_str!("../../data/shell/git/flags.txt"));

/// Settings that run nothing.
static HARMLESS_SETTINGS: WordList = WordList::new(include_str!("../../data/shell/git/harmless_settings.txt"));

/// Long options that name a command, or a place with commands in it.
static COMMAND_OPTIONS: WordList = WordList::new(include_str!("../../data/shell/git/command_options.txt"));

/// Subcommands that run commands by their nature.
static RUNNING_SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/running_subcommands.txt"));

/// Subcommands that git itself has. Any other one is an alias, whose command stands in a file, or a program of its own.
static SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/subcommands.txt"));

/// Ways to merge that git itself has. For any other one it runs a program of that name, with a slash in it even one of the directory.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Subcommands that write nothing but what an option names.
static READING_SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/reading_subcommands.txt"));

/// Subcommands whose paths lie in the repository, or are only read: git refuses others.
static REPOSITORY_SUBCOMMANDS: WordList =
    WordList::new(include_str!("../../data/shell/git/repository_subcommands.txt"));

/// Finds the subcommand and everything that makes it less than certain.
pub(super) fn look(walk: &mut Walk, listed: usize, argv: &Argv) {
    let mut at = 1;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if !text.starts_with('-') || word.dynamic || word.glob {
            break;
        }
        let (option, glued) =
            text.split_once('=').map_or((text, false), |(option, _)| (option, option.starts_with("--")));
        if VALUES.contains(&text) {
            let value = argv.words.get(at + 1);
            if value.is_none_or(|value| value.dynamic || value.glob) {
                walk.doubt(format!("the value of `git {text}` is known only when it runs"));
            }
            global(walk, listed, text, value.map_or("", |value| value.text.as_str()));
            at += 2;
            continue;
        }
        if text == "--bare" {
            // The directory itself is then the repository, with its settings and hooks.
            global(walk, listed, "--git-dir", "");
        } else if glued && VALUES.contains(&option) {
            global(walk, listed, option, text.split_once('=').map_or("", |(_, value)| value));
        } else if !FLAGS.contains(text) {
            walk.doubt(format!("`git {text}` may run another program, or is not known"));
        }
        at += 1;
    }
    let Some(subcommand) = argv.words.get(at) else { return };
    walk.writes_unknown |= !READING_SUBCOMMANDS.contains(&subcommand.text);
    if subcommand.dynamic || subcommand.glob {
        walk.doubt("which subcommand of `git` runs is known only when it runs");
        return;
    }
    let mut before = argv.words.iter().skip(at + 1).take_while(|word| word.text != "--");
    if before.any(|word| word.glob && word.text.starts_with(['*', '?', '['])) {
        walk.doubt("a file that is called like an option would be one");
    }
    let name = subcommand.text.clone();
    arguments(walk, &name, argv.words.get(at + 1..).unwrap_or_default());
    if let Some(simple) = walk.shell.commands.get_mut(listed) {
        simple.subcommand = name;
    }
}

fn global(walk: &mut Walk, listed: usize, option: &str, value: &str) {
    match option {
        "-C" | "--git-dir" | "--work-tree" => {
            if let Some(simple) = walk.shell.commands.get_mut(listed) {
                simple.cwd_changed = true;
            }
            walk.shell.cwd_changed = true;
        }
        "-c" => {
            let key = value.split('=').next().unwrap_or_default();
            if !harmless(key) {
                walk.doubt(format!("the setting `{key}` may make `git` run another program"));
            }
        }
        _ => {}
    }
}

/// Says whether a setting runs nothing. A key of three parts names a section of somebody's own, which can be renamed later.
fn harmless(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let of_section =
        |section: &str| key.strip_prefix(section).is_some_and(|name| !name.is_empty() && !name.contains('.'));
    HARMLESS_SETTINGS.contains(&key) || of_section("color.") || of_section("advice.")
}

fn arguments(walk: &mut Walk, subcommand: &str, args: &[Word]) {
    let runs = RUNNING_SUBCOMMANDS.contains(subcommand)
        || (subcommand == "submodule" && args.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect"
            && args.iter().any(|word| matches!(word.text.as_str(), "run" | "visualize" | "view")))
        || (subcommand == "maintenance" && args.first().is_none_or(|word| word.text != "run"));
    if runs {
        walk.doubt(format!("`git {subcommand}` runs other programs"));
    } else if !SUBCOMMANDS.contains(subcommand) {
        walk.doubt(format!("`git {subcommand}` may be an alias, or another program"));
    }
    if subcommand == "config" {
        config::look(walk, args);
    }
    // The directory itself is then a repository, and ordinary files in it are settings and hooks.
    let bare = |word: &Word| cut("--bare", &word.text, "--b") || cut("--mirror", &word.text, "--mi");
    if matches!(subcommand, "init" | "init-db" | "clone") && args.iter().any(bare) {
        walk.doubt(format!("`git {subcommand}` makes a repository whose settings are ordinary files"));
    }
    if writes_operands(subcommand, args) {
        let operands = args.iter().filter(|word| !word.text.starts_with('-'));
        walk.shell.writes.extend(operands.map(|word| word.text.clone()));
    }
    if subcommand == "mv" {
        // Git renames into its own directory, and only then says that the path is not valid.
        let steering = args.iter().filter(|word| steers(&word.text));
        walk.shell.writes.extend(steering.map(|word| word.text.clone()));
    }
    for (at, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        let (option, value) = text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
        if option.len() > 2 && option.starts_with("--") && COMMAND_OPTIONS.any(|command| command.starts_with(option)) {
            walk.doubt(format!("`git {subcommand} {option}` may run another program"));
        }
        if cut("--no-index", option, "--no-i") {
            walk.doubt(format!("`git {subcommand} {option}` reads files outside of a repository"));
        }
        let transport = |text: &str| text.starts_with("ext::") || text.starts_with("fd::");
        let short = letters(text).contains(|letter| running(subcommand).contains(letter));
        if short || transport(text) || value.is_some_and(transport) {
            walk.doubt(format!("`git {subcommand} {text}` may run another program"));
        }
        let next = args.get(at + 1).map(|word| word.text.as_str());
        if let Some(strategy) = strategy(subcommand, text, value, next)
            && !STRATEGIES.contains(&strategy)
        {
            walk.doubt(format!("`git {subcommand}` runs a program for the strategy `{strategy}`"));
        }
        if let Some(file) = output(subcommand, text, value, next) {
            walk.shell.writes.push(file.to_owned());
        }
        let outside = |text: &str| text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
        if !READING_SUBCOMMANDS.contains(subcommand) && !REPOSITORY_SUBCOMMANDS.contains(subcommand) {
            let glued = text.get(2..).filter(|_| !letters(text).is_empty());
            let named = [Some(text), value, glued].into_iter().flatten().find(|text| outside(text));
            walk.shell.writes.extend(named.map(str::to_owned));
        }
        if cut("--contents", option, "--cont") || cut("--ignore-revs-file", option, "--ignore-r") {
            walk.shell.reads.extend(value.or(next).map(str::to_owned));
        }
        if matches!(subcommand, "blame" | "annotate")
            && let Some((_, glued)) = letters(text).split_once('S')
        {
            let file = Some(glued).filter(|glued| !glued.is_empty()).or(next);
            walk.shell.reads.extend(file.map(str::to_owned));
        }
        // Given a path outside of the repository, `git diff` compares files without one.
        if subcommand == "diff" && (text.starts_with('/') || text.split('/').any(|part| part == "..")) {
            walk.shell.reads.push(text.to_owned());
        }
    }
}

/// Says whether a word is a long option or its beginning, which git takes for the whole.
fn cut(whole: &str, option: &str, shortest: &str) -> bool {
    option.starts_with(shortest) && whole.starts_with(option)
}

/// The letters of a word such as `-nO`, with whatever value is glued to them: it may begin after any of them.
fn letters(text: &str) -> &str {
    text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default()
}

/// Says whether a path decides what runs later.
fn steers(path: &str) -> bool {
    path.to_lowercase().split(['/', '\\']).any(decides)
}

/// Says whether a subcommand writes files that are named by its operands, `.git/config` among them.
///
/// `merge-file` writes its first operand, `mailinfo` both. All operands count, since a label or a trailer may look like one.
fn writes_operands(subcommand: &str, args: &[Word]) -> bool {
    match subcommand {
        "merge-file" | "mailinfo" => true,
        "interpret-trailers" => args.iter().any(|word| cut("--in-place", &word.text, "--i")),
        _ => false,
    }
}

/// The letters that have a subcommand run a program.
fn running(subcommand: &str) -> &'static str {
    match subcommand {
        "rebase" => "x",
        "difftool" => "xt",
        "grep" => "O",
        "clone" => "uc",
        _ => "",
    }
}

/// The way to merge that an option names.
fn strategy<'a>(subcommand: &str, text: &'a str, value: Option<&'a str>, next: Option<&'a str>) -> Option<&'a str> {
    let option = text.split('=').next().unwrap_or_default();
    if cut("--strategy", option, "--s") {
        return value.or(next);
    }
    // Elsewhere the letter means something else: `git cherry-pick -s` signs.
    if !matches!(subcommand, "merge" | "pull" | "rebase") {
        return None;
    }
    let (_, glued) = letters(text).split_once('s')?;
    if glued.is_empty() { next } else { Some(glued) }
}

/// The file that an option has git write.
fn output<'a>(subcommand: &str, text: &'a str, value: Option<&'a str>, next: Option<&'a str>) -> Option<&'a str> {
    let option = text.split('=').next().unwrap_or_default();
    let file = match subcommand {
        "config" => cut("--file", option, "--f"),
        "fast-export" | "fast-import" => {
            cut("--export-marks", option, "--e") || cut("--export-pack-edges", option, "--e")
        }
        "read-tree" => cut("--index-output", option, "--ind"),
        "checkout-index" => cut("--prefix", option, "--p"),
        "apply" => cut("--build-fake-ancestor", option, "--b"),
        "bundle" => return next.filter(|file| text == "create" && *file != "-"),
        _ => false,
    };
    if file || cut("--output", option, "--o") || cut("--output-directory", option, "--output-d") {
        return value.or(next);
    }
    let letter = match subcommand {
        "archive" | "format-patch" | "bugreport" | "diagnose" | "mailsplit" | "index-pack" => 'o',
        "config" => 'f',
        _ => return None,
    };
    let (_, glued) = letters(text).split_once(letter)?;
    if glued.is_empty() { next } else { Some(glued) }
}
