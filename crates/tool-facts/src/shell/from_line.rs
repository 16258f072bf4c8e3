//! The facts about a command line in a declared language.
//!
//! The line says which commands run; the tables of this crate say what each of them does. Conditions over these facts were written for texts that
//! every shell reads alike, so a word that is known only when the command runs is a doubt here, although it is none of the line.

use command_line::{
    Directory, Effects, HazardKind, Line, ProgramRun, RedirectionKind, RunPosition, Stdin as LineStdin, WordPart,
};

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::guard::refused;
use super::word::Word;
use super::{Assignment, Redirect, Shell};

/// Programs that run a command as another user.
const ELEVATING: &[&str] = &["doas", "gosu", "pkexec", "run0", "runuser", "su", "su-exec", "sudo", "sudoedit"];

/// Programs that run a command on another machine.
const REMOTE: &[&str] = &["autossh", "mosh", "ssh"];

impl Shell {
    /// Takes the facts from a command line. `text` is the text in which the spans of the line stand.
    pub(crate) fn from_line(line: &Line, text: &str) -> Self {
        let mut collector = Collector::default();
        for run in &line.runs {
            add_run(&mut collector, line, run, text);
        }
        let lone = match line.runs.as_slice() {
            [only] => only.position.is_empty() && only.directory == Directory::Start,
            _ => false,
        };
        if let Some(doubt) = line.doubts.first() {
            collector.shell.doubt = Some(refused(doubt.reason.clone()));
        }
        collector.into_shell(lone)
    }
}

fn add_run(collector: &mut Collector, line: &Line, run: &ProgramRun, text: &str) {
    let effects = command_line::effects(run);
    let context = context_of(run);
    collector.shell.elevated |= context.via.iter().any(|name| ELEVATING.contains(&name.as_str()));
    note_position(collector, run);
    let argv = argv_of(run, text);
    note_redirects(collector, &argv);
    let before = collector.shell.commands.len();
    let name = argv.words.first().map(|word| super::program::name(&word.text)).unwrap_or_default();
    let result =
        if is_expanded(line, &name) { collector.run_alone(&argv, &context) } else { collector.run(argv, &context) };
    if let Err(unparsed) = result {
        collector.add_doubt(unparsed.reason);
    }
    add_effects(collector, &effects);
    let moved = run.directory != Directory::Start;
    collector.shell.cwd_changed |= moved;
    let subcommand = effects.subcommand.into_iter().next();
    if let Some(simple) = collector.shell.commands.get_mut(before) {
        simple.cwd_changed |= moved;
        if let Some(subcommand) = subcommand {
            simple.subcommand = subcommand;
        }
    }
}

/// Says whether the line lists the commands that a program of this name runs.
fn is_expanded(line: &Line, name: &str) -> bool {
    line.runs.iter().flat_map(|run| &run.position).filter_map(wrapper_name).any(|wrapper| wrapper == name)
}

/// The program that starts a command at this position, if one does.
fn wrapper_name(position: &RunPosition) -> Option<&str> {
    match position {
        RunPosition::Arguments(name) | RunPosition::Text(name) | RunPosition::Wrapper(name) => Some(name),
        RunPosition::Pipe
        | RunPosition::List
        | RunPosition::Background
        | RunPosition::Subshell
        | RunPosition::Loop
        | RunPosition::Condition
        | RunPosition::Substitution
        | RunPosition::HereDocument
        | RunPosition::Function(_) => None,
    }
}

fn context_of(run: &ProgramRun) -> CommandContext {
    let via: Vec<String> = run.position.iter().filter_map(wrapper_name).map(str::to_owned).collect();
    let remote = via.iter().any(|name| REMOTE.contains(&name.as_str()));
    CommandContext { via, remote, appended: false }
}

