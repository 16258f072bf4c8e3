//! Tests that any command is read or refused in little time, and that no wrapper hides a command.

use holdpoint_tool_facts::Shell;
use proptest::prelude::*;

#[test]
fn oversized_or_deep_shell_text_is_refused_quickly() {
    assert!(Shell::parse(&"x".repeat(40_000)).is_err());
    assert!(Shell::parse(&"ls;".repeat(1_000)).is_err());
    for (open, close) in [
        ("$(", ")"),
        ("(", ")"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("${a:-", "}"),
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
        ("while ", "; do ls; done"),
        ("{a,", "}"),
        ("a && ", ""),
        ("<<a ", ""),
        ("$(<", ")"),
    ] {
        for depth in [400, 4_000] {
            let text = format!("{}ls{}", open.repeat(depth), close.repeat(depth));
            if let Ok(shell) = Shell::parse(&text) {
                assert!(!shell.plain, "{open} {depth}");
            }
            let _ = Shell::parse(&open.repeat(depth));
            let _ = Shell::parse(&format!("echo {text}"));
        }
    }
}

fn wrapper() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("sudo {}"),
        Just("env A=1 {}"),
        Just("nohup {}"),
        Just("nice -n 3 {}"),
        Just("timeout 5 {}"),
        Just("time {}"),
        Just("command {}"),
        Just("exec {}"),
        Just("stdbuf -oL {}"),
        Just("ls | xargs {}"),
        Just("find . -exec {} \\;"),
        Just("A=1 {}"),
        Just("cd x && {}"),
        Just("{}; ls"),
        Just("{} &"),
        Just("({})"),
        Just("! {}"),
        Just("if {}; then ls; fi"),
        Just("echo $({})"),
        Just("echo \"$({})\""),
        Just("cat <({})"),
        Just("{} > x"),
        Just("{} | cat"),
        Just("f() { {}; }; f"),
        Just("while {}; do ls; done"),
        Just("eval {}"),
        Just("ssh host {}"),
        Just("bash <<E\n{}\nE\n"),
    ]
}

proptest! {
    #[test]
    fn command_in_several_wrappers_is_listed_or_in_doubt(wrappers in prop::collection::vec(wrapper(), 1..5)) {
        let text = wrappers.iter().fold("git push origin".to_owned(), |inner, wrapper| wrapper.replace("{}", &inner));
        if let Ok(shell) = Shell::parse(&text) {
            let listed = shell.commands.iter().any(|one| one.words.starts_with(&["git".into(), "push".into(), "origin".into()]));
            prop_assert!(listed || shell.doubt.is_some(), "{} {:#?}", text, shell);
            prop_assert!(!shell.plain, "{}", text);
        }
    }

    #[test]
    fn command_in_one_wrapper_is_always_listed(wrapper in wrapper()) {
        let text = wrapper.replace("{}", "git push origin");
        let shell = Shell::parse(&text).unwrap();
        prop_assert!(shell.commands.iter().any(|one| one.words.starts_with(&["git".into(), "push".into(), "origin".into()])), "{}", text);
    }

    #[test]
    fn quoted_text_is_parsed_unchanged(text in "[ -~é]{1,30}") {
        let quoted = format!("echo '{}'", text.replace('\'', "'\\''"));
        let shell = Shell::parse(&quoted).unwrap();
        prop_assert_eq!(&shell.commands[0].args, &vec![text]);
        prop_assert!(shell.plain);
    }

    #[test]
    fn any_text_is_parsed_or_refused_as_a_command(text in any::<String>()) {
        let _ = Shell::parse(&text);
    }

    #[test]
    fn text_of_shell_characters_is_parsed_or_refused(text in "[a-c $(){}`'\"\\\\;&|<>=#!*?~\n\\[\\]-]{0,60}") {
        if let Ok(shell) = Shell::parse(&text) {
            prop_assert!(!shell.commands.is_empty());
            prop_assert!(shell.doubt.is_some() || !shell.dynamic);
        }
    }
}
