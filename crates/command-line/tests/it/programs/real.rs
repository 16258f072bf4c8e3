//! Scripts of `sed` and `awk` made of pieces, run by the programs that are installed: what they write and start was said.

use std::path::Path;
use std::process::{Command, Stdio};

use holdpoint_command_line::{ProgramRun, ShellWord, effects};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

const SED: &[&str] = &[
    "s/a/b/",
    "s/[/]/x/",
    "s/.*/touch ran/e",
    "s/a/touch ran/e",
    "s,a,b,w out",
    "s/a",
    "s/",
    "y/abc/xyz/",
    "y/a/",
    "w out",
    "W out",
    "e touch ran",
    "1e touch ran",
    "r f",
    "R f",
    "a",
    "i\\",
    "c\\",
    "a text",
    "/",
    "/a/",
    "/[/",
    "[",
    "]",
    "[^",
    "[:alpha:]",
    "[]",
    "\\",
    "\n",
    "\n",
    ";",
    ";",
    "{",
    "}",
    "p",
    "n",
    "!",
    "$",
    ",",
    "1",
    "2",
    "+1",
    "#",
    "#n",
    "b",
    "b x",
    ":x",
    "t",
    "0~3",
    "\\%a%",
    "\\,",
    "I",
    "M",
    "g",
    "q",
    "l 3",
    "z",
    "F",
    "v",
    "&",
    "^",
    " ",
    " ",
    "e",
    "w",
    "sxaxbx",
    "s\\a\\b\\",
    "\\n",
    "\\/",
    "\\]",
];

const AWK: &[&str] = &[
    "print",
    "printf",
    "{",
    "}",
    "{",
    "}",
    "\"",
    "\"",
    "/",
    "/",
    "|",
    ">",
    ">>",
    "\"out\"",
    "\"touch ran\"",
    "$1",
    "(",
    ")",
    ";",
    "\n",
    "\n",
    "\\\n",
    "x",
    "1",
    "1.5",
    "++",
    "--",
    "~",
    "!~",
    "[",
    "]",
    ",",
    " ",
    " ",
    "if(1)",
    "else",
    "BEGIN",
    "END",
    "#",
    "system(\"touch ran\")",
    "getline",
    "length",
    "in",
    "!",
    "&&",
    "||",
    "=",
    "+",
    "?",
    ":",
    "a/b",
    "/\"/",
    "/[/]/",
    "/a/",
    "\\",
    "\\\"",
    "\\/",
    "print x > \"out\"",
    "print \"touch ran\" | \"sh\"",
    "print(1)(2) > \"out\"",
    "|&",
    "next",
    "return",
    "a[1]",
    "x++",
    "substr($0,1)",
    "-",
    "%",
    "^",
    "*",
    "{print x > \"out\"}",
    "{print \"touch ran\" | \"sh\"}",
    "{print /a/ > \"out\"}",
];

/// Runs a program in an empty directory. True if a file was made beside the input.
fn writes(program: &str, options: &[&str], script: &str, directory: &Path) -> bool {
    std::fs::write(directory.join("f"), "a\ntouch ran\nx/y a\n").unwrap();
    let mut command = Command::new("timeout");
    command.arg("2").arg(program).args(options).arg(script).arg("f").current_dir(directory);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let mut made = false;
    for file in std::fs::read_dir(directory).unwrap() {
        let file = file.unwrap();
        if file.file_name() != "f" {
            made = true;
            std::fs::remove_file(file.path()).unwrap();
        }
    }
    made
}

fn is_installed(program: &str) -> bool {
    let run = |program: &str| Command::new(program).arg("--version").stdin(Stdio::null()).output().is_ok();
    run(program) && run("timeout")
}

fn check(program: &str, options: &[&str], pieces: &'static [&'static str]) {
    if !is_installed(program) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let cases = std::env::var_os("PROPTEST_CASES").map_or(300, |cases| cases.to_string_lossy().parse().unwrap());
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let pieces = prop::collection::vec(select(pieces), 1..9).prop_map(|pieces| pieces.concat());
    let scripts = (pieces, any::<bool>()).prop_map(|(text, block)| if block { format!("{{{text}}}") } else { text });
    let result = runner.run(&scripts, |script| {
        let words = std::iter::once(program).chain(options.iter().copied()).chain([script.as_str(), "f"]);
        let run = ProgramRun { words: words.map(ShellWord::literal).collect(), ..ProgramRun::default() };
        let said = !effects(&run).hazards.is_empty();
        prop_assert!(said || !writes(program, options, &script, directory.path()), "{script}");
        Ok(())
    });
    if let Err(error) = result {
        panic!("{program}: {error}");
    }
}

#[test]
fn sed_writes_only_what_was_said() {
    check("sed", &[], SED);
    check("sed", &["-n", "-E"], SED);
}

#[test]
fn awk_writes_only_what_was_said() {
    check("gawk", &[], AWK);
    check("mawk", &[], AWK);
}