/// Sets the properties of the whole text that follow from where a command stands.
fn note_position(collector: &mut Collector, run: &ProgramRun) {
    let shell = &mut collector.shell;
    for position in &run.position {
        match position {
            RunPosition::Pipe => shell.pipes = true,
            RunPosition::Background => shell.background = true,
            RunPosition::Substitution => shell.substitutions = true,
            RunPosition::Function(name) if !shell.functions.contains(name) => shell.functions.push(name.clone()),
            RunPosition::List
            | RunPosition::Subshell
            | RunPosition::Loop
            | RunPosition::Condition
            | RunPosition::HereDocument
            | RunPosition::Function(_)
            | RunPosition::Arguments(_)
            | RunPosition::Text(_)
            | RunPosition::Wrapper(_) => {}
        }
    }
}

fn note_redirects(collector: &mut Collector, argv: &Argv) {
    for redirect in argv.redirects.iter().filter(|redirect| !redirect.is_harmless()) {
        match redirect.kind {
            "read" => collector.shell.reads.push(redirect.target.clone()),
            "write" | "append" | "read_write" => collector.shell.writes.push(redirect.target.clone()),
            _ => {}
        }
    }
}

/// Adds what the tables of programs say about the words of a command.
fn add_effects(collector: &mut Collector, effects: &Effects) {
    for word in &effects.writes {
        match word.text() {
            Some(file) if collector.shell.writes.iter().any(|known| known == file) => {}
            Some(file) => collector.shell.writes.push(file.to_owned()),
            None => collector.writes_unknown = true,
        }
    }
    for hazard in &effects.hazards {
        match hazard.kind {
            HazardKind::Runs => collector.add_doubt(format!("`{}` may run another program", effects.name)),
            HazardKind::Unknown => {
                collector.add_doubt(format!("`{}` has a word whose effect is not known", effects.name));
            }
            HazardKind::Writes => collector.writes_unknown |= hazard.target.is_none(),
            HazardKind::Sends => {}
        }
    }
}

fn argv_of(run: &ProgramRun, text: &str) -> Argv {
    // A word inside `sh -c '…'`, or one that `xargs` appends, has the span of the whole text.
    let inside =
        run.position.iter().any(|position| matches!(position, RunPosition::Text(_) | RunPosition::Arguments(_)));
    let source = if inside { "" } else { text };
    let assignments = run
        .assignments
        .iter()
        .map(|assignment| Assignment { name: assignment.name.clone(), value: word_of(&assignment.value, source).text });
    let redirects = run
        .redirects
        .iter()
        .map(|redirect| Redirect { kind: kind_of(redirect.kind), target: word_of(&redirect.target, source).text });
    let stdin = match &run.stdin {
        LineStdin::Inherited => Stdin::Inherited,
        LineStdin::Text(text) => Stdin::Text(text.clone()),
        LineStdin::Pipe | LineStdin::UnknownText | LineStdin::File => Stdin::Other,
    };
    Argv {
        words: run.words.iter().map(|word| word_of(word, source)).collect(),
        assignments: assignments.collect(),
        redirects: redirects.collect(),
        stdin,
    }
}

/// A word of the line. A word with parts that only the shell knows is kept as written.
fn word_of(word: &command_line::ShellWord, source: &str) -> Word {
    let mut text = String::new();
    let (mut dynamic, mut glob) = (false, false);
    for part in &word.parts {
        match part {
            WordPart::Literal(known) => text.push_str(known),
            WordPart::Glob(pattern) => {
                glob = true;
                text.push_str(pattern);
            }
            WordPart::Home => {
                glob = true;
                text.push('~');
            }
            WordPart::Number => {
                glob = true;
                text.push_str("$?");
            }
            WordPart::Unknown { .. } => {
                dynamic = true;
                text.push_str("$_");
            }
        }
    }
    let written = source.get(word.span.clone()).filter(|written| !written.is_empty() && (dynamic || glob));
    Word::as_written(written.unwrap_or(&text), dynamic, glob)
}

fn kind_of(kind: RedirectionKind) -> &'static str {
    match kind {
        RedirectionKind::Read => "read",
        RedirectionKind::Write => "write",
        RedirectionKind::Append => "append",
        RedirectionKind::ReadWrite => "read_write",
        RedirectionKind::Duplicate => "duplicate",
        RedirectionKind::Text => "here_document",
    }
}

#[cfg(test)]
mod tests;
