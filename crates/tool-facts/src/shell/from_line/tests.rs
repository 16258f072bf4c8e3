//! Tests of the facts about command lines that are made by hand.

use command_line::{Doubt, Redirection, VariableAssignment};

use super::*;

/// A run of known words.
fn run(words: &[&str]) -> ProgramRun {
    ProgramRun {
        words: words.iter().map(|word| command_line::ShellWord::literal(word)).collect(),
        ..ProgramRun::default()
    }
}

fn line(runs: Vec<ProgramRun>) -> Line {
    Line { runs, doubts: Vec::new() }
}

fn shell(runs: Vec<ProgramRun>) -> Shell {
    Shell::from_line(&line(runs), "")
}

fn at(position: RunPosition, words: &[&str]) -> ProgramRun {
    ProgramRun { position: vec![position], ..run(words) }
}

fn unknown(quoted: bool) -> command_line::ShellWord {
    command_line::ShellWord { parts: vec![WordPart::Unknown { quoted }], span: 0..0 }
}

#[test]
fn facts_are_no_less_than_those_of_a_text_that_every_shell_reads_alike() {
    for text in [
        "git status",
        "git -C x log -1",
        "git push origin main",
        "rm -rf a",
        "/usr/bin/git diff",
        "./gradlew build",
        "cp a b",
        "tee x",
        "tar --checkpoint-action=exec=x -cf a b",
        "sed -i s/a/b/ c",
        "npm run build",
        "cargo test",
        "docker run --rm x ls",
        "ssh host ls",
        "python3 -c x",
        "find . -delete",
        "curl -o a https://b.com",
    ] {
        let words: Vec<&str> = text.split(' ').collect();
        let (found, parsed) = (shell(vec![run(&words)]), Shell::parse(text).unwrap());
        let told = |shell: &Shell| -> Vec<(String, Vec<String>, Vec<String>)> {
            let commands = shell.commands.iter();
            commands.map(|one| (one.name.clone(), one.words.clone(), one.via.clone())).collect()
        };
        assert_eq!(told(&found), told(&parsed), "{text}");
        assert!(parsed.doubt.is_none() || found.doubt.is_some(), "{text}: {found:?}");
        assert!(parsed.writes.iter().all(|file| found.writes.contains(file)), "{text}: {found:?}");
        assert!(parsed.writes_known || !found.writes_known, "{text}: {found:?}");
        assert_eq!(
            (found.opaque, found.remote, found.elevated, found.pipes),
            (parsed.opaque, parsed.remote, parsed.elevated, parsed.pipes),
            "{text}"
        );
    }
}

#[test]
fn positions_become_properties_of_the_text() {
    let piped = shell(vec![at(RunPosition::Pipe, &["ls"]), at(RunPosition::Pipe, &["wc"])]);
    assert!(piped.pipes && !piped.plain && piped.doubt.is_none());
    assert!(shell(vec![at(RunPosition::Background, &["ls"])]).background);
    assert!(shell(vec![at(RunPosition::Substitution, &["ls"])]).substitutions);
    assert_eq!(shell(vec![at(RunPosition::Function("f".to_owned()), &["ls"])]).functions, ["f"]);
    for position in
        [RunPosition::List, RunPosition::Loop, RunPosition::Condition, RunPosition::Subshell, RunPosition::HereDocument]
    {
        let found = shell(vec![at(position.clone(), &["ls"])]);
        assert!(!found.plain && found.doubt.is_none(), "{position:?}");
    }
}

#[test]
fn wrapped_commands_are_listed_once_with_their_wrappers() {
    let sudo = shell(vec![run(&["sudo", "rm", "x"]), at(RunPosition::Wrapper("sudo".to_owned()), &["rm", "x"])]);
    let names: Vec<&str> = sudo.commands.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["sudo", "rm"]);
    assert_eq!(sudo.commands[1].via, ["sudo"]);
    assert!(sudo.elevated);
    let remote = shell(vec![at(RunPosition::Text("ssh".to_owned()), &["ls"])]);
    assert!(remote.remote && remote.commands[0].remote);
    // If the line lists no command of the wrapper, the tables here find it.
    let found = shell(vec![run(&["timeout", "5", "rm", "x"])]);
    assert!(found.commands.iter().any(|one| one.name == "rm" && one.via == ["timeout"]));
}

#[test]
fn unknown_words_are_kept_as_written_and_in_doubt() {
    let mut echo = run(&["echo"]);
    echo.words.push(command_line::ShellWord { span: 5..7, ..unknown(false) });
    let found = Shell::from_line(&line(vec![echo]), "echo $X");
    assert_eq!(found.commands[0].args, ["$X"]);
    assert!(found.dynamic && found.commands[0].dynamic && found.doubt.is_some());
    let program = shell(vec![ProgramRun { words: vec![unknown(true)], ..ProgramRun::default() }]);
    assert_eq!(program.commands[0].name, "");
    assert!(program.doubt.is_some());
}

#[test]
fn patterns_and_home_directories_are_no_doubt() {
    let glob = command_line::ShellWord {
        parts: vec![WordPart::Home, WordPart::Literal("/".to_owned()), WordPart::Glob("*".to_owned())],
        span: 0..0,
    };
    let mut list = run(&["ls"]);
    list.words.push(glob);
    let found = shell(vec![list]);
    assert_eq!(found.commands[0].args, ["~/*"]);
    assert!(found.globs && !found.dynamic && !found.plain && found.doubt.is_none());
}

#[test]
fn variables_redirections_and_directories_are_facts() {
    let mut build = run(&["make"]);
    build.assignments.push(VariableAssignment {
        name: "PATH".to_owned(),
        value: command_line::ShellWord::literal("/x"),
        exported: true,
    });
    build.redirects.push(Redirection {
        kind: RedirectionKind::Append,
        target: command_line::ShellWord::literal("log"),
        span: 0..0,
    });
    build.redirects.push(Redirection {
        kind: RedirectionKind::Read,
        target: command_line::ShellWord::literal("in"),
        span: 0..0,
    });
    build.directory = Directory::At("sub".to_owned());
    let found = shell(vec![build]);
    assert_eq!((found.reads, found.writes), (vec!["in".to_owned()], vec!["log".to_owned()]));
    assert_eq!(found.commands[0].assignments[0].name, "PATH");
    assert_eq!(found.commands[0].redirects[0].kind, "append");
    assert!(found.cwd_changed && found.commands[0].cwd_changed && !found.plain);
    assert_eq!(found.doubt.unwrap().reason, "`$PATH` decides what runs");
}

#[test]
fn doubt_of_the_line_is_the_doubt_of_the_facts() {
    let mut doubtful = line(vec![run(&["ls"])]);
    doubtful.doubts.push(Doubt { span: 0..2, reason: "it is odd".to_owned() });
    assert_eq!(Shell::from_line(&doubtful, "ls").doubt.unwrap().reason, "it is odd");
    assert!(!Shell::from_line(&doubtful, "ls").plain);
}
