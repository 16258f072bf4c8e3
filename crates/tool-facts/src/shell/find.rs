//! `find`, which runs a command on the files that it finds.

use super::collector::{Argv, Collector, CommandContext, Stdin};
use super::word::Word;
use crate::Unparsed;
use crate::word_list::WordList;

/// Tests that take the next word as their value.
static TESTS: WordList = WordList::new(include_str!("../../data/shell/find_tests.txt"));

/// Examines a call of `find`. Returns `false` if the program is not `find`.
pub(super) fn run(
    collector: &mut Collector,
    name: &str,
    argv: &Argv,
    context: &CommandContext,
) -> Result<bool, Unparsed> {
    if !matches!(name, "find" | "gfind" | "bfs") {
        return Ok(false);
    }
    collector.add_command(argv, context);
    let mut words = argv.words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            _ if word.dynamic => {}
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = words.next() {
                    // The option may itself be the value of the word before it, as in `-name -fprint -fprint x`.
                    if file.text.starts_with('-') {
                        collector.add_doubt(format!("`{}` may be an option, or a file", file.text));
                    }
                    collector.shell.writes.push(file.text.clone());
                }
            }
            test if TESTS.contains(test.trim_start_matches('-')) && test.starts_with('-') => {
                if let Some(value) = words.next().filter(|value| value.text.starts_with('-')) {
                    collector.add_doubt(format!("`{}` may be an option, or the value of `{test}`", value.text));
                }
            }
            "-delete" => {
                let starts: Vec<String> = places(argv);
                collector.shell.writes.extend(starts);
            }
            action @ ("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let mut inner: Vec<Word> = Vec::new();
                for word in words.by_ref() {
                    if word.text == ";" || (word.text == "+" && inner.last().is_some_and(|last| last.text == "{}")) {
                        break;
                    }
                    let mut word = word.clone();
                    // `find` puts a file name here, as a pattern would.
                    word.glob |= word.text.contains("{}");
                    inner.push(word);
                }
                let argv = Argv { words: inner, stdin: Stdin::Other, ..Argv::default() };
                collector.run(argv, &context.under(&format!("{name} {action}")))?;
            }
            _ => {}
        }
    }
    Ok(true)
}

/// The directories that `find` searches: the words before its expression, or the working directory.
fn places(argv: &Argv) -> Vec<String> {
    let expression =
        |word: &&Word| !(word.text.starts_with(['(', '!']) || word.text.starts_with('-') && word.text.len() > 2);
    let words = argv.words.iter().skip(1).take_while(expression).filter(|word| !word.text.starts_with('-'));
    let places: Vec<String> = words.map(|word| word.text.clone()).collect();
    if places.is_empty() { vec![".".to_owned()] } else { places }
}
