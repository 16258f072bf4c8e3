//! Programs whose argument or input is the text of a shell.

use super::guard::refused;
use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use crate::Unparsed;

/// Shells that read the plain part alike.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "rbash"];

/// Shells that read most of it alike: what they run is listed, and in doubt.
const OTHERS: &[&str] = &["zsh", "ksh", "mksh", "rksh", "hush", "yash", "osh", "posh", "oksh"];

/// Letters and names of options that change nothing about how a text is read.
const LETTERS: &str = "ceilosuvx";
const OPTIONS: &[&str] = &["errexit", "nounset", "pipefail", "xtrace", "verbose"];

/// What Zsh reads in a way of its own outside quotes: patterns, homes, ranges such as `<1-9>`, and escapes.
const OF_ZSH: &str = "<~*?{}^#\\";

/// Words that only Zsh knows, and that stand before a command or around it.
const WORDS_OF_ZSH: &[&str] = &["-", "noglob", "nocorrect", "repeat", "foreach", "end", "coproc", "select", "always"];

/// The text of `["bash", "-lc", text]` and its like, which is what runs. Only shells that are looked up, or lie in a directory of the system.
pub(super) fn given<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [program, "-c" | "-lc", text] = words else { return None };
    let shell = program.strip_prefix("/usr").unwrap_or(program);
    match shell.strip_prefix("/bin/").or_else(|| (!program.contains('/')).then_some(program))? {
        "sh" | "bash" => Some(text),
        "zsh" => zsh_reads_alike(text).then_some(text),
        _ => None,
    }
}

/// Says whether Zsh finds in a text what every other shell does, as far as that is relied on.
fn zsh_reads_alike(text: &str) -> bool {
    let mut quote = None;
    let alike = text.chars().all(|c| match quote {
        Some(open) => {
            quote = Some(open).filter(|open| *open != c);
            open == '\'' || c != '\\'
        }
        None => {
            quote = Some(c).filter(|c| matches!(c, '\'' | '"'));
            !OF_ZSH.contains(c)
        }
    });
    alike && !text.split_whitespace().any(|word| WORDS_OF_ZSH.contains(&word))
}

