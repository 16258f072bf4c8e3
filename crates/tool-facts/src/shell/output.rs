//! Files that programs write because their arguments name them, without a redirection.

use self::table::{Operands, READERS, WRITERS, Writer};
use super::collector::{Argv, Collector};
use super::program;

mod table;

/// Adds every file that the arguments name as output, and marks commands that may write other files.
pub(super) fn inspect(collector: &mut Collector, name: &str, argv: &Argv) {
    // `git.rs` decides for git. A pattern may match a file that is named like an option.
    collector.writes_unknown |= argv.words.iter().any(|word| word.glob) || name != "git" && !knows_writes(name, argv);
    collector.options_unknown |= WRITERS.find(name).is_some_and(|writer| !knows_options(writer, name, argv));
    let words: Vec<&str> = argv.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    if matches!(name, "date" | "gdate") && !shows_time(&words) {
        collector.add_doubt("`date` may set the clock");
    }
    let mut files = match name {
        "install" | "ginstall" if words.iter().any(|word| makes_directories(word)) => {
            written_files(&words, &Writer::of_operands(Operands::All, "mogS"))
        }
        // With `--reference` no operand is a mode or an owner.
        "chmod" | "chown" | "chgrp" if words.iter().any(|word| word.starts_with("--ref")) => {
            written_files(&words, &Writer::of_operands(Operands::All, ""))
        }
        // The mode in `chmod -x y` looks like an option.
        "chmod"
            if words
                .iter()
                .any(|word| cluster(word).is_some_and(|mode| mode.chars().all(|c| "rwxXst".contains(c)))) =>
        {
            written_files(&words, &Writer::of_operands(Operands::All, ""))
        }
        "dd" | "gdd" => words.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned).collect(),
        "tar" | "gtar" | "bsdtar" => tar_files(&words),
        "sed" | "gsed" if words.iter().any(|word| in_place(word)) => {
            let script = words.iter().any(|word| {
                word.starts_with("-e") || word.starts_with("-f") || word.starts_with("--e") || word.starts_with("--f")
            });
            let operands = if script { Operands::All } else { Operands::AllButFirst };
            written_files(&words, &Writer::of_operands(operands, "ef"))
        }
        name => WRITERS.find(name).map(|writer| written_files(&words, writer)).unwrap_or_default(),
    };
    // `-O` saves under the last component of the URL; the format of `--write-out` may name a file too.
    if name == "curl"
        && words.iter().any(|word| {
            word.contains("%output{")
                || word.starts_with("--remote-n")
                || cluster(word).is_some_and(|letters| letters.contains(['O', 'J']))
        })
    {
        files.push(".".to_owned());
    }
    collector.shell.writes.append(&mut files);
}

/// Says whether the arguments of a program name every file that it writes.
fn knows_writes(name: &str, argv: &Argv) -> bool {
    let Some(first) = argv.words.first().filter(|first| program::program(&first.text) == name) else { return false };
    if matches!(name, "dd" | "find") || READERS.contains(name) {
        return !first.glob;
    }
    let Some(writer) = WRITERS.find(name) else { return false };
    writer.known_letters.is_some() && !argv.words.iter().any(|word| word.glob) && knows_options(writer, name, argv)
}

/// Says whether the table knows every option of a call, so that no value is taken for an option or an operand.
fn knows_options(writer: &Writer, name: &str, argv: &Argv) -> bool {
    let flags = writer.known_letters.as_ref().unwrap_or(&writer.passed_letters);
    let takes = |c: char| writer.takes_value(c);
    let words: Vec<&str> = argv.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let options = words.iter().enumerate().all(|(at, word)| {
        let Some(letters) = cluster(word) else {
            let Some(long) = word.strip_prefix("--") else { return true };
            let (long, glued) = long.split_once('=').map_or((long, false), |(long, _)| (long, true));
            // If `--` is the value of this option, the words after it are still options.
            let swallowed = !glued && words.get(at + 1) == Some(&"--");
            let listed = |options: &[String]| options.iter().any(|option| option == long);
            let known = long.is_empty() || listed(&writer.output_options) || listed(&writer.passed_options);
            return known && (long.is_empty() || !swallowed);
        };
        // The rest of the word after a letter with a value is that value.
        let end = letters.find(takes).unwrap_or(letters.len());
        let glued = letters.get(end + 1..).unwrap_or_default();
        let digits = glued.chars().all(|c| c.is_ascii_digit());
        let apart = match name {
            // Options of `xxd` are words: `-ps` is one option.
            "xxd" => letters.len() == 1 || (end == 0 && digits),
            // Values of options of `tree` are always the next word.
            "tree" => digits,
            // The letter `K` names a file of further options.
            "curl" => !letters.chars().take(end + 1).any(|c| c == 'K'),
            _ => true,
        };
        apart && letters.chars().take(end + 1).all(|c| flags.contains(c) || takes(c))
    });
    // `uniq +1 in out` skips a character, and writes the third.
    let second = writer.operands == Operands::Second;
    let odd = || words.iter().any(|word| word.starts_with('+')) || operands(&words, writer).len() > 2;
    options && !(second && odd())
}

/// The words that are neither options nor their values.
fn operands<'a>(words: &[&'a str], writer: &Writer) -> Vec<&'a str> {
    split_words(words, writer).1
}

