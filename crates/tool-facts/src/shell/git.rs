//! `git`: its subcommand stands after global options, and its options can name commands to run.

use super::collector::{Argv, Collector};
use super::word::Word;
use crate::path::steering::is_steering;
use crate::word_list::WordList;

mod config;

/// Global options that take the next word.
const VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source", "--list-cmds"];

/// Global options without a value.
static FLAGS: WordList = WordList::new(include_str!("../../data/shell/git/flags.txt"));

/// Settings that run no program.
static HARMLESS_SETTINGS: WordList = WordList::new(include_str!("../../data/shell/git/harmless_settings.txt"));

/// Long options that name a command, or a directory with commands in it.
static COMMAND_OPTIONS: WordList = WordList::new(include_str!("../../data/shell/git/command_options.txt"));

/// Subcommands that run other programs.
static RUNNING_SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/running_subcommands.txt"));

/// Subcommands that git itself has. Any other word is an alias, whose command stands in a file, or a separate program.
static SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/subcommands.txt"));

/// Merge strategies that git itself has. For any other strategy it runs a program of that name.
const STRATEGIES: &[&str] = &["ort", "recursive", "resolve", "octopus", "ours", "subtree"];

/// Subcommands that write no file except one that an option names.
static READING_SUBCOMMANDS: WordList = WordList::new(include_str!("../../data/shell/git/reading_subcommands.txt"));

/// Subcommands that write only inside the repository: git refuses other paths.
static REPOSITORY_SUBCOMMANDS: WordList =
    WordList::new(include_str!("../../data/shell/git/repository_subcommands.txt"));

/// Sets the subcommand, and adds a doubt if git may run another program.
pub(super) fn inspect(collector: &mut Collector, listed: usize, argv: &Argv) {
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
                collector.add_doubt(format!("the value of `git {text}` is known only when it runs"));
            }
            inspect_global_option(collector, listed, text, value.map_or("", |value| value.text.as_str()));
            at += 2;
            continue;
        }
        if text == "--bare" {
            // With `--bare`, the working directory itself becomes the repository, with its settings and hooks.
            inspect_global_option(collector, listed, "--git-dir", "");
        } else if glued && VALUES.contains(&option) {
            inspect_global_option(collector, listed, option, text.split_once('=').map_or("", |(_, value)| value));
        } else if !FLAGS.contains(text) {
            collector.add_doubt(format!("`git {text}` is not known and may run another program"));
        }
        at += 1;
    }
    let Some(subcommand) = argv.words.get(at) else { return };
    collector.writes_unknown |= !READING_SUBCOMMANDS.contains(&subcommand.text);
    if subcommand.dynamic || subcommand.glob {
        collector.add_doubt("the subcommand of `git` is known only when it runs");
        return;
    }
    let mut before = argv.words.iter().skip(at + 1).take_while(|word| word.text != "--");
    if before.any(|word| word.glob && word.text.starts_with(['*', '?', '['])) {
        collector.add_doubt("a pattern may match a file whose name is read as an option");
    }
    let name = subcommand.text.clone();
    inspect_arguments(collector, &name, argv.words.get(at + 1..).unwrap_or_default());
    if let Some(simple) = collector.shell.commands.get_mut(listed) {
        simple.subcommand = name;
    }
}

fn inspect_global_option(collector: &mut Collector, listed: usize, option: &str, value: &str) {
    match option {
        "-C" | "--git-dir" | "--work-tree" => {
            if let Some(simple) = collector.shell.commands.get_mut(listed) {
                simple.cwd_changed = true;
            }
            collector.shell.cwd_changed = true;
        }
        "-c" => {
            let key = value.split('=').next().unwrap_or_default();
            if !is_harmless_setting(key) {
                collector.add_doubt(format!("the setting `{key}` may make `git` run another program"));
            }
        }
        _ => {}
    }
}

/// Says whether a setting runs no program. A key of three parts names a custom section, which can be renamed later.
fn is_harmless_setting(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let of_section =
        |section: &str| key.strip_prefix(section).is_some_and(|name| !name.is_empty() && !name.contains('.'));
    HARMLESS_SETTINGS.contains(&key) || of_section("color.") || of_section("advice.")
}

fn inspect_arguments(collector: &mut Collector, subcommand: &str, args: &[Word]) {
    let runs = RUNNING_SUBCOMMANDS.contains(subcommand)
        || (subcommand == "submodule" && args.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect"
            && args.iter().any(|word| matches!(word.text.as_str(), "run" | "visualize" | "view")))
        || (subcommand == "maintenance" && args.first().is_none_or(|word| word.text != "run"));
    if runs {
        collector.add_doubt(format!("`git {subcommand}` runs other programs"));
    } else if !SUBCOMMANDS.contains(subcommand) {
        collector.add_doubt(format!("`git {subcommand}` may be an alias, or another program"));
    }
    if subcommand == "config" {
        config::inspect(collector, args);
    }
    // A bare repository has its settings and hooks as ordinary files.
    let bare =
        |word: &Word| is_abbreviation("--bare", &word.text, "--b") || is_abbreviation("--mirror", &word.text, "--mi");
    if matches!(subcommand, "init" | "init-db" | "clone") && args.iter().any(bare) {
        collector.add_doubt(format!("`git {subcommand}` makes a repository whose settings are ordinary files"));
    }
    if writes_operands(subcommand, args) {
        let operands = args.iter().filter(|word| !word.text.starts_with('-'));
        collector.shell.writes.extend(operands.map(|word| word.text.clone()));
    }
    if subcommand == "mv" {
        // Git moves a file into `.git`, and only then reports that the path is not valid.
        let steering = args.iter().filter(|word| is_steering_path(&word.text));
        collector.shell.writes.extend(steering.map(|word| word.text.clone()));
    }
    for (at, word) in args.iter().enumerate() {
        let next = args.get(at + 1).map(|word| word.text.as_str());
        inspect_argument(collector, subcommand, &word.text, next);
    }
}