/// Looks into a command that runs a text. Gives `false` where the program is none of these.
pub(super) fn run(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<bool, Unparsed> {
    match name {
        name if SHELLS.contains(&name) => shell(walk, name, argv, around)?,
        name if OTHERS.contains(&name) => {
            walk.doubt(format!("`{name}` may read a command differently"));
            shell(walk, name, argv, around)?;
        }
        "eval" => joined(walk, argv.words.get(1..).unwrap_or_default(), &around.under("eval"))?,
        "trap" => trap(walk, argv, around)?,
        "watch" => watch(walk, argv, around)?,
        "su" => other_user(walk, argv, around)?,
        "ssh" | "mosh" | "autossh" => remote(walk, name, argv, around)?,
        "cd" | "pushd" | "popd" | "chdir" => {
            walk.list(argv, around);
            walk.shell.cwd_changed = true;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn shell(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
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
            text if text.starts_with("--") => walk.doubt(format!("the option `{text}` of `{name}` is not known")),
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
                    walk.doubt(format!("the option `{text}` of `{name}` may change how the command is read"));
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
        (true, Some(text)) => nested(walk, text, &around.under(&format!("{name} -c"))),
        (true, None) => Err(refused(format!("`{name} -c` has no command"))),
        (false, Some(script)) => {
            if script.dynamic || script.glob {
                walk.doubt(format!("the script of `{name}` is known only when it runs"));
            }
            let listed = walk.list(argv, around);
            walk.opaque(listed);
            Ok(())
        }
        (false, None) => input(walk, name, argv, around),
    }
}

/// A shell without a script runs what it reads.
fn input(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    let listed = walk.list(argv, around);
    if let Stdin::Text(text) = &argv.stdin {
        return walk.text(text, &around.under(&format!("{name} <<")));
    }
    walk.opaque(listed);
    walk.doubt(format!("`{name}` runs whatever it reads"));
    Ok(())
}

pub(super) fn nested(walk: &mut Walk, text: &Word, around: &Around) -> Result<(), Unparsed> {
    if text.dynamic || text.glob || around.appended {
        walk.doubt(format!("the text `{}` is known only when it runs", text.text));
        walk.shell.dynamic |= text.dynamic;
        walk.shell.globs |= text.glob;
    }
    walk.text(&text.text, around)
}

/// A text that is the words, joined by blanks.
pub(super) fn joined(walk: &mut Walk, words: &[Word], around: &Around) -> Result<(), Unparsed> {
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut whole = Word::literal(&text);
    whole.dynamic = words.iter().any(|word| word.dynamic);
    whole.glob = words.iter().any(|word| word.glob);
    nested(walk, &whole, around)
}

fn trap(walk: &mut Walk, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    walk.list(argv, around);
    match argv.words.iter().skip(1).find(|word| !word.text.starts_with('-')) {
        Some(action) if !action.text.is_empty() && argv.words.len() > 2 => nested(walk, action, &around.under("trap")),
        _ => Ok(()),
    }
}

fn watch(walk: &mut Walk, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    walk.list(argv, around);
    let mut at = 1;
    while let Some(word) = argv.words.get(at).filter(|word| word.text.starts_with('-')) {
        let text = word.text.as_str();
        let value = matches!(text, "-n" | "--interval" | "-q" | "--equexit");
        let letters = text.strip_prefix('-').unwrap_or_default();
        let number = letters.strip_prefix('n').is_some_and(|number| number.parse::<f64>().is_ok());
        if !(value || number || letters.chars().all(|c| "bcdegptwx".contains(c))) {
            walk.doubt(format!("the option `{text}` of `watch` is not known"));
        }
        at += if value { 2 } else { 1 };
    }
    joined(walk, argv.words.get(at..).unwrap_or_default(), &around.under("watch"))
}

fn other_user(walk: &mut Walk, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    walk.shell.elevated = true;
    let listed = walk.list(argv, around);
    let command = |word: &Word| matches!(word.text.as_str(), "-c" | "--command");
    let known = |word: &Word| {
        let text = word.text.as_str();
        command(word)
            || !text.starts_with('-')
            || matches!(text, "-" | "-l" | "--login")
            || text.starts_with("--command=")
    };
    if !argv.words.iter().all(known) {
        walk.doubt("an option of `su` is not known");
    }
    let text = argv.words.iter().position(command).and_then(|at| argv.words.get(at + 1)).cloned();
    let glued = |word: &Word| word.text.strip_prefix("--command=").map(Word::literal);
    match text.or_else(|| argv.words.iter().find_map(glued)) {
        Some(text) => nested(walk, &text, &around.under("su -c")),
        None => {
            walk.opaque(listed);
            walk.doubt("what `su` runs is not read");
            Ok(())
        }
    }
}

/// Letters of `ssh` that take a value, the rest of their word or the next one.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

/// Those among them that can do no more than say where to and as whom.
const SSH_HARMLESS: &str = "Bbceilmp";

fn remote(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    let mut inner = around.under(name);
    inner.remote = true;
    let mut here = around.clone();
    here.remote = true;
    let listed = walk.list(argv, &here);
    walk.opaque(listed);
    let mut at = 1;
    while let Some(word) = argv.words.get(at).filter(|word| word.text.starts_with('-')) {
        let text = word.text.as_str();
        let letter = text.char_indices().find(|(_, c)| SSH_VALUES.contains(*c));
        let harmless = letter.is_none_or(|(_, letter)| SSH_HARMLESS.contains(letter));
        if !harmless || text.starts_with("--") || word.dynamic {
            walk.doubt(format!("the option `{text}` of `{name}` may name a command to run here"));
        }
        at += if letter.is_some_and(|(at, _)| at + 1 == text.len()) { 2 } else { 1 };
    }
    let command = argv.words.get(at + 1..).unwrap_or_default();
    if argv.words.get(at).is_some_and(|host| host.dynamic || host.glob) {
        walk.doubt("the machine is known only when it runs");
    }
    if command.is_empty() { Ok(()) } else { joined(walk, command, &inner) }
}
