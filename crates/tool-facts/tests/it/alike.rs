//! Compares the parser with Bash and dash: for texts that are read without doubt, the shells run exactly the listed commands, word for word, and
//! write only the listed files.
//!
//! Texts are generated from the tokens of plain shell syntax. Every program that they can name is on the path, and records its words.

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{collections::BTreeSet, fs};

use holdpoint_tool_facts::Shell;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::seed::seed;

/// Programs that texts can name.
const PROGRAMS: &[&str] = &["git", "tool", "x", "a2"];

const SIGNS: &[&str] = &[
    "git",
    "git ",
    "tool ",
    " x",
    "x ",
    "a2",
    " ",
    " ",
    " ",
    "\t",
    "\n",
    "; ",
    ";",
    " && ",
    "&&",
    " || ",
    " | ",
    "|",
    " & ",
    "&",
    "(",
    ")",
    "( ",
    " )",
    "'",
    "'",
    "'a b'",
    "\"",
    "\"",
    "\"a b\"",
    "\\",
    "\\ ",
    "\\'",
    "\\\"",
    "\\$",
    "\\;",
    "\\\\",
    "\\n",
    "$",
    "$?",
    "\"$\"",
    "#",
    "a#b",
    " > ",
    ">",
    " > f",
    " >>g",
    " 2>h",
    "1>i",
    " < f",
    " 2>&1",
    " >&2",
    "1>&2 ",
    "2",
    "1",
    "CI=1 ",
    "CI=",
    "TZ='x y' ",
    "=",
    "-",
    "--",
    "{}",
    "{",
    "}",
    "@{1}",
    "!",
    "! ",
    "^",
    "%",
    "~",
    "*",
    "?",
    "+",
    ",",
    ":",
    ".",
    "..",
    "/",
    "_",
    "é",
    "'é'",
    "\n\n",
    "&>",
    "|&",
    ";;",
    "if ",
    "then ",
    "command ",
    "exec ",
    "export ",
    "sh -c ",
    "do ",
    "time ",
    "''",
    "\"\"",
    "`",
    "\\\n",
    "[",
    "]",
    "<<",
    "\r",
];

/// A directory in which shells run.
struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("bin")).unwrap();
        for program in PROGRAMS {
            let path = directory.path().join("bin").join(program);
            fs::write(&path, "#!/bin/sh\nprintf '%s\\0' \"${0##*/}\" \"$@\" \"$(printf '\\001')\" >> \"$NOTED\"\n")
                .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::os::unix::fs::symlink("/bin/sh", directory.path().join("bin/sh")).unwrap();
        Self { directory }
    }

    /// Runs a text in a shell, and returns the words of every command that ran and the files that were written.
    fn run(&self, shell: &str, text: &str) -> (Vec<Vec<String>>, BTreeSet<String>) {
        let place = tempfile::tempdir_in(self.directory.path()).unwrap();
        let noted = place.path().join("noted");
        let room = place.path().join("room");
        fs::create_dir(&room).unwrap();
        Command::new(shell)
            .args(["-c", &format!("{text}\nwait")])
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("NOTED", &noted)
            .current_dir(&room)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let noted = fs::read_to_string(&noted).unwrap_or_default();
        let commands = noted.split_terminator("\u{1}\0");
        let words = |command: &str| command.split_terminator('\0').map(str::to_owned).collect();
        let mut commands: Vec<Vec<String>> = commands.map(words).collect();
        commands.sort();
        let files = fs::read_dir(&room).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
        (commands, files.collect())
    }
}

fn shells() -> impl Iterator<Item = &'static str> {
    ["/bin/bash", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists())
}

/// Compares the shells with the parser for a text that is read without doubt. Returns whether it is.
fn compare(world: &World, text: &str) -> Result<bool, TestCaseError> {
    let Ok(read) = Shell::parse(text) else { return Ok(false) };
    // Scripts are not read here.
    if read.doubt.is_some() || read.globs || read.opaque {
        return Ok(false);
    }
    let mut listed: Vec<Vec<String>> = read.commands.iter().map(|command| command.words.clone()).collect();
    listed.retain(|words| words.first().is_some_and(|first| PROGRAMS.contains(&first.as_str())));
    listed.sort();
    let written: BTreeSet<String> = read.writes.iter().cloned().collect();
    // A file that cannot be read or a program that cannot be found stops the shell, and background commands of a group are not awaited. Then fewer
    // commands run than are listed.
    let leaves = ["||", "exec", "time", "export"].iter().any(|sign| text.contains(sign));
    let stops = leaves || !read.reads.is_empty() || (read.background && text.contains('('));
    let elsewhere = written.iter().any(|file| file.contains('/') || file.starts_with('.'));
    let found = read.commands.iter().all(|command| PROGRAMS.contains(&command.program.as_str()));
    let certain = found && !stops && !elsewhere;
    for shell in shells() {
        let (ran, files) = world.run(shell, text);
        prop_assert!(
            ran.iter().all(|words| listed.contains(words)),
            "{text:?} in {shell} ran {ran:?}, listed {listed:?}"
        );
        prop_assert!(files.is_subset(&written), "{text:?} in {shell} wrote {files:?}, listed {written:?}");
        if certain {
            prop_assert_eq!(&ran, &listed, "{:?} in {}", text, shell);
            prop_assert_eq!(&files, &written, "{:?} in {}", text, shell);
        }
    }
    Ok(true)
}

