//! Programs whose arguments are another command.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::guard::refused;
use super::word::Word;
use super::{Assignment, runner, unread};
use crate::Unparsed;
use crate::word_list::parse_table;

/// The programs, by their names.
static WRAPPERS: LazyLock<HashMap<String, Wrapper>> =
    LazyLock::new(|| parse_table(include_str!("../../data/shell/wrappers.toml")));

/// Arguments of a wrapper that stand before its command.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wrapper {
    /// Options that take the next word.
    values: Vec<String>,
    /// Options without a value. The words after an option that is in neither list are in doubt.
    flags: Vec<String>,
    /// Number of words before the command that belong to the wrapper.
    operands: usize,
    /// `NAME=value` may come before the command.
    takes_assignments: bool,
    /// The wrapper changes more than the manner in which the command runs, so it is on the list of commands itself.
    is_listed: bool,
}

impl Wrapper {
    fn is_value(&self, option: &str) -> bool {
        self.values.iter().any(|own| own == option)
    }

    fn is_flag(&self, option: &str) -> bool {
        self.flags.iter().any(|own| own == option)
    }
}

/// Examines a wrapper and the command in its arguments. Returns `false` if the program is not a wrapper.
pub(super) fn run(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<bool, Unparsed> {
    if unread::is_unread(name) {
        let at = collector.add_command(argv, context);
        collector.mark_opaque(at);
        collector.add_doubt(format!("`{name}` may run another command in a way that is not parsed"));
        collector.shell.elevated |= matches!(name, "runuser" | "pkexec" | "run0" | "sudoedit" | "gosu" | "su-exec");
        runner::list_unread(collector, name, argv, context)?;
        return Ok(true);
    }
    let Some(wrapper) = WRAPPERS.get(name) else { return Ok(false) };
    if name == "env" && has_split_string(&argv.words) {
        return split_string(collector, argv, context).map(|()| true);
    }
    if name == "command" && argv.words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) {
        collector.add_command(argv, context);
        return Ok(true);
    }
    if matches!(name, "sudo" | "doas") {
        collector.shell.elevated = true;
    }
    unwrap(collector, name, wrapper, argv, context)?;
    Ok(true)
}

fn unwrap(
    collector: &mut Collector,
    name: &str,
    wrapper: &Wrapper,
    argv: &Argv,
    context: &CommandContext,
) -> Result<(), Unparsed> {
    let mut assignments = argv.assignments.clone();
    let mut at = 1;
    let mut operands = wrapper.operands;
    let mut options = true;
    while let Some(word) = argv.words.get(at) {
        let text = word.text.as_str();
        if word.dynamic || word.glob {
            break;
        }
        if options && text == "--" {
            options = false;
        } else if options && text.starts_with('-') && (text.len() > 1 || wrapper.is_flag(text)) {
            at += pass_option(collector, name, wrapper, text);
            continue;
        } else if wrapper.takes_assignments && is_assignment(text) {
            let (variable, value) = text.split_once('=').unwrap_or((text, ""));
            assignments.push(Assignment { name: variable.to_owned(), value: value.to_owned() });
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    let rest: Vec<Word> = argv.words.get(at..).unwrap_or_default().to_vec();
    if wrapper.is_listed || rest.is_empty() {
        let listed = collector.add_command(argv, context);
        if rest.is_empty() && wrapper.is_listed {
            collector.mark_opaque(listed);
        }
    }
    if rest.is_empty() {
        for assignment in &assignments {
            collector.check_variable(&assignment.name, &assignment.value);
        }
        return Ok(());
    }
    let mut inner = context.under(name);
    inner.appended |= name == "xargs";
    let redirects = if wrapper.is_listed { Vec::new() } else { argv.redirects.clone() };
    let stdin = if name == "xargs" { Stdin::Other } else { argv.stdin.clone() };
    collector.run(Argv { words: rest, assignments, redirects, stdin }, &inner)
}

/// Returns the number of words that an option takes, itself included.
fn pass_option(collector: &mut Collector, name: &str, wrapper: &Wrapper, text: &str) -> usize {
    let places = ["-C", "-D", "-R", "--chdir", "--chroot"];
    collector.shell.cwd_changed |= places.iter().any(|place| text.starts_with(place));
    if wrapper.is_value(text) {
        return 2;
    }
    if wrapper.is_flag(text) {
        return 1;
    }
    if let Some((long, _)) = text.split_once('=')
        && long.starts_with("--")
        && (wrapper.is_value(long) || wrapper.is_flag(long))
    {
        return 1;
    }
    // `nice -5` is a number.
    if name == "nice" && text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) {
        return 1;
    }
    // `-n -u root` may be written `-nuroot`, or `-nu root`.
    let letters = text.get(1..).filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    for (at, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        if wrapper.is_value(&option) {
            collector.shell.cwd_changed |= places.contains(&option.as_str());
            return if at + letter.len_utf8() == letters.len() { 2 } else { 1 };
        }
        if !wrapper.is_flag(&option) {
            break;
        }
        if at + 1 == letters.len() {
            return 1;
        }
    }
    collector.add_doubt(format!("the option `{text}` of `{name}` is not known"));
    1
}

fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn has_split_string(words: &[Word]) -> bool {
    words.iter().skip(1).take_while(|word| word.text.starts_with('-') || is_assignment(&word.text)).any(|word| {
        word.text.starts_with("--split")
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('S'))
    })
}

/// Lists the command of `env -S` as a shell would read it. It is always in doubt, because `env` has its own rules for splitting.
fn split_string(collector: &mut Collector, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    collector.add_doubt("`env -S` splits its argument by rules of its own");
    collector.add_command(argv, context);
    let mut texts = argv.words.iter().skip(1).filter_map(|word| {
        let text = word.text.as_str();
        text.split_once('=').filter(|(option, _)| option.starts_with("--split")).map(|(_, text)| text).or_else(|| {
            let (before, after) = text.split_once('S')?;
            (before.starts_with('-') && !before.starts_with("--")).then_some(after)
        })
    });
    let glued = texts.next().unwrap_or_default().to_owned();
    let rest: Vec<&str> =
        argv.words.iter().skip(1).filter(|word| !word.text.starts_with('-')).map(|word| word.text.as_str()).collect();
    let text = format!("{glued} {}", rest.join(" "));
    collector.text(&text, &context.under("env")).map_err(|_| refused("the argument of `env -S` cannot be parsed"))
}
