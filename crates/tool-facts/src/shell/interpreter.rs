//! Programs whose argument or input is the text of a shell command.

use command_line::ShellLanguage;

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::guard::refused;
use super::word::Word;
use crate::Unparsed;

/// Shells that read plain commands alike.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "rbash"];

/// Shells that read most commands alike: their commands are listed, and in doubt.
const OTHERS: &[&str] = &["zsh", "ksh", "mksh", "rksh", "hush", "yash", "osh", "posh", "oksh"];

/// Letters of shell options that do not change how a text is read.
const LETTERS: &str = "ceilosuvx";
/// Names of shell options that do not change how a text is read.
const OPTIONS: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "verbose"];

/// Characters that Zsh reads in its own way outside quotes: patterns, home directories (`~`), ranges such as `<1-9>`, and escapes.
const OF_ZSH: &str = "<~*?{}^#\\";

/// Words of Zsh that stand before or after a command.
const WORDS_OF_ZSH: &[&str] = &["-", "noglob", "nocorrect", "repeat", "foreach", "end", "coproc", "select", "always"];

/// The text that runs in `["bash", "-lc", text]` and the like, if other shells read it alike. The shell must be a bare name or lie in a system
/// directory.
pub(super) fn shell_text<'w>(words: &[&'w str]) -> Option<&'w str> {
    match text_of_shell(words)? {
        (ShellLanguage::Zsh, text) => zsh_reads_alike(text).then_some(text),
        (ShellLanguage::Bash | ShellLanguage::Sh | ShellLanguage::PowerShell, text) => Some(text),
    }
}

/// The text that runs in `["bash", "-lc", text]` and the like, and the language of its shell.
pub(super) fn text_of_shell<'w>(words: &[&'w str]) -> Option<(ShellLanguage, &'w str)> {
    let [program, "-c" | "-lc", text] = words else { return None };
    let shell = program.strip_prefix("/usr").unwrap_or(program);
    let language = match shell.strip_prefix("/bin/").or_else(|| (!program.contains('/')).then_some(program))? {
        "sh" => ShellLanguage::Sh,
        "bash" => ShellLanguage::Bash,
        "zsh" => ShellLanguage::Zsh,
        _ => return None,
    };
    Some((language, text))
}

/// Says whether Zsh reads a text as other shells do.
fn zsh_reads_alike(text: &str) -> bool {
    let mut quote = None;
    let alike = text.chars().all(|c| {
        if let Some(open) = quote {
            quote = Some(open).filter(|open| *open != c);
            open == '\'' || c != '\\'
        } else {
            quote = Some(c).filter(|c| matches!(c, '\'' | '"'));
            !OF_ZSH.contains(c)
        }
    });
    alike && !text.split_whitespace().any(|word| WORDS_OF_ZSH.contains(&word))
}

