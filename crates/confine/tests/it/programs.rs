//! Tests that ordinary programs work, and that their exit codes and signals are passed on.

use std::fs;
use std::path::Path;
use std::process::Command;

use holdpoint_confine::{Helper, Programs};

use crate::place::{TestDirectory, said};

#[test]
fn confinement_works_on_this_machine() {
    assert_eq!(Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine")).probe(), Ok(()));
}

#[test]
fn ordinary_programs_work() {
    let place = TestDirectory::new();
    let said =
        place.run("pwd; echo hello > file; cat file; mkdir d; mv file d/; ls d; id -un; echo $((6*7)) | sed s/4/x/");
    let here = place.path("workspace");
    assert_eq!(said.stdout, format!("{}\nhello\nfile\nholdpoint\nx2\n", here.display()), "{said:?}");
    assert_eq!(fs::read_to_string(here.join("d/file")).unwrap(), "hello\n");
    let said = place.run(
        "mktemp >/dev/null && perl -e 'print 1+1' && echo a | tee /dev/stderr | wc -c; head -c 4 /dev/urandom | wc -c",
    );
    assert_eq!((said.stdout.as_str(), said.code), ("22\n4\n", Some(0)), "{said:?}");
}

#[test]
fn git_python_and_a_compiler_work_where_they_are_installed() {
    let place = TestDirectory::new();
    for (program, line, expected) in [
        (
            "/usr/bin/git",
            "HOME=$PWD git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m first && git log --format=%s",
            "first\n",
        ),
        (
            "/usr/bin/python3",
            "/usr/bin/python3 -c 'import ssl, json, subprocess; print(subprocess.run([\"echo\", \"py\"]).returncode)'",
            "py\n0\n",
        ),
        ("/usr/bin/cc", "echo 'int main(void) { return 7; }' > a.c && cc a.c -o a; ./a; echo $?", "7\n"),
    ] {
        if Path::new(program).exists() {
            let said = place.run(line);
            assert_eq!(said.stdout, expected, "{program}: {said:?}");
        }
    }
}

#[test]
fn exit_code_and_signal_of_a_program_are_passed_on() {
    let place = TestDirectory::new();
    assert_eq!(place.run("exit 3").code, Some(3));
    assert_eq!(place.run("kill -9 $$").signal, Some(9));
    let confinement = place.confinement();
    let helper = Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine"));
    let (program, arguments) = Programs::Confined(helper, confinement).call("/nowhere/at/all".into(), Vec::new());
    let mut command = Command::new(program);
    let said = said({
        command.args(arguments);
        command
    });
    assert_eq!(said.code, Some(125));
    assert!(said.stderr.contains("No such file or directory"), "{said:?}");
}
