//! Writes runs as short lines, for tables.

use holdpoint_command_line::{
    Directory, Line, ProgramRun, RedirectionKind, RunPosition, ShellLanguage, ShellWord, Stdin, WordPart,
};

/// Writes a word: `*` in `‹›` is a pattern, `~` the home directory, `#` a number, `$` one unknown text, `$$` any number of words.
pub(crate) fn word(word: &ShellWord) -> String {
    if word.parts.is_empty() {
        return "''".to_owned();
    }
    let part = |part: &WordPart| match part {
        WordPart::Literal(text) if text.contains([' ', '\n', '\t', '$', '~', '‹']) => {
            format!("'{}'", text.replace('\n', "\\n"))
        }
        WordPart::Literal(text) => text.clone(),
        WordPart::Glob(text) => format!("‹{text}›"),
        WordPart::Home => "~".to_owned(),
        WordPart::Number => "‹#›".to_owned(),
        WordPart::Unknown { quoted: true } => "$".to_owned(),
        WordPart::Unknown { quoted: false } => "$$".to_owned(),
    };
    word.parts.iter().map(part).collect()
}

/// Writes a run: its place, then variables, words, redirections, input and directory.
pub(crate) fn run(run: &ProgramRun) -> String {
    let mut pieces = Vec::new();
    for position in &run.position {
        match position {
            RunPosition::Pipe
            | RunPosition::List
            | RunPosition::Background
            | RunPosition::Subshell
            | RunPosition::Loop
            | RunPosition::Condition
            | RunPosition::Substitution
            | RunPosition::HereDocument => {}
            RunPosition::Function(name) => pieces.push(format!("{name}()")),
            RunPosition::Arguments(name) | RunPosition::Text(name) | RunPosition::Wrapper(name) => {
                pieces.push(format!("{name}>"));
            }
        }
    }
    for assignment in &run.assignments {
        let sign = if assignment.exported { "=" } else { ":=" };
        pieces.push(format!("{}{sign}{}", assignment.name, word(&assignment.value)));
    }
    pieces.extend(run.words.iter().map(word));
    for redirect in &run.redirects {
        let sign = match redirect.kind {
            RedirectionKind::Read => "<",
            RedirectionKind::Write => ">",
            RedirectionKind::Append => ">>",
            RedirectionKind::ReadWrite => "<>",
            RedirectionKind::Duplicate => ">&",
            RedirectionKind::Text => continue,
        };
        pieces.push(format!("{sign}{}", word(&redirect.target)));
    }
    match &run.stdin {
        Stdin::Inherited | Stdin::Pipe | Stdin::File => {}
        Stdin::Text(text) => pieces.push(format!("<<'{}'", text.replace('\n', "\\n"))),
        Stdin::UnknownText => pieces.push("<<$".to_owned()),
    }
    match &run.directory {
        Directory::Start => {}
        Directory::At(path) => pieces.push(format!("@{path}")),
        Directory::Unknown => pieces.push("@?".to_owned()),
    }
    pieces.join(" ")
}

/// Writes the runs of a text, divided by ` | `, and `!` at the end if there is a doubt. `error` if it cannot be read.
pub(crate) fn line(language: ShellLanguage, text: &str) -> String {
    match Line::parse(language, text) {
        Err(_) => "error".to_owned(),
        Ok(line) => {
            let runs: Vec<String> = line.runs.iter().map(run).collect();
            let doubt = if line.doubts.is_empty() { "" } else { " !" };
            format!("{}{doubt}", runs.join(" | "))
        }
    }
}

/// Compares texts with their runs, as `render` writes them.
pub(crate) fn check(language: ShellLanguage, rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, line(language, text)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text:?}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
