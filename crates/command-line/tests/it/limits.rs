//! Any text is read or refused, in little time, and every span lies in the text.

use std::ops::Range;
use std::time::{Duration, Instant};

use holdpoint_command_line::{Line, ShellLanguage};
use proptest::prelude::*;

use crate::texts;

const LANGUAGES: [ShellLanguage; 4] =
    [ShellLanguage::Bash, ShellLanguage::Sh, ShellLanguage::Zsh, ShellLanguage::PowerShell];

/// Reads a text in every language and checks its spans.
fn read(text: &str) {
    for language in LANGUAGES {
        let is_in = |span: &Range<usize>| text.get(span.clone()).is_some();
        match Line::parse(language, text) {
            Err(doubt) => assert!(is_in(&doubt.span) && !doubt.reason.is_empty(), "{language:?} {text:?} {doubt:?}"),
            Ok(line) => {
                assert!(line.runs.len() <= 256, "{language:?} {text:?}");
                assert!(!line.runs.is_empty() || !line.doubts.is_empty(), "{language:?} {text:?}");
                for run in &line.runs {
                    let words = run.words.iter().chain(run.assignments.iter().map(|assignment| &assignment.value));
                    let inside = is_in(&run.span) && words.into_iter().all(|word| is_in(&word.span));
                    assert!(inside && run.redirects.iter().all(|redirect| is_in(&redirect.span)), "{text:?} {run:#?}");
                }
                assert!(line.doubts.iter().all(|doubt| is_in(&doubt.span)), "{text:?} {:#?}", line.doubts);
            }
        }
    }
}

#[test]
fn deep_text_is_refused_or_in_doubt() {
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("( ", " )"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("${a:-", "}"),
        ("\"${a:-\"", "\"}\""),
        ("$((", "))"),
        ("if a; then ", "; fi"),
        ("`", "`"),
        ("<(", ")"),
        ("! ", ""),
        ("f() { ", "; }"),
        ("case a in a) ", ";; esac"),
        ("[[ ( ", " ) ]]"),
        ("sh -c ", ""),
        ("eval ", ""),
        ("sudo ", ""),
        ("env A=1 ", ""),
        ("xargs ", ""),
        ("while ", "; do ls; done"),
        ("for i in 1 2 3 4; do ", "; done"),
        ("{a,", "}"),
        ("a && ", ""),
        ("<<a ", ""),
        ("$(<", ")"),
        ("[", "]"),
        ("[:", "]"),
        ("a=:~", ""),
        ("{ ", ""),
        ("echo {1..60}", ""),
        ("1>", ""),
    ] {
        for depth in [400, 2_000] {
            let text = format!("{}ls{}", open.repeat(depth), close.repeat(depth));
            let start = Instant::now();
            read(&text);
            read(&open.repeat(depth));
            read(&format!("echo {text}"));
            assert!(start.elapsed() < Duration::from_secs(20), "{open} {depth} took {:?}", start.elapsed());
        }
    }
}

#[test]
fn long_text_has_a_limit() {
    assert!(Line::parse(ShellLanguage::Bash, &"x".repeat(64 * 1024 + 1)).is_err());
    assert!(Line::parse(ShellLanguage::Bash, &"x".repeat(64 * 1024)).unwrap().doubts.is_empty());
    let line = Line::parse(ShellLanguage::Bash, &"ls a; ls b; ".repeat(200)).unwrap();
    assert_eq!((line.runs.len(), line.doubts.len()), (256, 1));
    let loops: String = ["a", "b", "c", "d", "e"].map(|name| format!("for {name} in 1 2 3 4 5 6 7 8; do ")).concat();
    let line = Line::parse(ShellLanguage::Bash, &format!("{loops}[[ a ]]{}", "; done".repeat(5))).unwrap();
    assert!(!line.doubts.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn text_of_shell_characters_is_read_or_refused(text in "[a-c1é $(){}`'\"\\\\;&|<>=#!*?~\n\\[\\]:%/,.-]{0,60}") {
        read(&text);
    }

    #[test]
    fn text_of_signs_is_read_or_refused(text in texts::signs()) {
        read(&text);
    }

    #[test]
    fn nested_text_is_read_or_refused(text in texts::command()) {
        read(&text);
    }

    #[test]
    fn quoted_text_is_one_word(text in "[ -~é\n]{1,30}") {
        let quoted = format!("echo '{}'", text.replace('\'', "'\\''"));
        for language in [ShellLanguage::Bash, ShellLanguage::Sh, ShellLanguage::Zsh] {
            let line = Line::parse(language, &quoted).unwrap();
            prop_assert!(line.doubts.is_empty());
            prop_assert_eq!(line.runs[0].words[1].text(), Some(text.as_str()));
            prop_assert_eq!(line.runs[0].words.len(), 2);
        }
    }

    #[test]
    fn command_in_other_commands_is_listed_or_in_doubt(
        wrappers in prop::collection::vec(prop::sample::select(WRAPPERS), 0..3),
        places in prop::collection::vec(prop::sample::select(PLACES), 0..4),
    ) {
        let all = wrappers.iter().chain(&places);
        let text = all.fold("git push origin".to_owned(), |inner, wrapper| wrapper.replace("{}", &inner));
        for language in [ShellLanguage::Bash, ShellLanguage::Sh, ShellLanguage::Zsh] {
            let Ok(line) = Line::parse(language, &text) else { continue };
            let words = [Some("git"), Some("push"), Some("origin")];
            let listed = line.runs.iter().any(|run| run.words.iter().map(|word| word.text()).take(3).eq(words));
            prop_assert!(listed || !line.doubts.is_empty(), "{text} {line:#?}");
        }
    }
}

/// Commands whose words are another one.
const WRAPPERS: &[&str] = &[
    "sudo {}",
    "env A=1 {}",
    "nohup {}",
    "nice -n 3 {}",
    "timeout 5 {}",
    "time {}",
    "command {}",
    "exec {}",
    "stdbuf -oL {}",
    "ls | xargs {}",
    "find . -exec {} \\;",
];

/// Places in which a command may stand.
const PLACES: &[&str] = &[
    "cd x && {}",
    "{}; ls",
    "{} &",
    "({})",
    "! {}",
    "if {}; then ls; fi",
    "if ls; then ls; else {}; fi",
    "echo $({})",
    "echo \"$({})\"",
    "cat <({})",
    "{} > x",
    "{} | cat",
    "f() { {}; }; f",
    "while {}; do ls; done",
    "for i in a b; do {}; done",
    "case a in b) {};; esac",
    "eval {}",
    "cat <<E\n$({})\nE\n",
    "X=$({}) ls",
    "echo ${X:-$({})}",
    "[[ -n $({}) ]]",
];