#[test]
fn shells_are_installed_and_record_their_commands() {
    let world = World::new();
    assert!(shells().any(|shell| shell.ends_with("bash")));
    for shell in shells() {
        let (ran, files) = world.run(shell, "git 'a b' > f; tool ''");
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(ran, [words(&["git", "a b"]), words(&["tool", ""])], "{shell}");
        assert_eq!(files, BTreeSet::from(["f".to_owned()]), "{shell}");
    }
    // The shells read this text differently, which shows that the comparison would notice a difference.
    assert_ne!(world.run("/bin/bash", "git $'a\\'; tool #'").0.len(), 2);
}

/// A word in one of the styles of quoting.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9_./:,@%+^-]{0,6}",
        "'[ -&(-~\né]{0,8}'",
        "\"[ !#%-\\[\\]-_a-~\né]{0,6}\"".prop_filter("expansions", |word| !word.contains('$')),
        "\"(\\\\[\"\\\\$`a-z.*]|[a-z ]|\\$[ |)]){0,5}\"",
        "(\\\\[!-~ ]){1,3}",
        "[a-z]#[a-z]|stash@\\{[0-9]\\}|\\{\\}|HEAD\\^|--[a-z]+=[a-z0-9/]+|-[a-zA-Z0-9]+",
    ]
}

fn simple() -> impl Strategy<Value = String> {
    let assignment = prop::option::weighted(
        0.2,
        word().prop_filter_map("empty", |word| (word != "''" && word != "\"\"").then(|| format!("CI={word} "))),
    );
    let program = prop::sample::select(vec!["tool", "tool", "'x'", "\\tool", "\"to\"ol", "x"]);
    let redirect = prop::sample::select(vec!["", "", "", "", " > f", " >>g", " 2>h", " 2>&1", " > 'k l' 2>&1", " >&2"]);
    (assignment, program, prop::collection::vec(prop::collection::vec(word(), 1..3), 0..4), redirect).prop_map(
        |(assignment, program, words, redirect)| {
            let words: String = words.iter().map(|pieces| format!(" {}", pieces.concat())).collect();
            format!("{}{program}{words}{redirect}", assignment.unwrap_or_default())
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(vec![" && ", "; ", "\n", " | ", " & ", "&&", ";", "|", " &&\n"]);
    (simple(), prop::collection::vec((joint, simple()), 0..3), any::<bool>()).prop_map(|(first, more, group)| {
        let text = more.iter().fold(first, |text, (joint, next)| format!("{text}{joint}{next}"));
        if group { format!("({text})") } else { text }
    })
}

/// Compares `cases` texts, or more if `PROPTEST_CASES` says so, and checks that at least one in `share` is read without doubt.
fn compare_all(cases: u32, share: usize, texts: impl Strategy<Value = String>) {
    let cases = ProptestConfig::default().cases.max(cases);
    let world = World::new();
    let relied_on = Cell::new(0);
    let config = ProptestConfig { cases, rng_seed: seed(7), failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new(config).run(&texts, |text| {
        relied_on.set(relied_on.get() + usize::from(compare(&world, &text)?));
        Ok(())
    });
    outcome.unwrap();
    let relied_on = relied_on.get();
    assert!(relied_on * share > cases as usize, "only {relied_on} of {cases} texts were relied on");
}

#[test]
fn shells_run_plain_texts_as_parsed() {
    compare_all(500, 3, text());
}

#[test]
fn shells_run_random_signs_as_parsed_or_the_parser_doubts_them() {
    let signs = prop::collection::vec(prop::sample::select(SIGNS), 1..9);
    compare_all(2_000, 12, signs.prop_map(|signs| format!("tool {}", signs.concat())));
}
