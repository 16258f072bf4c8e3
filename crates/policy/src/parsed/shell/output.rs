//! Files that programs are told to write by their words, without a redirection.

use super::program;
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
    /// Letters that change nothing about what is written. `None` where that is never known for certain.
    flags: Option<&'static str>,
    /// Options, and an empty name for operands, by which `-` is the standard output. Everywhere else it is a file of that name.
    output: &'static [&'static str],
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

const NOTHING: Writer =
    Writer { names: &[], operands: Operands::Untouched, letters: "", longs: &[], values: "", flags: None, output: &[] };

/// Programs that write no file, whatever their words are.
const READERS: &str = " : b2sum base32 base64 basename cat cd cksum cmp col colrm column comm cut date df diff diff3 dirname du echo \
    egrep exit expand expr export false fgrep fmt fold free getconf grep groups head hexdump id join jq logname ls lsblk lscpu md5sum nl \
    nproc numfmt od paste pathchk pgrep popd pr printenv printf ps pushd pwd readlink readonly realpath rev rg seq set sha1sum \
    sha224sum sha256sum sha384sum sha512sum sleep stat strings sum tac tail test tr true tsort tty type ulimit umask uname \
    unexpand unset uptime w wait wc whereis which who whoami ";

const WRITERS: &[Writer] = &[
    Writer { names: &["tee", "gtee", "sponge"], operands: Operands::All, flags: Some("aip"), ..NOTHING },
    Writer { names: &["truncate", "gtruncate"], operands: Operands::All, values: "sr", flags: Some("co"), ..NOTHING },
    Writer { names: &["touch", "gtouch"], operands: Operands::All, values: "drt", flags: Some("achm"), ..NOTHING },
    Writer {
        names: &["mkdir", "gmkdir", "mkfifo"],
        operands: Operands::All,
        values: "m",
        flags: Some("pv"),
        ..NOTHING
    },
    Writer { names: &["rm", "grm", "rmdir", "unlink"], operands: Operands::All, flags: Some("dfiIpRrv"), ..NOTHING },
    Writer { names: &["chmod", "chown", "chgrp"], operands: Operands::AllButFirst, flags: Some("cfRv"), ..NOTHING },
    Writer {
        names: &[
            "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress", "shred", "zip",
        ],
        operands: Operands::All,
        letters: "o",
        values: "S",
        output: &[""],
        ..NOTHING
    },
    Writer {
        names: &["split", "gsplit", "csplit", "patch", "unzip", "mktemp", "ar", "mknod"],
        operands: Operands::Here,
        letters: "dopr",
        longs: &["output", "reject-file", "directory", "tmpdir"],
        ..NOTHING
    },
    Writer { names: &["tcpdump", "tshark"], letters: "w", values: "cirsFG", output: &["w"], ..NOTHING },
    Writer {
        names: &["mv", "gmv"],
        operands: Operands::All,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
        flags: Some("finuvT"),
        ..NOTHING
    },
    Writer {
        names: &["cp", "gcp", "ln", "gln", "link"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "S",
        flags: Some("adfHiLlnPpRrsTuvx"),
        ..NOTHING
    },
    Writer {
        names: &["install", "ginstall"],
        operands: Operands::Last,
        letters: "t",
        longs: &["target-directory"],
        values: "mogS",
        flags: Some("CcDdpsTv"),
        ..NOTHING
    },
    Writer { names: &["rsync"], operands: Operands::Last, longs: &["log-file", "write-batch"], values: "e", ..NOTHING },
    Writer { names: &["scp"], operands: Operands::Last, values: "oFSDciJlPX", ..NOTHING },
    Writer {
        names: &["uniq", "guniq"],
        operands: Operands::Second,
        values: "fsw",
        flags: Some("cDduiz"),
        output: &[""],
        ..NOTHING
    },
    Writer { names: &["xxd"], operands: Operands::Second, values: "cglsonR", output: &[""], ..NOTHING },
    // Only some systems have it.
    Writer { names: &["base64", "base32"], letters: "o", longs: &["output"], values: "wb", ..NOTHING },
    Writer {
        names: &["sort", "gsort"],
        letters: "o",
        longs: &["output"],
        values: "ktS",
        flags: Some("bCcdfghiMmnRrsuVz"),
        ..NOTHING
    },
    Writer { names: &["shuf", "gshuf"], letters: "o", longs: &["output"], values: "in", flags: Some("erz"), ..NOTHING },
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
        output: &["o", "D", "c", "output", "dump-header", "cookie-jar", "trace", "trace-ascii", "stderr"],
        ..NOTHING
    },
    Writer {
        names: &["wget", "wget2"],
        operands: Operands::Here,
        letters: "OoaP",
        longs: &["output-document", "output-file", "append-output", "directory-prefix", "save-cookies", "warc-file"],
        values: "tTwQUlARDIXBie",
        output: &["O", "output-document"],
        ..NOTHING
    },
];

