//! Programs whose arguments are another command.

use super::guard::refused;
use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use super::{Assignment, runner, unread};
use crate::Unparsed;

/// How a wrapper's own arguments end and the command begins.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word.
    values: &'static [&'static str],
    /// Options that stand alone. Others are not known, and what follows them is in doubt.
    flags: &'static [&'static str],
    /// Words of its own before the command.
    operands: usize,
    /// `NAME=value` may come before the command.
    assigns: bool,
    /// It changes more than the manner in which the command runs, so it is on the list itself.
    listed: bool,
}

const PLAIN: Wrapper = Wrapper { name: "", values: &[], flags: &[], operands: 0, assigns: false, listed: false };

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        name: "sudo",
        values: &[
            "-u",
            "-g",
            "-h",
            "-p",
            "-C",
            "-T",
            "-r",
            "-t",
            "-D",
            "-R",
            "-U",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--close-from",
            "--command-timeout",
            "--role",
            "--type",
            "--chdir",
            "--chroot",
            "--other-user",
        ],
        flags: &[
            "-A",
            "-b",
            "-E",
            "-H",
            "-n",
            "-P",
            "-S",
            "-s",
            "-i",
            "-k",
            "-B",
            "-N",
            "--askpass",
            "--background",
            "--set-home",
            "--preserve-env",
            "--non-interactive",
            "--preserve-groups",
            "--stdin",
            "--shell",
            "--login",
            "--reset-timestamp",
        ],
        assigns: true,
        listed: true,
        ..PLAIN
    },
    Wrapper { name: "doas", values: &["-u", "-C"], flags: &["-n", "-s", "-L"], listed: true, ..PLAIN },
    Wrapper {
        name: "env",
        values: &["-u", "-C", "--unset", "--chdir"],
        flags: &["-i", "-", "-0", "-v", "--ignore-environment", "--null", "--debug"],
        assigns: true,
        ..PLAIN
    },
    Wrapper { name: "nohup", ..PLAIN },
    Wrapper { name: "nice", values: &["-n", "--adjustment"], ..PLAIN },
    Wrapper { name: "ionice", values: &["-c", "-n", "--class", "--classdata"], flags: &["-t", "--ignore"], ..PLAIN },
    Wrapper {
        name: "timeout",
        values: &["-s", "-k", "--signal", "--kill-after"],
        flags: &["-f", "-p", "-v", "--foreground", "--preserve-status", "--verbose"],
        operands: 1,
        ..PLAIN
    },
    Wrapper { name: "gtimeout", values: &["-s", "-k"], operands: 1, ..PLAIN },
    Wrapper { name: "time", flags: &["-p", "-v", "--portability", "--verbose"], ..PLAIN },
    Wrapper { name: "command", flags: &["-p"], ..PLAIN },
    Wrapper { name: "exec", values: &["-a"], flags: &["-c", "-l", "-cl", "-lc"], ..PLAIN },
    Wrapper { name: "builtin", ..PLAIN },
    Wrapper { name: "noglob", ..PLAIN },
    Wrapper { name: "nocorrect", ..PLAIN },
    Wrapper { name: "stdbuf", values: &["-i", "-o", "-e", "--input", "--output", "--error"], ..PLAIN },
    Wrapper { name: "setsid", flags: &["-c", "-f", "-w", "--ctty", "--fork", "--wait"], ..PLAIN },
    Wrapper { name: "busybox", listed: true, ..PLAIN },
    Wrapper { name: "toybox", listed: true, ..PLAIN },
    Wrapper {
        name: "xargs",
        values: &[
            "-a",
            "-d",
            "-E",
            "-I",
            "-L",
            "-n",
            "-P",
            "-s",
            "--arg-file",
            "--delimiter",
            "--max-lines",
            "--max-args",
            "--max-procs",
            "--max-chars",
            "--replace",
            "--process-slot-var",
        ],
        flags: &[
            "-0",
            "-r",
            "-t",
            "-x",
            "-p",
            "-o",
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--exit",
            "--interactive",
            "--open-tty",
        ],
        listed: true,
        ..PLAIN
    },
];

