//! Files that programs are told to write by their words, without a redirection.

use super::walk::{Argv, Walk};

/// Which words of a program name what it writes.
struct Writer {
    names: &'static [&'static str],
    operands: Operands,
    /// Letters and long options (which may be cut short) whose value is written.
    letters: &'static str,
    longs: &'static [&'static str],
    /// Letters that take a value which is not.
    values: &'static str,
}

/// Which of a program's operands are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Untouched,
    All,
    Last,
    /// The second of two.
    Second,
    AllButFirst,
    /// Whatever it is given, something appears where it runs.
    Here,
}

const NOTHING: Writer = Writer { names: &[], operands: Operands::Untouched, letters: "", longs: &[], values: "" };

const WRITERS: &[Writer] = &[
    Writer { names: &["tee", "gtee", "sponge"], operands: Operands::All, ..NOTHING },
    Writer { names: &["truncate", "gtruncate"], operands: Operands::All, values: "sr", ..NOTHING },
    Writer { names: &["mv", "gmv"], operands: Operands::All, letters: "t", longs: &["target-directory"], values: "S" },
    Writer {
        names: &["cp", "gcp", "ln", "gln", "link"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
    },
    Writer {
        names: &["install", "ginstall"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "mogS",
    },
    Writer { names: &["rsync"], operands: Operands::Last, longs: &["log-file", "write-batch"], values: "e", ..NOTHING },
    Writer { names: &["scp"], operands: Operands::Last, values: "oFSDciJlPX", ..NOTHING },
    Writer { names: &["uniq", "guniq"], operands: Operands::Second, values: "fsw", ..NOTHING },
    Writer { names: &["xxd"], operands: Operands::Second, values: "cglsonR", ..NOTHING },
    Writer { names: &["sort", "gsort"], letters: "o", longs: &["output"], values: "ktST", ..NOTHING },
    Writer { names: &["shuf", "gshuf"], letters: "o", longs: &["output"], values: "in", ..NOTHING },
    Writer {
        names: &["tree", "iconv", "xmllint", "pandoc", "cc", "gcc", "clang", "ld"],
        letters: "o",
        longs: &["output"],
        ..NOTHING
    },
    Writer {
        names: &["curl"],
        letters: "oDc",
        longs: &[
            "output",
            "output-dir",
            "dump-header",
            "cookie-jar",
            "trace",
            "trace-ascii",
            "stderr",
            "etag-save",
            "hsts",
            "alt-svc",
            "libcurl",
        ],
        values: "AbCdeEFHhKmPQrTtuUwxXyYz",
        ..NOTHING
    },
    Writer {
        names: &["wget", "wget2"],
        operands: Operands::Here,
        letters: "OoaP",
        longs: &["output-document", "output-file", "append-output", "directory-prefix", "save-cookies", "warc-file"],
        values: "tTwQUlARDIXBie",
    },
];

/// Notes every file that the words say is written.
pub(super) fn look(walk: &mut Walk, name: &str, argv: &Argv) {
    let words: Vec<&str> = argv.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let mut files = match name {
        "dd" | "gdd" => words.iter().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned).collect(),
        "tar" | "gtar" | "bsdtar" => archive(&words),
        "sed" | "gsed" if words.iter().any(|word| in_place(word)) => {
            let script = words.iter().any(|word| {
                word.starts_with("-e") || word.starts_with("-f") || word.starts_with("--e") || word.starts_with("--f")
            });
            let operands = if script { Operands::All } else { Operands::AllButFirst };
            written(&words, &Writer { operands, values: "ef", ..NOTHING })
        }
        name => WRITERS
            .iter()
            .find(|writer| writer.names.contains(&name))
            .map(|writer| written(&words, writer))
            .unwrap_or_default(),
    };
    // Each file of an address is saved under its last part.
    if name == "curl"
        && words.iter().any(|word| {
            word.starts_with("--remote-n") || cluster(word).is_some_and(|letters| letters.contains(['O', 'J']))
        })
    {
        files.push(".".to_owned());
    }
    walk.shell.writes.append(&mut files);
}

fn written(words: &[&str], writer: &Writer) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    let mut options = true;
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        if options && word == "--" {
            options = false;
        } else if let Some(long) = word.strip_prefix("--").filter(|_| options) {
            let (long, value) = long.split_once('=').map_or((long, None), |(long, value)| (long, Some(value)));
            if !long.is_empty() && writer.longs.iter().any(|whole| whole.starts_with(long)) {
                files.extend(value.or_else(|| rest.next()).map(str::to_owned));
            }
        } else if let Some(letters) = cluster(word).filter(|_| options) {
            // The first letter that takes a value has the rest of the word, or the next one.
            let taking =
                letters.char_indices().find(|(_, c)| writer.letters.contains(*c) || writer.values.contains(*c));
            let Some((at, letter)) = taking else { continue };
            let glued = letters.get(at + letter.len_utf8()..).filter(|glued| !glued.is_empty());
            let value = glued.or_else(|| rest.next());
            files.extend(value.filter(|_| writer.letters.contains(letter)).map(str::to_owned));
        } else {
            operands.push(word);
        }
    }
    let named: &[&str] = match (writer.operands, operands.as_slice()) {
        (Operands::Untouched, _) | (_, []) => &[],
        // The directory is named by an option, and everything else is what goes there.
        (Operands::Last, _) if writer.letters.contains('t') && !files.is_empty() => &[],
        (Operands::All, all) | (Operands::AllButFirst, [_, all @ ..]) => all,
        (Operands::Last, [_]) | (Operands::Here, _) if files.is_empty() => &["."],
        (Operands::Last, [.., last]) => std::slice::from_ref(last),
        (Operands::Second, [_, second, ..]) => std::slice::from_ref(second),
        _ => &[],
    };
    files.extend(named.iter().map(|file| (*file).to_owned()));
    // A dash is the output that a redirection would catch.
    files.retain(|file| file != "-");
    files
}

/// The letters of a word such as `-la`.
fn cluster(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
}

fn in_place(word: &str) -> bool {
    word.starts_with("--in-place")
        || cluster(word)
            .is_some_and(|letters| letters.split(['e', 'f']).next().is_some_and(|letters| letters.contains('i')))
}

/// What `tar` writes: the archive, or what it unpacks and where.
fn archive(words: &[&str]) -> Vec<String> {
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
    if asked('x', "extract") || longs.iter().any(|long| long.len() > 1 && "get".starts_with(long)) {
        return vec![after(words, 'C', "--directory").unwrap_or(".").to_owned()];
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
    let file = after(words, 'f', "--file").unwrap_or(".");
    if file == "-" { Vec::new() } else { vec![file.to_owned()] }
}

/// The value of an option, next to it or glued to it.
fn after<'a>(words: &[&'a str], letter: char, long: &str) -> Option<&'a str> {
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
