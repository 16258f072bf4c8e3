//! Tests that any command is read or refused in little time, and that no wrapper hides a command.

use holdpoint_tool_facts::Shell;
use proptest::prelude::*;

#[test]
fn too_much_is_refused_and_takes_no_time() {
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
    fn a_wrapped_command_is_still_listed(wrappers in prop::collection::vec(wrapper(), 1..5)) {
        let text = wrappers.iter().fold("git push origin".to_owned(), |inner, wrapper| wrapper.replace("{}", &inner));
        if let Ok(shell) = Shell::parse(&text) {
            let listed = shell.commands.iter().any(|one| one.words.starts_with(&["git".into(), "push".into(), "origin".into()]));
            prop_assert!(listed || shell.doubt.is_some(), "{} {:#?}", text, shell);
            prop_assert!(!shell.plain, "{}", text);
        }
    }

    #[test]
    fn one_wrapper_always_lists_it(wrapper in wrapper()) {
        let text = wrapper.replace("{}", "git push origin");
        let shell = Shell::parse(&text).unwrap();
        prop_assert!(shell.commands.iter().any(|one| one.words.starts_with(&["git".into(), "push".into(), "origin".into()])), "{}", text);
    }

    #[test]
    fn quoting_a_text_gives_that_text(text in "[ -~é]{1,30}") {
        let quoted = format!("echo '{}'", text.replace('\'', "'\\''"));
        let shell = Shell::parse(&quoted).unwrap();
        prop_assert_eq!(&shell.commands[0].args, &vec![text]);
        prop_assert!(shell.plain);
    }

    #[test]
    fn anything_can_be_tried(text in any::<String>()) {
        let _ = Shell::parse(&text);
    }

    #[test]
    fn anything_like_a_shell_can_be_tried(text in "[a-c $(){}`'\"\\\\;&|<>=#!*?~\n\\[\\]-]{0,60}") {
        if let Ok(shell) = Shell::parse(&text) {
            prop_assert!(!shell.commands.is_empty());
            prop_assert!(shell.doubt.is_some() || !shell.dynamic);
        }
    }
}
