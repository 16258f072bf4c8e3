//! Tests of the strict lexer: texts inside and outside the part of the language that every shell reads alike.

use super::*;

/// Formats a reading: commands in brackets, words between bars, a star after a pattern.
fn written(text: &str) -> String {
    let reading = match read(text) {
        Ok(reading) => reading,
        Err(reason) => return format!("not plain: {reason}"),
    };
    let commands = reading.commands.iter().map(|stated| {
        let assignments = stated.assignments.iter().map(|one| format!("{}:={}", one.name, one.value));
        let words = stated.words.iter().map(|(word, glob)| format!("{word}{}", if *glob { "*" } else { "" }));
        let redirects = stated.redirects.iter().map(|one| format!("{} {}", one.kind, one.target));
        format!("[{}]", assignments.chain(words).chain(redirects).collect::<Vec<_>>().join("|"))
    });
    let operators: String = reading.operators.iter().map(|(_, sign)| format!(" {sign}")).collect();
    format!("{}{operators}", commands.collect::<String>())
}

#[test]
fn plain_texts_are_parsed() {
    for (text, expected) in [
        ("git status", "[git|status]"),
        ("  git\tstatus  ", "[git|status]"),
        ("cat README.md | head -20", "[cat|README.md][head|-20] |"),
        ("grep -rn \"foo bar\" src", "[grep|-rn|foo bar|src]"),
        ("cargo test -- --nocapture", "[cargo|test|--|--nocapture]"),
        ("FOO=1 B='x y' make", "[FOO:=1|B:=x y|make]"),
        ("cd a && git push", "[cd|a][git|push] &&"),
        ("a &&\nb", "[a][b] &&"),
        ("a\n\nb\n", "[a][b]"),
        ("a; b & c || d;", "[a][b][c][d] ; & || ;"),
        ("(a; b) && (c)", "[a][b][c] ( ; ) && ( )"),
        ("sh -c 'git push'", "[sh|-c|git push]"),
        ("git commit -m \"it's \\\"so\\\"\"", "[git|commit|-m|it's \"so\"]"),
        ("git commit -m 'a\nb'", "[git|commit|-m|a\nb]"),
        ("find . -name '*.rs' -o -name *.x", "[find|.|-name|*.rs|-o|-name|*.x*]"),
        ("npm run build > out.log 2>&1", "[npm|run|build|write out.log|duplicate 1]"),
        ("a >>x 2>/dev/null <y", "[a|append x|write /dev/null|read y]"),
        ("a>x", "not plain: `>` outside quotes has a special meaning"),
        ("echo $? \"$? x$\"", "[echo|$?*|$? x$*]"),
        ("grep \"a\\.b\\\\\" 'c\\d' e\\ f", "[grep|a\\.b\\|c\\d|e f]"),
        ("git show stash@{0} HEAD^ a#b ~/x", "[git|show|stash@{0}|HEAD^|a#b|~/x*]"),
        ("echo 'größer' \"é\"", "[echo|größer|é]"),
        ("a'b'\"c\"\\d ''", "[abcd|]"),
    ] {
        assert_eq!(written(text), expected, "{text:?}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn texts_outside_the_plain_syntax_are_refused() {
    for text in [
        "echo $x",
        "echo \"$x\"",
        "echo ${x}",
        "echo $(x)",
        "echo `x`",
        "echo \"`x`\"",
        "echo $'x'",
        "echo $\"x\"",
        "echo $((1))",
        "echo $",
        "echo \"$\\\n(x)\"",
        "A=\\\n b c",
        "a\\\nb",
        "a \\\n b",
        "a \\",
        "echo 'x",
        "echo \"x",
        "echo \"x\\",
        "A= b",
        "A=",
        "A+=1",
        "A[0]=1",
        "a-b=1",
        "A=(1)",
        "[ a ]",
        "[[ a ]]",
        "((a))",
        "( (a)",
        "(a",
        "a)",
        "()",
        "( )",
        "f() { a; }",
        "{ a; }",
        "! a",
        "if a; then b; fi",
        "for i in a; do b; done",
        "while a; do b; done",
        "case a in b) c;; esac",
        "coproc a",
        "a &> x",
        "a &>> x",
        "a &>x",
        "a >& x",
        "a 2>&- b",
        "a >&-b",
        "a<&-b",
        "a >| x",
        "a <> x",
        "a << E\nE",
        "a <<< x",
        "a <(b)",
        "a > >(b)",
        "a 3> x",
        "a 0< x",
        "a 2>&12",
        "a 2>&1x",
        "a2> x",
        "a >",
        "a > ; b",
        "a > *",
        "a > ~/x",
        "a > ''",
        "a |& b",
        "a ;; b",
        "a ;& b",
        "; a",
        "a ; ; b",
        "a && ; b",
        "a &&",
        "a |",
        "| a",
        "& a",
        "a & & b",
        "a &&& b",
        "(a) b",
        "(a) > x",
        "a (b)",
        "a(b)",
        "a {b,c}",
        "a {1..3}",
        "a # b",
        "#a",
        "=a b",
        "a =b",
        "a é",
        "a \"é\\n\"",
        "a [b]",
        "a b]",
        "a\r",
        "a @(b)",
        "a \u{7f}",
    ] {
        assert!(read(text).is_err(), "{text:?} was read as {}", written(text));
    }
}

#[test]
fn single_command_is_recognised() {
    for (text, expected) in
        [("a b", true), ("a b\n", true), ("a;", false), ("a &", false), ("(a)", false), ("a\nb", false), ("", false)]
    {
        assert_eq!(is_single_command(text), expected, "{text:?}");
    }
}
