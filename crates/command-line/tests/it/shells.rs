//! Compares the runs with real shells: every program that a shell starts for a text without doubt is covered by a run, with its words and its
//! directory, and every file that a shell writes is the target of a redirection.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use holdpoint_command_line::{Directory, Line, ProgramRun, RedirectionKind, ShellLanguage, ShellWord, WordPart};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::seed::seed;
use crate::texts;

/// Programs that texts can name. Those in the second half fail.
const PROGRAMS: &[&str] = &["git", "tool", "x", "a2", "no", "fail"];

/// Programs of the system that start others.
const REAL: &[&str] = &["env", "find", "nice", "nohup", "setsid", "sh", "bash", "stdbuf", "timeout", "xargs", "cat"];

/// A directory in which shells run.
struct World {
    directory: tempfile::TempDir,
}

/// What a shell did.
#[derive(Debug)]
struct Trace {
    /// The directory, relative to the start, and the words.
    started: Vec<(String, Vec<String>)>,
    written: BTreeSet<String>,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for program in PROGRAMS {
            let status = u8::from(matches!(*program, "no" | "fail"));
            let script = format!(
                "#!/bin/sh\nprintf '%s\\0' \"$(pwd)\" \"${{0##*/}}\" \"$@\" \"$(printf '\\001')\" >> \"$NOTED\"\nexit {status}\n"
            );
            fs::write(bin.join(program), script).unwrap();
            fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        for program in REAL {
            let real =
                ["/bin", "/usr/bin"].iter().map(|place| Path::new(place).join(program)).find(|path| path.exists());
            symlink(real.unwrap(), bin.join(program)).unwrap();
        }
        Self { directory }
    }

    fn run(&self, shell: &[&str], text: &str) -> Trace {
        let place = tempfile::tempdir_in(self.directory.path()).unwrap();
        let noted = place.path().join("noted");
        let room = place.path().join("room");
        fs::create_dir_all(room.join("d/e")).unwrap();
        fs::write(room.join("f.txt"), "one two\n").unwrap();
        fs::write(room.join("g.txt"), "").unwrap();
        Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "2"])
            .args(shell)
            .args(["-c", &format!("{text}\nwait")])
            .env_clear()
            .env("PATH", self.directory.path().join("bin"))
            .env("HOME", place.path())
            .env("V", "v1 v2")
            .env("NOTED", &noted)
            .current_dir(&room)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let noted = fs::read(&noted).unwrap_or_default();
        let noted = String::from_utf8_lossy(&noted).into_owned();
        let root = fs::canonicalize(&room).unwrap();
        let started = noted.split_terminator("\u{1}\0").map(|record| {
            let mut words = record.split_terminator('\0').map(str::to_owned);
            let directory = words.next().unwrap_or_default();
            // What is outside is written with `..`, as a run writes it.
            let outside = if root.starts_with(&directory) { ".." } else { "" };
            let relative = Path::new(&directory).strip_prefix(&root).map(|path| path.to_string_lossy().into_owned());
            (relative.unwrap_or_else(|_| outside.to_owned()), words.collect())
        });
        let mut written = BTreeSet::new();
        files(&room, "", &mut written);
        written.remove("f.txt");
        written.remove("g.txt");
        Trace { started: started.collect(), written }
    }
}

fn files(directory: &Path, prefix: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

/// Says whether a word of a run may become this argument.
fn may_be(parts: &[WordPart], argument: &str) -> bool {
    match parts {
        [] => argument.is_empty(),
        // `find d` names `d` as well as what is in it.
        [WordPart::Literal(text), WordPart::Glob(all)] if all == "**" && text.strip_suffix('/') == Some(argument) => {
            true
        }
        [WordPart::Literal(text), rest @ ..] => {
            argument.strip_prefix(text.as_str()).is_some_and(|after| may_be(rest, after))
        }
        [_, rest @ ..] => {
            argument.char_indices().map(|(at, _)| at).chain([argument.len()]).any(|at| may_be(rest, &argument[at..]))
        }
    }
}

/// Says whether the words of a run may become these arguments.
fn cover(words: &[ShellWord], arguments: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    if word.is_one() {
        return arguments.split_first().is_some_and(|(first, after)| may_be(&word.parts, first) && cover(rest, after));
    }
    (0..=arguments.len()).any(|count| cover(rest, &arguments[count..]))
}

/// The components of a path, with `.` and `..` resolved.
fn normal(path: &str) -> Vec<&str> {
    let mut components = Vec::new();
    for component in path.split('/').filter(|component| !matches!(*component, "" | ".")) {
        if component == ".." && components.last().is_some_and(|last| *last != "..") {
            components.pop();
        } else {
            components.push(component);
        }
    }
    components
}

fn is_in(run: &ProgramRun, directory: &str) -> bool {
    match &run.directory {
        Directory::Start => directory.is_empty(),
        Directory::At(path) => path.starts_with('/') || normal(path) == normal(directory),
        Directory::Unknown => true,
    }
}

fn writes(run: &ProgramRun, file: &str) -> bool {
    let target = |word: &ShellWord| {
        let parts = &word.parts;
        let unknown = parts.iter().any(|part| !matches!(part, WordPart::Literal(_)));
        let path = word.text().unwrap_or_default();
        let joined = match &run.directory {
            Directory::At(directory) => format!("{directory}/{path}"),
            Directory::Start | Directory::Unknown => path.to_owned(),
        };
        unknown || normal(&joined) == normal(file) || (run.directory == Directory::Unknown && file.ends_with(path))
    };
    run.redirects.iter().any(|redirect| {
        matches!(redirect.kind, RedirectionKind::Write | RedirectionKind::Append | RedirectionKind::ReadWrite)
            && target(&redirect.target)
    })
}

/// The shells in which a language is compared.
fn shells(language: ShellLanguage) -> Vec<Vec<&'static str>> {
    let all: &[&[&str]] = match language {
        ShellLanguage::Bash => &[&["/bin/bash", "--norc"]],
        ShellLanguage::Sh => &[&["/bin/dash"], &["/bin/bash", "--posix"]],
        ShellLanguage::Zsh => &[&["/bin/zsh", "-f"]],
        ShellLanguage::PowerShell => &[],
    };
    all.iter().filter(|shell| Path::new(shell[0]).exists()).map(|shell| shell.to_vec()).collect()
}

