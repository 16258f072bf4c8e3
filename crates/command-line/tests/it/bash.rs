//! What Bash runs: tables of texts and their runs.

use holdpoint_command_line::ShellLanguage;

use crate::render::line;

/// Compares texts with their runs, as `render` writes them.
pub(crate) fn check(language: ShellLanguage, rows: &[(&str, &str)]) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected, line(language, text)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text:?}\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_are_found_in_every_position() {
    check(
        ShellLanguage::Bash,
        &[
            ("git push", "git push"),
            ("cd a && git push", "cd a | git push @a"),
            ("cd a; git push", "cd a | git push @?"),
            ("set -e; cd a; git push", "set -e | cd a | git push @a"),
            ("(cd a && git push); ls", "cd a | git push @a | ls"),
            ("if true; then git push; elif a; then b; else c; fi", "true | git push | a | b | c"),
            ("for x in a b; do git $x; done", "x:=$ | git a | git b"),
            ("echo $(git push) \"a `ls`\"", "echo $$ 'a '$ | git push | ls"),
            ("cat <<'EOF' > f\n$(git push)\nEOF", "cat >f <<'$(git push)\\n'"),
            ("git commit -m \"$(cat <<'EOF'\nFix it's \"x\"\nEOF\n)\"", "git commit -m $ | cat <<'Fix it's \"x\"\\n'"),
            ("env A=1 B=\"$X\" timeout 5 nice -n 3 git push", "env> timeout> nice> A=1 B=$ git push"),
            ("ls | xargs -n 1 git add", "ls | xargs -n 1 git add | xargs> git add $$"),
            ("sh -c 'git push; ls'", "sh> git push | sh> ls"),
        ],
    );
}