/// Looks through a wrapper. Gives `false` where the program is none.
pub(super) fn run(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<bool, Unparsed> {
    if unread::is(name) {
        let at = walk.list(argv, around);
        walk.opaque(at);
        walk.doubt(format!("`{name}` may run another command in a manner that is not read"));
        walk.shell.elevated |= matches!(name, "runuser" | "pkexec" | "run0" | "sudoedit" | "gosu" | "su-exec");
        runner::guess(walk, name, argv, around)?;
        return Ok(true);
    }
    let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else { return Ok(false) };
    if wrapper.name == "env" && splits(&argv.words) {
        return split_string(walk, argv, around).map(|()| true);
    }
    if wrapper.name == "command" && argv.words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")) {
        walk.list(argv, around);
        return Ok(true);
    }
    if matches!(name, "sudo" | "doas") {
        walk.shell.elevated = true;
    }
    unwrap(walk, wrapper, argv, around)?;
    Ok(true)
}

fn unwrap(walk: &mut Walk, wrapper: &Wrapper, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
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
        } else if options && text.starts_with('-') && (text.len() > 1 || wrapper.flags.contains(&text)) {
            at += option(walk, wrapper, text);
            continue;
        } else if wrapper.assigns && assigns(text) {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            assignments.push(Assignment { name: name.to_owned(), value: value.to_owned() });
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        at += 1;
    }
    let rest: Vec<Word> = argv.words.get(at..).unwrap_or_default().to_vec();
    if wrapper.listed || rest.is_empty() {
        let listed = walk.list(argv, around);
        if rest.is_empty() && wrapper.listed {
            walk.opaque(listed);
        }
    }
    if rest.is_empty() {
        assignments.iter().for_each(|assignment| walk.notice_variable(&assignment.name, &assignment.value));
        return Ok(());
    }
    let mut inner = around.under(wrapper.name);
    inner.appended |= wrapper.name == "xargs";
    let redirects = if wrapper.listed { Vec::new() } else { argv.redirects.clone() };
    let stdin = if wrapper.name == "xargs" { Stdin::Other } else { argv.stdin.clone() };
    walk.run(Argv { words: rest, assignments, redirects, stdin }, &inner)
}

/// Says how many words an option takes.
fn option(walk: &mut Walk, wrapper: &Wrapper, text: &str) -> usize {
    let places = ["-C", "-D", "-R", "--chdir", "--chroot"];
    walk.shell.cwd_changed |= places.iter().any(|place| text.starts_with(place));
    if wrapper.values.contains(&text) {
        return 2;
    }
    if wrapper.flags.contains(&text) {
        return 1;
    }
    if let Some((long, _)) = text.split_once('=')
        && long.starts_with("--")
        && (wrapper.values.contains(&long) || wrapper.flags.contains(&long))
    {
        return 1;
    }
    // `nice -5` is a number.
    if wrapper.name == "nice" && text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) {
        return 1;
    }
    // `-n -u root` may be written `-nuroot`, or `-nu root`.
    let letters = text.get(1..).filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    for (at, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        if wrapper.values.contains(&option.as_str()) {
            walk.shell.cwd_changed |= places.contains(&option.as_str());
            return if at + letter.len_utf8() == letters.len() { 2 } else { 1 };
        }
        if !wrapper.flags.contains(&option.as_str()) {
            break;
        }
        if at + 1 == letters.len() {
            return 1;
        }
    }
    walk.doubt(format!("the option `{text}` of `{}` is not known", wrapper.name));
    1
}

fn assigns(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn splits(words: &[Word]) -> bool {
    words.iter().skip(1).take_while(|word| word.text.starts_with('-') || assigns(&word.text)).any(|word| {
        word.text.starts_with("--split")
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('S'))
    })
}

/// `env -S` splits by rules of its own: its command is listed as a shell would see it, and never relied on.
fn split_string(walk: &mut Walk, argv: &Argv, around: &Around) -> Result<(), Unparsed> {
    walk.doubt("`env -S` splits its argument by rules of its own");
    walk.list(argv, around);
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
    walk.text(&text, &around.under("env")).map_err(|_| refused("the argument of `env -S` cannot be read"))
}
