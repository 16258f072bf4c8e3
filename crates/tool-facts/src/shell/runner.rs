//! Programs that run a command from their own arguments: in an environment, in a container, in a terminal or on another machine.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::interpreter::{add_joined, add_nested};
use super::word::Word;
use crate::Unparsed;
use crate::word_list::{WordList, parse_table};

/// Programs with a subcommand that runs the words after it.
static RUNNERS: LazyLock<Runners> = LazyLock::new(|| parse_table(include_str!("../../data/shell/runners.toml")));

/// Options whose value is the text of a command.
static COMMAND_OPTIONS: LazyLock<CommandOptions> =
    LazyLock::new(|| parse_table(include_str!("../../data/shell/command_options.toml")));

/// Programs whose command is listed but always in doubt, by their names.
static UNREAD_COMMANDS: LazyLock<HashMap<String, UnreadCommand>> =
    LazyLock::new(|| parse_table(include_str!("../../data/shell/unread_commands.toml")));

/// Other names of `setarch`.
static ARCHITECTURES: WordList = WordList::new(include_str!("../../data/shell/setarch_names.txt"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runners {
    runner: Vec<Runner>,
}

/// A program with a subcommand that runs the words after it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Runner {
    names: Vec<String>,
    /// Subcommands that run the words after them; empty if the program itself does.
    subcommands: Vec<String>,
    /// Number of words before the command that belong to the program: an image, a machine.
    #[serde(default)]
    operands: usize,
    /// Options that take the next word.
    #[serde(default)]
    values: Vec<String>,
    /// Options without a value. After any other option, the command is in doubt.
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default)]
    is_remote: bool,
    /// The command stands after `--`; any words may stand before it.
    #[serde(default)]
    after_dashes: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandOptions {
    program: Vec<CommandOption>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CommandOption {
    names: Vec<String>,
    options: Vec<String>,
}

/// Form of the command in the arguments of a program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UnreadCommand {
    command: CommandForm,
    /// Number of words before the command that belong to the program.
    #[serde(default)]
    operands: usize,
    /// Letters of options that take the next word.
    #[serde(default)]
    value_letters: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CommandForm {
    /// The arguments are the words of a command.
    Words,
    /// The arguments, joined by blanks, are the text of a command.
    Joined,
    /// Each argument is the text of a command.
    Each,
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|own| own == word)
}

/// Examines a program that runs a command by one of its subcommands or options. The program is on the list of commands already.
pub(super) fn inspect(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<(), Unparsed> {
    if read_command_options(collector, name, argv, context)? {
        collector.add_doubt(format!("an option of `{name}` contains a command to run"));
    }
    let Some(runner) = RUNNERS.runner.iter().find(|runner| has(&runner.names, name)) else { return Ok(()) };
    let mut at = 1;
    if !runner.subcommands.is_empty() {
        let named = |word: &Word| has(&runner.subcommands, &word.text);
        let Some(found) = argv.words.iter().skip(1).position(named) else { return Ok(()) };
        at = found + 2;
        if found > 0 {
            collector.add_doubt(format!("the command that `{name}` runs follows words that cannot be parsed"));
        }
    }
    let rest = argv.words.get(at..).unwrap_or_default();
    let command = match rest.iter().position(|word| word.text == "--") {
        Some(end) if runner.after_dashes => rest.get(end + 1..).unwrap_or_default(),
        _ => after_options(collector, runner, name, rest),
    };
    if command.is_empty() {
        return Ok(());
    }
    let mut inner = context.under(name);
    inner.remote |= runner.is_remote;
    collector.run(Argv { words: command.to_vec(), stdin: Stdin::Other, ..Argv::default() }, &inner)
}

fn after_options<'a>(collector: &mut Collector, runner: &Runner, name: &str, rest: &'a [Word]) -> &'a [Word] {
    let mut at = 0;
    let mut operands = runner.operands;
    while let Some(word) = rest.get(at) {
        let text = word.text.as_str();
        let option = text.split('=').next().unwrap_or_default();
        if text == "--" {
            if operands > 0 {
                collector.add_doubt(format!("it is not known which words after `--` of `{name}` are the command"));
            }
            return rest.get(at + 1..).unwrap_or_default();
        } else if has(&runner.values, text) {
            at += 1;
        } else if text.starts_with('-') || has(&runner.flags, text) {
            if !(has(&runner.flags, text) || option.starts_with("--") && has(&runner.values, option)) {
                collector.add_doubt(format!("the option `{text}` of `{name}` is not known"));
            }
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    rest.get(at..).unwrap_or_default()
}

/// Lists the command of a program that is already in doubt, as far as the words of the call show it.
pub(super) fn list_unread(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<(), Unparsed> {
    if read_command_options(collector, name, argv, context)? {
        return Ok(());
    }
    let inner = context.under(name);
    let known = if ARCHITECTURES.contains(name) { "linux64" } else { name };
    let Some(unread) = UNREAD_COMMANDS.get(known) else { return Ok(()) };
    let words = words_after_options(argv, unread.operands, &unread.value_letters);
    match unread.command {
        CommandForm::Joined => {
            let end = words.iter().position(|word| word.text.starts_with(":::")).unwrap_or(words.len());
            let words = words.get(..end).unwrap_or_default();
            if words.is_empty() { Ok(()) } else { add_joined(collector, words, &inner) }
        }
        CommandForm::Each => words.iter().try_for_each(|text| add_nested(collector, text, &inner)),
        CommandForm::Words if words.is_empty() => Ok(()),
        CommandForm::Words => {
            collector.run(Argv { words: words.to_vec(), stdin: Stdin::Other, ..Argv::default() }, &inner)
        }
    }
}

/// The words after options and operands, or after `--`.
fn words_after_options<'a>(argv: &'a Argv, operands: usize, values: &str) -> &'a [Word] {
    let mut at = 1;
    let mut operands = operands;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if text == "--" && operands == 0 {
            at += 1;
            break;
        }
        if text.starts_with('-') {
            let letter = text.chars().nth(1).filter(|_| text.len() == 2);
            at += usize::from(letter.is_some_and(|letter| values.contains(letter)));
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    argv.words.get(at..).unwrap_or_default()
}

/// Parses the commands in a program's options, and says whether there were any.
fn read_command_options(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<bool, Unparsed> {
    let mut found = false;
    for CommandOption { options, .. } in COMMAND_OPTIONS.program.iter().filter(|program| has(&program.names, name)) {
        for (at, word) in argv.words.iter().enumerate().skip(1) {
            let glued = word.text.split_once('=').filter(|(option, _)| option.starts_with("--"));
            let mut text = match glued {
                Some((option, value)) if has(options, option) => Word::literal(value),
                _ if has(options, &word.text) => argv.words.get(at + 1).cloned().unwrap_or_default(),
                _ => continue,
            };
            text.dynamic |= word.dynamic;
            // A debugger has its own commands; a shell command follows one of these words.
            let own = matches!(name, "gdb" | "lldb" | "rust-gdb" | "rust-lldb");
            let shell = ["shell ", "!", "platform shell "].iter().find_map(|start| text.text.strip_prefix(start));
            match shell.map(str::to_owned) {
                Some(rest) if own => text.text = rest,
                _ if own => continue,
                _ => {}
            }
            found = true;
            if !text.text.trim().is_empty() {
                add_nested(
                    collector,
                    &text,
                    &context.under(&format!("{name} {}", word.text.split('=').next().unwrap_or_default())),
                )?;
            }
        }
    }
    Ok(found)
}