/// Notes every file that the words say is written, and whether these are all.
pub(super) fn look(walk: &mut Walk, name: &str, argv: &Argv) {
    // `git` says so itself.
    // A file may be called like an option.
    walk.writes_unknown |= argv.words.iter().any(|word| word.glob) || name != "git" && !known(name, argv);
    let words: Vec<&str> = argv.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    if matches!(name, "date" | "gdate") && !shows_time(&words) {
        walk.doubt("`date` may set the clock");
    }
    let mut files = match name {
        "install" | "ginstall" if words.iter().any(|word| makes_directories(word)) => {
            written(&words, &Writer { operands: Operands::All, values: "mogS", ..NOTHING })
        }
        // Then no operand is a mode or an owner.
        "chmod" | "chown" | "chgrp" if words.iter().any(|word| word.starts_with("--ref")) => {
            written(&words, &Writer { operands: Operands::All, ..NOTHING })
        }
        // `chmod -x y` has its mode where an option would stand.
        "chmod"
            if words
                .iter()
                .any(|word| cluster(word).is_some_and(|mode| mode.chars().all(|c| "rwxXst".contains(c)))) =>
        {
            written(&words, &Writer { operands: Operands::All, ..NOTHING })
        }
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
    // Each file of an address is saved under its last part; what is written out at the end may name a file too.
    if name == "curl"
        && words.iter().any(|word| {
            word.contains("%output{")
                || word.starts_with("--remote-n")
                || cluster(word).is_some_and(|letters| letters.contains(['O', 'J']))
        })
    {
        files.push(".".to_owned());
    }
    walk.shell.writes.append(&mut files);
}

/// Says whether everything that a program writes can be seen from its words.
fn known(name: &str, argv: &Argv) -> bool {
    let Some(first) = argv.words.first().filter(|first| program::program(&first.text) == name) else { return false };
    let mut rest = argv.words.iter().skip(1);
    if matches!(name, "dd" | "find") || (!name.contains(' ') && READERS.contains(&format!(" {name} "))) {
        return !first.glob;
    }
    let Some(writer) = WRITERS.iter().find(|writer| writer.names.contains(&name)) else { return false };
    let Some(flags) = writer.flags else { return false };
    let harmless = |c: char| flags.contains(c) || writer.letters.contains(c) || writer.values.contains(c);
    rest.all(|word| {
        let letters = cluster(&word.text).unwrap_or_default();
        // What stands behind a letter that takes a value is no letter.
        let end = letters.find(|c| writer.letters.contains(c) || writer.values.contains(c)).unwrap_or(letters.len());
        let long = word.text.strip_prefix("--").and_then(|long| long.split('=').next()).unwrap_or_default();
        let letters_known = letters.chars().take(end + 1).all(harmless);
        !word.glob && letters_known && (long.is_empty() || writer.longs.contains(&long))
    })
}

fn written(words: &[&str], writer: &Writer) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut operands: Vec<&str> = Vec::new();
    // Some option says where it writes, be it to the standard output.
    let mut told = false;
    let mut options = true;
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        if options && word == "--" {
            options = false;
        } else if let Some(long) = word.strip_prefix("--").filter(|_| options) {
            let (long, value) = long.split_once('=').map_or((long, None), |(long, value)| (long, Some(value)));
            if let Some(whole) = writer.longs.iter().find(|whole| !long.is_empty() && whole.starts_with(long)) {
                told = true;
                let value = value.or_else(|| rest.next()).filter(|file| *file != "-" || !writer.output.contains(whole));
                files.extend(value.map(str::to_owned));
            }
        } else if let Some(letters) = cluster(word).filter(|_| options) {
            // The first letter that takes a value has the rest of the word, or the next one.
            let taking =
                letters.char_indices().find(|(_, c)| writer.letters.contains(*c) || writer.values.contains(*c));
            let Some((at, letter)) = taking else { continue };
            let glued = letters.get(at + letter.len_utf8()..).filter(|glued| !glued.is_empty());
            let value = glued.or_else(|| rest.next());
            told |= writer.letters.contains(letter);
            let output = |file: &&str| *file == "-" && writer.output.contains(&&*letter.to_string());
            let value = value.filter(|file| writer.letters.contains(letter) && !output(file));
            files.extend(value.map(str::to_owned));
        } else {
            operands.push(word);
        }
    }
    let named: &[&str] = match (writer.operands, operands.as_slice()) {
        (Operands::Untouched, _) | (_, []) => &[],
        // The directory is named by an option, and everything else is what goes there.
        (Operands::Last, _) if writer.letters.contains('t') && told => &[],
        (Operands::All, all) | (Operands::AllButFirst, [_, all @ ..]) => all,
        (Operands::Last, [_]) | (Operands::Here, _) if !told => &["."],
        (Operands::Last, [.., last]) => std::slice::from_ref(last),
        (Operands::Second, [_, second, ..]) => std::slice::from_ref(second),
        _ => &[],
    };
    let output = |file: &str| file == "-" && writer.output.contains(&"");
    files.extend(named.iter().filter(|file| !output(file)).map(|file| (*file).to_owned()));
    files
}

/// The letters of a word such as `-la`.
fn cluster(word: &str) -> Option<&str> {
    word.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-'))
}

/// Says whether `date` is asked for the time; any other word may be a time to set.
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

/// `install -d` makes every directory that it is given.
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
    if let Some(file) = after(words, '\0', "--index-file") {
        return vec![file.to_owned(), ".".to_owned()];
    }
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
