//! Programs whose argument or input is the text of a shell.

use super::guard::refused;
use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use crate::parsed::Unparsed;

/// Shells that read the plain part alike.
const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "rbash"];

/// Shells that read most of it alike: what they run is listed, and in doubt.
const OTHERS: &[&str] = &["zsh", "ksh", "mksh", "rksh", "hush", "yash", "osh", "posh", "oksh"];

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
                // `-o name` and `-O name` take the next word.
                at += usize::from(text.ends_with(['o', 'O']));
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
        at += if matches!(word.text.as_str(), "-n" | "--interval" | "-q" | "--equexit") { 2 } else { 1 };
    }
    joined(walk, argv.words.get(at..).unwrap_or_default(), &around.under("watch"))
}

fn other_user(walk: &mut Walk, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    walk.shell.elevated = true;
    let listed = walk.list(argv, around);
    let command = |word: &Word| matches!(word.text.as_str(), "-c" | "--command");
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

/// Options of `ssh` that take the next word.
const SSH_VALUES: &str = "BbcDEeFIiJLlmOoPpQRSWw";

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
        if text.starts_with("-o") || text.starts_with("-F") || text.starts_with("--") || word.dynamic {
            walk.doubt(format!("the option `{text}` of `{name}` may name a command to run here"));
        }
        let value = text.len() == 2 && text.ends_with(|c: char| SSH_VALUES.contains(c));
        at += if value { 2 } else { 1 };
    }
    let command = argv.words.get(at + 1..).unwrap_or_default();
    if argv.words.get(at).is_some_and(|host| host.dynamic || host.glob) {
        walk.doubt("the machine is known only when it runs");
    }
    if command.is_empty() { Ok(()) } else { joined(walk, command, &inner) }
}
