//! Wrappers: programs whose arguments are another command.

use super::{Level, Program};
use crate::lister::Lister;
use crate::lister::place::{Ends, join};
use crate::{Directory, ProgramRun, RunPosition, ShellWord, VariableAssignment, WordPart};

/// The words of a wrapper that stand before its command.
#[derive(Default)]
pub(super) struct Wrapper {
    name: &'static str,
    /// Options that take the next word.
    values: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is the directory of the command.
    directories: &'static [&'static str],
    /// Number of words before the command that belong to the wrapper.
    operands: usize,
    /// `NAME=value` may stand before the command.
    takes_assignments: bool,
    /// It changes more than the manner in which the command runs, so it is a run itself.
    is_listed: bool,
    /// The command is started by the shell itself.
    is_builtin: bool,
}

const NONE: Wrapper = Wrapper {
    name: "",
    values: &[],
    flags: &[],
    directories: &[],
    operands: 0,
    takes_assignments: false,
    is_listed: false,
    is_builtin: false,
};

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "builtin", is_builtin: true, ..NONE },
    Wrapper { name: "command", flags: &["-p"], is_builtin: true, ..NONE },
    Wrapper { name: "doas", values: &["-u"], flags: &["-n"], is_listed: true, ..NONE },
    Wrapper {
        name: "env",
        values: &["--unset", "-u"],
        flags: &["-", "--ignore-environment", "-i"],
        directories: &["--chdir", "-C"],
        takes_assignments: true,
        ..NONE
    },
    Wrapper { name: "exec", values: &["-a"], flags: &["-c", "-l", "-cl", "-lc"], is_builtin: true, ..NONE },
    Wrapper {
        name: "gtimeout",
        values: &["--kill-after", "--signal", "-k", "-s"],
        flags: &["--foreground", "--preserve-status", "--verbose", "-f", "-p", "-v"],
        operands: 1,
        ..NONE
    },
    Wrapper { name: "ionice", values: &["--class", "--classdata", "-c", "-n"], flags: &["--ignore", "-t"], ..NONE },
    Wrapper { name: "nice", values: &["--adjustment", "-n"], ..NONE },
    Wrapper { name: "nohup", ..NONE },
    Wrapper { name: "setsid", flags: &["--ctty", "--fork", "--wait", "-c", "-f", "-w"], ..NONE },
    Wrapper { name: "stdbuf", values: &["--error", "--input", "--output", "-e", "-i", "-o"], ..NONE },
    Wrapper {
        name: "sudo",
        values: &["--close-from", "--group", "--user", "--prompt", "-C", "-g", "-p", "-u"],
        flags: &[
            "--background",
            "--non-interactive",
            "--preserve-env",
            "--set-home",
            "--stdin",
            "-E",
            "-H",
            "-S",
            "-b",
            "-k",
            "-n",
        ],
        directories: &["--chdir", "-D"],
        takes_assignments: true,
        is_listed: true,
        ..NONE
    },
    Wrapper { name: "time", flags: &["--portability", "--verbose", "-p", "-v"], ..NONE },
    Wrapper {
        name: "timeout",
        values: &["--kill-after", "--signal", "-k", "-s"],
        flags: &["--foreground", "--preserve-status", "--verbose", "-f", "-p", "-v"],
        operands: 1,
        ..NONE
    },
];

/// Finds a wrapper by its name.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.name == name)
}

/// What the words of a wrapper say about its command.
#[derive(Default)]
struct WrappedCommand {
    /// Index of its first word.
    at: usize,
    assignments: Vec<VariableAssignment>,
    directories: Vec<ShellWord>,
    doubt: Option<String>,
}

/// Lists the command of a wrapper.
pub(super) fn unwrap(lister: &mut Lister, run: ProgramRun, wrapper: &Wrapper, program: &Program, level: Level) -> Ends {
    let queries = wrapper.name == "command" && run.words.get(1).and_then(ShellWord::text).is_some_and(is_query);
    if queries || (wrapper.is_builtin && !program.is_bare) {
        lister.push(run);
        return Ends::same(lister.place.clone());
    }
    let command = read(&run.words, wrapper);
    if let Some(reason) = &command.doubt {
        lister.doubt(&run.span.clone(), reason.clone());
    }
    let rest = run.words.get(command.at..).unwrap_or_default().to_vec();
    if rest.is_empty() {
        return alone(lister, run, wrapper, command);
    }
    let mut inner = ProgramRun { words: rest.clone(), ..run.clone() };
    inner.position.push(RunPosition::Wrapper(wrapper.name.to_owned()));
    inner.assignments.extend(command.assignments);
    for directory in command.directories {
        inner.directory = directory.text().map_or(Directory::Unknown, |path| join(&inner.directory, path));
    }
    let is_listed = wrapper.is_listed || !program.is_on_path || command.doubt.is_some();
    if is_listed {
        lister.push(run);
    }
    let is_direct = level.is_direct && wrapper.is_builtin && wrapper.name != "exec";
    if wrapper.name == "sudo" || wrapper.name == "doas" {
        // The environment is another one, and `~` has been replaced before.
        inner.position.dedup();
    }
    let place = lister.place.clone();
    super::start(lister, inner, Level { is_direct, ..level });
    // `command cd x` may change the directory.
    let moved = lister.place != place || (is_direct && is_moving(&rest));
    lister.place = if moved { place.lost() } else { place };
    Ends::same(lister.place.clone())
}