/// Examines a program that runs a text as a shell command. Returns `false` if the program does not.
pub(super) fn run(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<bool, Unparsed> {
    match name {
        name if SHELLS.contains(&name) => shell(collector, name, argv, context)?,
        name if OTHERS.contains(&name) => {
            collector.add_doubt(format!("`{name}` may read a command differently"));
            shell(collector, name, argv, context)?;
        }
        "eval" => add_joined(collector, argv.words.get(1..).unwrap_or_default(), &context.under("eval"))?,
        "trap" => trap(collector, argv, context)?,
        "watch" => watch(collector, argv, context)?,
        "su" => other_user(collector, argv, context)?,
        "ssh" | "mosh" | "autossh" => remote(collector, name, argv, context)?,
        "cd" | "pushd" | "popd" | "chdir" => {
            collector.add_command(argv, context);
            collector.shell.cwd_changed = true;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn shell(collector: &mut Collector, name: &str, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    let mut command = false;
    let mut operand = None;
    let mut at = 1;
    while let Some(word) = argv.words.get(at) {
        at += 1;
        if word.dynamic || word.glob {
            operand = Some(word);
            break;
        }
        match word.text.as_str() {
            "-" | "--" => {
                operand = argv.words.get(at);
                break;
            }
            "--norc" | "--noprofile" | "--posix" | "--login" | "--restricted" | "--verbose" => {}
            text if text.starts_with("--") => {
                collector.add_doubt(format!("the option `{text}` of `{name}` is not known"));
            }
            text if text.starts_with('-') || text.starts_with('+') => {
                command |= text.starts_with('-') && text.contains('c');
                if text.contains('s') && text.starts_with('-') {
                    break;
                }
                // `-o name` and `-O name` take the next word, wherever they stand in a cluster.
                let values = text.matches(['o', 'O']).count();
                let last = values == 0 || (values == 1 && text.ends_with('o'));
                let named = values == 0 || argv.words.get(at).is_some_and(|name| OPTIONS.contains(&name.text.as_str()));
                if !last || !named || !text.chars().skip(1).all(|letter| LETTERS.contains(letter)) {
                    collector.add_doubt(format!("the option `{text}` of `{name}` may change how the command is read"));
                }
                at += values;
            }
            _ => {
                operand = Some(word);
                break;
            }
        }
    }
    match (command, operand) {
        (true, Some(text)) => add_nested(collector, text, &context.under(&format!("{name} -c"))),
        (true, None) => Err(refused(format!("`{name} -c` has no command"))),
        (false, Some(script)) => {
            if script.dynamic || script.glob {
                collector.add_doubt(format!("the script of `{name}` is known only when it runs"));
            }
            let listed = collector.add_command(argv, context);
            collector.mark_opaque(listed);
            Ok(())
        }
        (false, None) => input(collector, name, argv, context),
    }
}

/// Examines a shell without a script, which runs its standard input.
fn input(collector: &mut Collector, name: &str, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    let listed = collector.add_command(argv, context);
    if let Stdin::Text(text) = &argv.stdin {
        return collector.text(text, &context.under(&format!("{name} <<")));
    }
    collector.mark_opaque(listed);
    collector.add_doubt(format!("`{name}` runs the commands in its standard input"));
    Ok(())
}

pub(super) fn add_nested(collector: &mut Collector, text: &Word, context: &CommandContext) -> Result<(), Unparsed> {
    if text.dynamic || text.glob || context.appended {
        collector.add_doubt(format!("the text `{}` is known only when it runs", text.text));
        collector.shell.dynamic |= text.dynamic;
        collector.shell.globs |= text.glob;
    }
    collector.text(&text.text, context)
}

/// Joins the words with blanks and parses the text.
pub(super) fn add_joined(collector: &mut Collector, words: &[Word], context: &CommandContext) -> Result<(), Unparsed> {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut whole = Word::literal(&text);
    whole.dynamic = words.iter().any(|word| word.dynamic);
    whole.glob = words.iter().any(|word| word.glob);
    add_nested(collector, &whole, context)
}

fn trap(collector: &mut Collector, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    collector.add_command(argv, context);
    match argv.words.iter().skip(1).find(|word| !word.text.starts_with('-')) {
        Some(action) if !action.text.is_empty() && argv.words.len() > 2 => {
            add_nested(collector, action, &context.under("trap"))
        }
        _ => Ok(()),
    }
}

fn watch(collector: &mut Collector, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    collector.add_command(argv, context);
    let mut at = 1;
    while let Some(word) = argv.words.get(at).filter(|word| word.text.starts_with('-')) {
        let text = word.text.as_str();
        let value = matches!(text, "-n" | "--interval" | "-q" | "--equexit");
        let letters = text.strip_prefix('-').unwrap_or_default();
        let number = letters.strip_prefix('n').is_some_and(|number| number.parse::<f64>().is_ok());
        if !(value || number || letters.chars().all(|c| "bcdegptwx".contains(c))) {
            collector.add_doubt(format!("the option `{text}` of `watch` is not known"));
        }
        at += if value { 2 } else { 1 };
    }
    add_joined(collector, argv.words.get(at..).unwrap_or_default(), &context.under("watch"))
}

fn other_user(collector: &mut Collector, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    collector.shell.elevated = true;
    let listed = collector.add_command(argv, context);
    let command = |word: &Word| matches!(word.text.as_str(), "-c" | "--command");
    let known = |word: &Word| {
        let text = word.text.as_str();
        command(word)
            || !text.starts_with('-')
            || matches!(text, "-" | "-l" | "--login")
            || text.starts_with("--command=")
    };
    if !argv.words.iter().all(known) {
        collector.add_doubt("an option of `su` is not known");
    }
    let text = argv.words.iter().position(command).and_then(|at| argv.words.get(at + 1)).cloned();
    let glued = |word: &Word| word.text.strip_prefix("--command=").map(Word::literal);
    if let Some(text) = text.or_else(|| argv.words.iter().find_map(glued)) {
        add_nested(collector, &text, &context.under("su -c"))
    } else {
        collector.mark_opaque(listed);
        collector.add_doubt("the command of `su` is not parsed");
        Ok(())
    }
}

/// Letters of `ssh` that take a value: the rest of their word, or the next word.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// The letters of [`SSH_VALUES`] that only choose the machine, the user and the connection.
const SSH_HARMLESS: &str = "Bbceilmp";

fn remote(collector: &mut Collector, name: &str, argv: &Argv, context: &CommandContext) -> Result<(), Unparsed> {
    let mut inner = context.under(name);
    inner.remote = true;
    let mut here = context.clone();
    here.remote = true;
    let listed = collector.add_command(argv, &here);
    collector.mark_opaque(listed);
    let mut at = 1;
    while let Some(word) = argv.words.get(at).filter(|word| word.text.starts_with('-')) {
        let text = word.text.as_str();
        let letter = text.char_indices().find(|(_, c)| SSH_VALUES.contains(*c));
        let harmless = letter.is_none_or(|(_, letter)| SSH_HARMLESS.contains(letter));
        if !harmless || text.starts_with("--") || word.dynamic {
            collector.add_doubt(format!("the option `{text}` of `{name}` may name a command to run here"));
        }
        at += if letter.is_some_and(|(at, _)| at + 1 == text.len()) { 2 } else { 1 };
    }
    let command = argv.words.get(at + 1..).unwrap_or_default();
    if argv.words.get(at).is_some_and(|host| host.dynamic || host.glob) {
        collector.add_doubt("the machine is known only when the command runs");
    }
    if command.is_empty() { Ok(()) } else { add_joined(collector, command, &inner) }
}