/// Judges one word after the subcommand. An option may have its value in the word `next`.
fn inspect_argument(collector: &mut Collector, subcommand: &str, text: &str, next: Option<&str>) {
    let (option, value) = text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
    if option.len() > 2 && option.starts_with("--") && COMMAND_OPTIONS.any(|command| command.starts_with(option)) {
        collector.add_doubt(format!("`git {subcommand} {option}` may run another program"));
    }
    if is_abbreviation("--no-index", option, "--no-i") {
        collector.add_doubt(format!("`git {subcommand} {option}` reads files outside of a repository"));
    }
    let transport = |text: &str| text.starts_with("ext::") || text.starts_with("fd::");
    let short = letters(text).contains(|letter| running_letters(subcommand).contains(letter));
    if short || transport(text) || value.is_some_and(transport) {
        collector.add_doubt(format!("`git {subcommand} {text}` may run another program"));
    }
    if let Some(strategy) = merge_strategy(subcommand, text, value, next)
        && !STRATEGIES.contains(&strategy)
    {
        collector.add_doubt(format!("`git {subcommand}` runs a program for the strategy `{strategy}`"));
    }
    if let Some(file) = output_file(subcommand, text, value, next) {
        collector.shell.writes.push(file.to_owned());
    }
    let outside = |text: &str| text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
    if !READING_SUBCOMMANDS.contains(subcommand) && !REPOSITORY_SUBCOMMANDS.contains(subcommand) {
        let glued = text.get(2..).filter(|_| !letters(text).is_empty());
        let named = [Some(text), value, glued].into_iter().flatten().find(|text| outside(text));
        collector.shell.writes.extend(named.map(str::to_owned));
    }
    if is_abbreviation("--contents", option, "--cont") || is_abbreviation("--ignore-revs-file", option, "--ignore-r") {
        collector.shell.reads.extend(value.or(next).map(str::to_owned));
    }
    if matches!(subcommand, "blame" | "annotate")
        && let Some((_, glued)) = letters(text).split_once('S')
    {
        let file = Some(glued).filter(|glued| !glued.is_empty()).or(next);
        collector.shell.reads.extend(file.map(str::to_owned));
    }
    // With a path outside the repository, `git diff` compares any two files.
    if subcommand == "diff" && (text.starts_with('/') || text.split('/').any(|part| part == "..")) {
        collector.shell.reads.push(text.to_owned());
    }
}

/// Says whether a word is a long option or an abbreviation of it that is at least as long as `shortest`.
fn is_abbreviation(whole: &str, option: &str, shortest: &str) -> bool {
    option.starts_with(shortest) && whole.starts_with(option)
}

/// The letters of a word such as `-nO`. A value may follow in the same word, after any of the letters.
fn letters(text: &str) -> &str {
    text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default()
}

/// Says whether a component of a path decides what runs later.
fn is_steering_path(path: &str) -> bool {
    path.to_lowercase().split(['/', '\\']).any(is_steering)
}

/// Says whether a subcommand writes the files that its operands name, which may be `.git/config`.
///
/// `merge-file` writes its first operand, `mailinfo` both. All operands count, since a label or a trailer may look like one.
fn writes_operands(subcommand: &str, args: &[Word]) -> bool {
    match subcommand {
        "merge-file" | "mailinfo" => true,
        "interpret-trailers" => args.iter().any(|word| is_abbreviation("--in-place", &word.text, "--i")),
        _ => false,
    }
}

/// Letters with which a subcommand runs a program.
fn running_letters(subcommand: &str) -> &'static str {
    match subcommand {
        "rebase" => "x",
        "difftool" => "xt",
        "grep" => "O",
        "clone" => "uc",
        _ => "",
    }
}

/// The merge strategy that an option names.
fn merge_strategy<'a>(
    subcommand: &str,
    text: &'a str,
    value: Option<&'a str>,
    next: Option<&'a str>,
) -> Option<&'a str> {
    let option = text.split('=').next().unwrap_or_default();
    if is_abbreviation("--strategy", option, "--s") {
        return value.or(next);
    }
    // For other subcommands the letter means something else: `git cherry-pick -s` adds a signature line.
    if !matches!(subcommand, "merge" | "pull" | "rebase") {
        return None;
    }
    let (_, glued) = letters(text).split_once('s')?;
    if glued.is_empty() { next } else { Some(glued) }
}

/// The file that git writes because of an option.
fn output_file<'a>(subcommand: &str, text: &'a str, value: Option<&'a str>, next: Option<&'a str>) -> Option<&'a str> {
    let option = text.split('=').next().unwrap_or_default();
    let file = match subcommand {
        "config" => is_abbreviation("--file", option, "--f"),
        "fast-export" | "fast-import" => {
            is_abbreviation("--export-marks", option, "--e") || is_abbreviation("--export-pack-edges", option, "--e")
        }
        "read-tree" => is_abbreviation("--index-output", option, "--ind"),
        "checkout-index" => is_abbreviation("--prefix", option, "--p"),
        "apply" => is_abbreviation("--build-fake-ancestor", option, "--b"),
        "bundle" => return next.filter(|file| text == "create" && *file != "-"),
        _ => false,
    };
    if file || is_abbreviation("--output", option, "--o") || is_abbreviation("--output-directory", option, "--output-d")
    {
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