fn is_query(word: &str) -> bool {
    word.starts_with('-') && word.contains(['v', 'V'])
}

fn is_moving(words: &[ShellWord]) -> bool {
    words
        .first()
        .is_none_or(|word| word.text().is_none_or(|name| matches!(name, "cd" | "chdir" | "pushd" | "popd" | "eval")))
}

/// Lists a wrapper without a command: `exec > file`, `env`, `sudo -k`.
fn alone(lister: &mut Lister, mut run: ProgramRun, wrapper: &Wrapper, command: WrappedCommand) -> Ends {
    run.assignments.extend(command.assignments);
    if wrapper.name == "exec" && run.redirects.iter().any(|redirect| redirect.kind != crate::RedirectionKind::Duplicate)
    {
        lister.is_redirected = true;
    }
    lister.push(run);
    Ends::same(lister.place.clone())
}

/// Finds the command behind the options of a wrapper.
fn read(words: &[ShellWord], wrapper: &Wrapper) -> WrappedCommand {
    let mut command = WrappedCommand { at: 1, ..WrappedCommand::default() };
    let mut operands = wrapper.operands;
    let mut options = true;
    while let Some(word) = words.get(command.at) {
        let Some(text) = word.text() else {
            if let Some(assignment) = as_assignment(word).filter(|_| wrapper.takes_assignments) {
                command.assignments.push(assignment);
                command.at += 1;
                continue;
            }
            let operand = operands > 0 && !word.may_be_option() && word.is_one();
            let program = operands == 0 && (!word.may_be_option() || !options) && !wrapper.takes_assignments;
            if operand {
                operands -= 1;
                command.at += 1;
                continue;
            }
            if !program {
                command.doubt = Some(format!("a word of `{}` before its command is not known", wrapper.name));
            }
            break;
        };
        if options && text == "--" {
            options = false;
        } else if options && text.starts_with('-') && (text.len() > 1 || wrapper.flags.contains(&text)) {
            pass_option(words, wrapper, text, &mut command);
            continue;
        } else if wrapper.takes_assignments && as_assignment(word).is_some() {
            command.assignments.extend(as_assignment(word));
        } else if operands > 0 {
            operands -= 1;
        } else {
            break;
        }
        command.at += 1;
    }
    command
}

/// Passes an option and its value.
fn pass_option(words: &[ShellWord], wrapper: &Wrapper, text: &str, command: &mut WrappedCommand) {
    let next = words.get(command.at + 1);
    let is_value = |option: &str| wrapper.values.contains(&option) || wrapper.directories.contains(&option);
    if is_value(text) {
        if wrapper.directories.contains(&text) {
            command.directories.extend(next.cloned());
        }
        if next.is_none_or(|next| !next.is_one()) {
            command.doubt = Some(format!("the value of `{text}` is not known"));
        }
        command.at += 2;
        return;
    }
    command.at += 1;
    if wrapper.flags.contains(&text) {
        return;
    }
    if let Some((long, value)) = text.split_once('=')
        && long.starts_with("--")
        && is_value(long)
    {
        if wrapper.directories.contains(&long) {
            command.directories.push(ShellWord::literal(value));
        }
        return;
    }
    if wrapper.name == "sudo" && text.starts_with("--preserve-env=") {
        return;
    }
    if wrapper.name == "nice" && text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) {
        return;
    }
    if text.starts_with("--") || !pass_letters(wrapper, text, words, command) {
        command.doubt = Some(format!("the option `{text}` of `{}` is not known", wrapper.name));
    }
}

/// Passes letters in one word: `-nu root`, `-oL`.
fn pass_letters(wrapper: &Wrapper, text: &str, words: &[ShellWord], command: &mut WrappedCommand) -> bool {
    let letters = text.get(1..).unwrap_or_default();
    for (at, letter) in letters.char_indices() {
        let option = format!("-{letter}");
        let option = option.as_str();
        let is_directory = wrapper.directories.contains(&option);
        if is_directory || wrapper.values.contains(&option) {
            let glued = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            let value = if glued.is_empty() { words.get(command.at).cloned() } else { Some(ShellWord::literal(glued)) };
            command.at += usize::from(glued.is_empty());
            if is_directory {
                command.directories.extend(value);
            }
            return true;
        }
        if !wrapper.flags.contains(&option) {
            return false;
        }
    }
    true
}

/// Reads `NAME=value`.
pub(crate) fn as_assignment(word: &ShellWord) -> Option<VariableAssignment> {
    let Some(WordPart::Literal(first)) = word.parts.first() else { return None };
    let (name, start) = first.split_once('=')?;
    let plain = name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    if name.is_empty() || !plain || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if !word.is_one() {
        return None;
    }
    let mut parts = word.parts.clone();
    match parts.first_mut() {
        Some(WordPart::Literal(text)) if !start.is_empty() => *text = start.to_owned(),
        _ => {
            parts.remove(0);
        }
    }
    let value = ShellWord { parts, span: word.span.clone() };
    Some(VariableAssignment { name: name.to_owned(), value, exported: true })
}
