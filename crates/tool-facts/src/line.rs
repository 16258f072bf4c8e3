//! Command lines of calls: texts, lists of words, and several commands as one line.

use std::ops::Range;

use command_line::{Doubt, Line, ProgramRun, ShellLanguage, ShellWord, VariableAssignment};
use serde_json::Value;

use crate::Unparsed;
use crate::argument::{self, Argument, CommandList};
use crate::shell::{check_text, find_shell_text};

/// Reads a text in a language.
pub(super) fn of_text(language: ShellLanguage, text: &str) -> Result<Line, Unparsed> {
    check_text(text)?;
    Line::parse(language, text).map_err(|doubt| Unparsed::new("shell", doubt.reason))
}

/// Reads the words of one command, which no shell reads. Gives the line and the text in which its spans stand: the text that the words give to a
/// shell (`["bash", "-lc", text]`), or the quoted words.
pub(super) fn of_words(words: &[&str]) -> Result<(Line, String), Unparsed> {
    if let Some((language, text)) = find_shell_text(words) {
        return Ok((of_text(language, text)?, text.to_owned()));
    }
    if words.is_empty() {
        return Err(Unparsed::new("shell", "the text contains no command"));
    }
    let text = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    Ok((of_text(ShellLanguage::Sh, &text)?, text))
}

/// Reads a command of an undeclared tool, as Bash does.
pub(super) fn of_guess(argument: &Argument<'_>, list: CommandList) -> Result<(Line, String), Unparsed> {
    let refused = |reason: &str| Unparsed::new("shell", reason);
    let further = argument.beside(&argument::is_further_words).map_err(refused)?;
    let further = further.map_or(Ok(Vec::new()), crate::read_words)?;
    let (mut line, text) = match argument.value {
        Value::String(text) if further.is_empty() => (of_text(ShellLanguage::Bash, text)?, text.clone()),
        Value::String(program) => of_words(&std::iter::once(program.as_str()).chain(further).collect::<Vec<_>>())?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            let words = crate::read_words(argument.value)?;
            if list == CommandList::Texts { of_texts(&words)? } else { of_words(&words)? }
        }
    };
    add_variables(&mut line, argument)?;
    Ok((line, text))
}

/// Reads several texts, each of which a shell of its own runs.
fn of_texts(texts: &[&str]) -> Result<(Line, String), Unparsed> {
    let mut all = String::new();
    let line = texts.iter().try_fold(Line::default(), |line, text| {
        let more = of_text(ShellLanguage::Bash, text)?;
        Ok(join(line, more, &mut all, text))
    })?;
    Ok((line, all))
}

/// Adds a line after another. The text of the second is appended to that of the first, on a line of its own.
pub(super) fn join(mut line: Line, more: Line, text: &mut String, of_more: &str) -> Line {
    if !text.is_empty() {
        text.push('\n');
    }
    let by = text.len();
    text.push_str(of_more);
    line.runs.extend(more.runs.into_iter().map(|run| shifted(run, by)));
    let doubts = more.doubts.into_iter();
    line.doubts.extend(doubts.map(|doubt| Doubt { span: shifted_span(&doubt.span, by), ..doubt }));
    line
}

/// Adds the variables that an argument beside the command sets for everything in it.
pub(super) fn add_variables(line: &mut Line, argument: &Argument<'_>) -> Result<(), Unparsed> {
    let refused = |reason: &str| Unparsed::new("shell", reason);
    let named = |name: &str, _: &Value| argument::is_environment(name);
    let Some(variables) = argument.beside(&named).map_err(refused)? else { return Ok(()) };
    let variables = variables.as_object().ok_or_else(|| refused("the variables are not an object"))?;
    for (name, value) in variables {
        let value = value.as_str().ok_or_else(|| refused("the value of a variable is not a text"))?;
        for run in &mut line.runs {
            let value = ShellWord::literal(value);
            run.assignments.push(VariableAssignment { name: name.clone(), value, exported: true });
        }
    }
    Ok(())
}

/// Adds a doubt about the whole line.
pub(super) fn add_doubt(line: &mut Line, text: &str, reason: &str) {
    line.doubts.push(Doubt { span: 0..text.len(), reason: reason.to_owned() });
}

/// A word as a POSIX shell has to be given it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ',' | ':' | '@' | '%' | '+');
    // A reserved word without quotes would not be a program.
    if word.contains(['/', '-', '.', '_']) && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn shifted(mut run: ProgramRun, by: usize) -> ProgramRun {
    run.span = shifted_span(&run.span, by);
    run.words.iter_mut().for_each(|word| shift(word, by));
    run.assignments.iter_mut().for_each(|assignment| shift(&mut assignment.value, by));
    for redirect in &mut run.redirects {
        redirect.span = shifted_span(&redirect.span, by);
        shift(&mut redirect.target, by);
    }
    run
}

fn shift(word: &mut ShellWord, by: usize) {
    word.span = shifted_span(&word.span, by);
}

fn shifted_span(span: &Range<usize>, by: usize) -> Range<usize> {
    span.start + by..span.end + by
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("git", "'git'"),
            ("a/b", "a/b"),
            ("--stat", "--stat"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$x", "'$x'"),
            ("a b", "'a b'"),
            ("if", "'if'"),
            ("x=1", "'x=1'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