/// Compares the shells with the runs of a text without doubts. Returns whether it has none.
fn compare(world: &World, language: ShellLanguage, text: &str) -> Result<bool, TestCaseError> {
    let Ok(line) = Line::parse(language, text) else { return Ok(false) };
    if !line.doubts.is_empty() {
        return Ok(false);
    }
    let listed = crate::render::line(language, text);
    for shell in shells(language) {
        let trace = world.run(&shell, text);
        for (directory, words) in &trace.started {
            let covered = line.runs.iter().any(|run| cover(&run.words, words) && is_in(run, directory));
            prop_assert!(covered, "{text:?} in {shell:?} started {words:?} in {directory:?}, listed {listed}");
        }
        for file in &trace.written {
            let covered = line.runs.iter().any(|run| writes(run, file));
            prop_assert!(covered, "{text:?} in {shell:?} wrote {file:?}, listed {listed}");
        }
    }
    Ok(true)
}

/// Compares `cases` texts, or more if `PROPTEST_CASES` says so, and checks that at least one in `share` has no doubt.
fn compare_all(language: ShellLanguage, cases: u32, share: usize, texts: impl Strategy<Value = String>) {
    let world = World::new();
    let certain = Cell::new(0);
    let default = ProptestConfig::default();
    let cases = if default.cases > 256 { default.cases } else { cases };
    let config = ProptestConfig { cases, rng_seed: seed(17), failure_persistence: None, ..default };
    let outcome = TestRunner::new(config).run(&texts, |text| {
        certain.set(certain.get() + usize::from(compare(&world, language, &text)?));
        Ok(())
    });
    outcome.unwrap();
    let certain = certain.get();
    println!("{certain} of {cases} texts in {language:?} were compared");
    assert!(certain * share > cases as usize, "only {certain} of {cases} texts were compared");
}

#[test]
fn shells_are_traced() {
    let world = World::new();
    for shell in shells(ShellLanguage::Bash).into_iter().chain(shells(ShellLanguage::Sh)) {
        let trace = world.run(&shell, "git 'a b' > h; cd d && tool ''");
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(trace.started, [(String::new(), words(&["git", "a b"])), ("d".to_owned(), words(&["tool", ""]))]);
        assert_eq!(trace.written, BTreeSet::from(["h".to_owned()]));
    }
    // The shells read this text differently, which shows that the comparison would notice a difference.
    assert!(compare(&world, ShellLanguage::Bash, "git $'a\\'; tool #'").unwrap());
    assert_ne!(world.run(&["/bin/dash"], "git $'a\\'; tool #'").started.len(), 1);
}

#[test]
fn bash_starts_what_is_listed_for_commands() {
    compare_all(ShellLanguage::Bash, 250, 2, texts::command());
}

#[test]
fn bash_starts_what_is_listed_for_random_signs() {
    compare_all(ShellLanguage::Bash, 400, 20, texts::signs());
}

#[test]
fn sh_starts_what_is_listed_for_commands() {
    compare_all(ShellLanguage::Sh, 150, 3, texts::command());
}

#[test]
fn sh_starts_what_is_listed_for_random_signs() {
    compare_all(ShellLanguage::Sh, 300, 20, texts::signs());
}

#[test]
fn zsh_starts_what_is_listed_for_commands() {
    compare_all(ShellLanguage::Zsh, 150, 3, texts::command());
}

#[test]
fn zsh_starts_what_is_listed_for_random_signs() {
    compare_all(ShellLanguage::Zsh, 300, 20, texts::signs());
}
