//! Compares the parser with Bash: every command that Bash runs is listed.
//!
//! Texts are generated from tokens that are special in shells. Texts that are read without doubt run in Bash with an empty path and a handler that
//! records every command that is not found.

use std::{fs, process::Command};

use holdpoint_tool_facts::Shell;
use proptest::prelude::*;

use crate::seed::seed;

const SIGNS: &[&str] = &[
    "git",
    "push",
    "ls",
    "a",
    "b",
    "x",
    " ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    " && ",
    " || ",
    " | ",
    " & ",
    "(",
    ")",
    "{ ",
    "; }",
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "$",
    "`",
    "#",
    " # ",
    " <<E\n",
    "\nE\n",
    " <<'E'\n",
    " <<-E\n",
    "\tE\n",
    "<",
    ">",
    "! ",
    "if ",
    "; then ",
    "; fi",
    "for i in ",
    "; do ",
    "; done",
    "$(",
    "))",
    "=",
    "~",
    "*",
    "case a in a) ",
    ";;",
    " esac",
    "\\\n",
    "<<<",
    "[[ ",
    " ]]",
    "f() ",
    "f",
    "function ",
    "eval ",
    "\t",
    "2",
    "{a,b}",
    "<(",
    "''",
    "\"\"",
    "$'",
    "\\x67",
    "E",
    "2>&1",
    "&>",
    ">|",
    "a#b",
    "in",
    "then",
    "do",
    "time ",
    "coproc ",
    "!",
    "|&",
    "select i in ",
    "else ",
    "elif ",
    "-",
    "--",
    "[",
    "]",
    "?",
    "+=",
    "a=1 ",
    ":",
    "@",
    "%",
    "^",
    ",",
    "..",
    "{",
    "}",
    "export ",
    "unset ",
    "\\'",
    "\\\"",
    "\\$",
    "\\#",
    "\\;",
    "\\ ",
    "while ",
    "until ",
    "${x}",
    "$x",
    "é",
    "0",
    "trap ",
    " EXIT",
    "true",
    "false",
];

/// Runs a text in Bash, and returns the words of every command that Bash looked up.
fn run(text: &str) -> Vec<Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    let noted = directory.path().join("noted");
    fs::write(directory.path().join("text"), text).unwrap();
    let prelude = "ulimit -t 2; ulimit -f 64; FUNCNEST=8; command_not_found_handle() { printf '%s\\0' \"$@\" $'\\x01' >> \"$NOTED\"; }; . ./text; wait";
    let bash = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|bash| fs::exists(bash).unwrap()).unwrap();
    Command::new(bash)
        .args(["--norc", "--noprofile", "-c", prelude])
        .env_clear()
        .env("PATH", "/nonexistent")
        .env("NOTED", &noted)
        .current_dir(directory.path())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    let noted = fs::read_to_string(&noted).unwrap_or_default();
    noted
        .split_terminator("\x01\0")
        .map(|command| command.strip_suffix('\0').unwrap_or(command).split('\0').map(str::to_owned).collect())
        .collect()
}

/// Compares the commands that Bash ran with the list. Loops repeat commands and patterns may match files, so only the words are compared.
fn compare(text: &str) -> Result<bool, TestCaseError> {
    let Ok(shell) = Shell::parse(text) else { return Ok(false) };
    if shell.doubt.is_some() || shell.globs {
        return Ok(false);
    }
    for ran in run(text) {
        let listed = shell.commands.iter().any(|command| command.words == ran)
            // Where `time` is not a keyword it is a program, and the list contains the command that `time` would run instead.
            || (ran.first().is_some_and(|first| first == "time") && shell.commands.iter().any(|command| command.via.contains(&ran[0])));
        prop_assert!(listed, "{text:?} ran {ran:?}, listed {:#?}", shell.commands);
    }
    Ok(true)
}

#[test]
fn bash_is_installed_and_records_its_commands() {
    assert_eq!(run("git 'a b'; x=$(ls) true"), [vec!["git".to_owned(), "a b".to_owned()], vec!["ls".to_owned()]]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(3_000), rng_seed: seed(3), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_command_that_bash_runs_is_listed(signs in prop::collection::vec(prop::sample::select(SIGNS), 1..12)) {
        compare(&signs.concat())?;
    }
}
