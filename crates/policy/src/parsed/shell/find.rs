//! `find`, which runs a command on what it finds.

use super::walk::{Argv, Around, Stdin, Walk};
use super::word::Word;
use crate::parsed::Unparsed;

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
                    walk.shell.writes.push(file.text.clone());
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