/// The files that options name, the operands, and whether some option names the output, also if that is the standard output.
fn split_words<'a>(words: &[&'a str], writer: &Writer) -> (Vec<String>, Vec<&'a str>, bool) {
    let mut files: Vec<String> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    let mut told = false;
    let mut options = true;
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        if options && word == "--" {
            options = false;
        } else if let Some(long) = word.strip_prefix("--").filter(|_| options) {
            let (long, value) = long.split_once('=').map_or((long, None), |(long, value)| (long, Some(value)));
            if let Some(whole) = writer.output_options.iter().find(|whole| !long.is_empty() && whole.starts_with(long))
            {
                told = true;
                let value = value.or_else(|| rest.next()).filter(|file| *file != "-" || !writer.writes_stdout(whole));
                files.extend(value.map(str::to_owned));
            }
        } else if let Some(letters) = cluster(word).filter(|_| options) {
            // The value of the first letter that takes one is the rest of the word, or the next word.
            let taking = letters.char_indices().find(|(_, c)| writer.takes_value(*c));
            let Some((at, letter)) = taking else { continue };
            let glued = letters.get(at + letter.len_utf8()..).filter(|glued| !glued.is_empty());
            let value = glued.or_else(|| rest.next());
            told |= writer.output_letters.contains(letter);
            let output = |file: &&str| *file == "-" && writer.writes_stdout(letter.encode_utf8(&mut [0; 4]));
            let value = value.filter(|file| writer.output_letters.contains(letter) && !output(file));
            files.extend(value.map(str::to_owned));
        } else {
            operands.push(word);
        }
    }
    (files, operands, told)
}

fn written_files(words: &[&str], writer: &Writer) -> Vec<String> {
    let (mut files, operands, told) = split_words(words, writer);
    let named: &[&str] = match (writer.operands, operands.as_slice()) {
        (Operands::Untouched, _) | (_, []) => &[],
        // An option names the directory, and all operands are sources.
        (Operands::Last, _) if writer.output_letters.contains('t') && told => &[],
        (Operands::All, all) | (Operands::AllButFirst, [_, all @ ..]) => all,
        (Operands::Last, [_]) | (Operands::Here, _) if !told => &["."],
        (Operands::Last, [.., last]) => std::slice::from_ref(last),
        (Operands::Second, [_, second, ..]) => std::slice::from_ref(second),
        _ => &[],
    };
    let output = |file: &str| file == "-" && writer.writes_stdout("");
    files.extend(named.iter().filter(|file| !output(file)).map(|file| (*file).to_owned()));
    files
}

/// The letters of a word such as `-la`.
fn cluster(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
}

/// Says whether `date` only shows the time; any other word may set the clock.
fn shows_time(words: &[&str]) -> bool {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-u" | "-R" | "-I" | "--utc" | "--universal" | "--iso-8601" | "--rfc-email" => {}
            "-d" | "-r" | "--date" | "--reference" => {
                rest.next();
            }
            word if ["+", "-I", "--date=", "--reference=", "--iso-8601=", "--rfc-3339="]
                .iter()
                .any(|start| word.starts_with(start)) => {}
            _ => return false,
        }
    }
    true
}

/// Says whether a word is the option of `install` that makes every operand a directory.
fn makes_directories(word: &str) -> bool {
    let letters = cluster(word).unwrap_or_default();
    letters.split(['m', 'o', 'g', 'S', 't']).next().is_some_and(|letters| letters.contains('d'))
        || (word.len() > 4 && "--directory".starts_with(word))
}

fn in_place(word: &str) -> bool {
    word.starts_with("--in-place")
        || cluster(word)
            .is_some_and(|letters| letters.split(['e', 'f']).next().is_some_and(|letters| letters.contains('i')))
}

/// Files that `tar` writes: the archive, or the directory into which it unpacks.
fn tar_files(words: &[&str]) -> Vec<String> {
    let mut letters = String::new();
    let mut longs: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match word.strip_prefix("--") {
            Some(long) => longs.push(long.split('=').next().unwrap_or_default()),
            None if at == 0 => letters.push_str(word.trim_start_matches('-')),
            None => letters.push_str(cluster(word).unwrap_or_default()),
        }
    }
    let asked = |letter: char, whole: &str| {
        letters.contains(letter) || longs.iter().any(|long| long.len() > 2 && whole.starts_with(long))
    };
    if let Some(file) = option_value(words, '\0', "--index-file") {
        return vec![file.to_owned(), ".".to_owned()];
    }
    if asked('x', "extract") || longs.iter().any(|long| long.len() > 1 && "get".starts_with(long)) {
        return vec![option_value(words, 'C', "--directory").unwrap_or(".").to_owned()];
    }
    let changes = ['c', 'r', 'u', 'A'].iter().any(|letter| letters.contains(*letter))
        || longs.iter().any(|long| {
            ["create", "append", "update", "catenate", "concatenate", "delete"]
                .iter()
                .any(|whole| long.len() > 1 && whole.starts_with(long))
        });
    if !changes {
        return Vec::new();
    }
    let file = option_value(words, 'f', "--file").unwrap_or(".");
    if file == "-" { Vec::new() } else { vec![file.to_owned()] }
}

/// The value of an option, in the next word or in the same word.
fn option_value<'a>(words: &[&'a str], letter: char, long: &str) -> Option<&'a str> {
    words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied();
        if let Some((option, value)) = word.split_once('=').filter(|(option, _)| *option == long) {
            return (option == long).then_some(value);
        }
        if *word == long {
            return next;
        }
        let letters = if at == 0 { word.trim_start_matches('-') } else { cluster(word)? };
        let (_, glued) = letters.split_once(letter).filter(|_| !word.starts_with("--"))?;
        if at == 0 && !word.starts_with('-') || glued.is_empty() { next } else { Some(glued) }
    })
}
