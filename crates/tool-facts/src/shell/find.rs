//! `find`, which runs a command on what it finds.

use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use crate::Unparsed;
use crate::word_list::WordList;

/// Tests that take a text.
static TESTS: WordList = WordList::new(include_str!("../../data/shell/find_tests.txt"));

/// Looks into `find`. Gives `false` where the program is another.
pub(super) fn run(walk: &mut Walk, name: &str, argv: &Argv, around: &Around) -> Result<bool, Unparsed> {
    if !matches!(name, "find" | "gfind" | "bfs") {
        return Ok(false);
    }
    walk.list(argv, around);
    let mut words = argv.words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            _ if word.dynamic => {}
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = words.next() {
                    // It is itself the value of what stands before it, as in `-name -fprint -fprint x`.
                    if file.text.starts_with('-') {
                        walk.doubt(format!("`{}` may be an option, or a file", file.text));
                    }
                    walk.shell.writes.push(file.text.clone());
                }
            }
            test if TESTS.contains(&test.trim_start_matches('-')) && test.starts_with('-') => {
                if let Some(value) = words.next().filter(|value| value.text.starts_with('-')) {
                    walk.doubt(format!("`{}` may be an option, or the value of `{test}`", value.text));
                }
            }
            "-delete" => {
                let starts: Vec<String> = places(argv);
                walk.shell.writes.extend(starts);
            }
            action @ ("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let mut inner: Vec<Word> = Vec::new();
                for word in words.by_ref() {
                    if word.text == ";" || (word.text == "+" && inner.last().is_some_and(|last| last.text == "{}")) {
                        break;
                    }
                    let mut word = word.clone();
                    // Only `find` knows what stands here; it is the name of a file, as with a pattern.
                    word.glob |= word.text.contains("{}");
                    inner.push(word);
                }
                let argv = Argv { words: inner, stdin: Stdin::Other, ..Argv::default() };
                walk.run(argv, &around.under(&format!("{name} {action}")))?;
            }
            _ => {}
        }
    }
    Ok(true)
}

/// Where it looks: the words before its expression, or here.
fn places(argv: &Argv) -> Vec<String> {
    let expression =
        |word: &&Word| !(word.text.starts_with(['(', '!']) || word.text.starts_with('-') && word.text.len() > 2);
    let words = argv.words.iter().skip(1).take_while(expression).filter(|word| !word.text.starts_with('-'));
    let places: Vec<String> = words.map(|word| word.text.clone()).collect();
    if places.is_empty() { vec![".".to_owned()] } else { places }
}
