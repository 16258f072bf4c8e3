//! Tests how shell commands are parsed, with every known trick to hide a command from a rule.

use holdpoint_tool_facts::{Shell, Simple};

/// Formats a simple command as the tables below write it: its wrappers, then its words.
fn written(simple: &Simple) -> String {
    let via: String = simple.via.iter().map(|wrapper| format!("{wrapper}> ")).collect();
    format!("{via}{}", simple.words.join(" "))
}

fn seen(text: &str) -> (Vec<String>, bool) {
    let shell = Shell::parse(text).unwrap_or_else(|unparsed| panic!("{text:?}: {unparsed:?}"));
    (shell.commands.iter().map(written).collect(), shell.doubt.is_some())
}

/// Asserts that a text is read without doubt, so that an allowing rule may match.
fn certain(text: &str, commands: &[&str]) {
    assert_eq!(seen(text), (commands.iter().map(ToString::to_string).collect(), false), "{text}");
}

/// Asserts that a text is read with doubt: rules that ask and deny see it, and no allowing rule may match.
fn doubtful(text: &str, commands: &[&str]) {
    assert_eq!(seen(text), (commands.iter().map(ToString::to_string).collect(), true), "{text}");
}

/// Asserts that a text is not read at all, so that no allowing rule may match.
fn refused(text: &str) {
    if let Ok(shell) = Shell::parse(text) {
        panic!("{text:?} was read: {shell:#?}");
    }
}

#[test]
fn commands_are_found_in_every_position() {
    certain("git push", &["git push"]);
    certain("  git   push  ", &["git push"]);
    certain("cd a && git push", &["cd a", "git push"]);
    certain("cd a; git push", &["cd a", "git push"]);
    certain("cd a\ngit push\n", &["cd a", "git push"]);
    certain("false || git push", &["false", "git push"]);
    certain("ls & git push", &["ls", "git push"]);
    certain("ls | tee x | git push", &["ls", "tee x", "git push"]);
    doubtful("ls |& git push", &["ls", "git push"]);
    certain("(git push)", &["git push"]);
    doubtful("{ git push; }", &["git push"]);
    doubtful("! git push", &["git push"]);
    doubtful("if true; then git push; elif a; then b; else c; fi", &["true", "git push", "a", "b", "c"]);
    doubtful("while true; do git push; done", &["true", "git push"]);
    doubtful("until true; do git push; done", &["true", "git push"]);
    doubtful("for x in a b; do git push; done", &["git push"]);
    doubtful("select x in a b; do git push; done", &["git push"]);
    doubtful("case a in a) git push;; *) ls;; esac", &["git push", "ls"]);
    doubtful("f() { git push; }; f", &["git push", "f"]);
    doubtful("function f { git push; }", &["git push"]);
    doubtful("ls # git push", &["ls"]);
    doubtful("ls #\ngit push", &["ls", "git push"]);
    certain("echo a#b; git push", &["echo a#b", "git push"]);
    certain("echo 'if then'; git push", &["echo if then", "git push"]);
    certain("ls;git push", &["ls", "git push"]);
    doubtful("[ -f x ] && git push", &["[ -f x ]", "git push"]);
    certain("test -f x && git push", &["test -f x", "git push"]);
}

#[test]
fn substitutions_are_listed_with_doubt() {
    doubtful("echo $(git push)", &["git push", "echo $(git push)"]);
    doubtful("echo `git push`", &["git push", "echo `git push`"]);
    doubtful("echo \"a $(git push) b\"", &["git push", "echo a $(git push) b"]);
    doubtful("echo \"`git push`\"", &["git push", "echo `git push`"]);
    doubtful("diff <(git push) x", &["git push", "diff <(git push) x"]);
    doubtful("ls > >(git push)", &["git push", "ls"]);
    doubtful("echo ${x:-$(git push)}", &["git push", "echo ${x:-$(git push)}"]);
    doubtful("echo $((1 + $(git push)))", &["git push", "echo $((1 + $(git push)))"]);
    doubtful("X=$(git push)", &["git push", ""]);
    doubtful("X=$(git push) ls", &["git push", "ls"]);
    doubtful("export X=$(git push)", &["git push", "export X=$(git push)"]);
    doubtful("for x in $(git push); do ls; done", &["git push", "ls"]);
    doubtful("case $(git push) in a) ls;; esac", &["git push", "ls"]);
    doubtful("cat <<E\n$(git push)\nE", &["git push", "cat"]);
    doubtful("cat <<E\n`git push`\nE", &["cat"]);
    doubtful("a=(1 $(git push))", &["git push", ""]);
    doubtful("[[ -n $(git push) ]]", &["git push", "[[ -n $(git push) ]]"]);
    doubtful("ls > $(git push)", &["git push", "ls"]);
    doubtful("$(git push)", &["git push", "$(git push)"]);
    certain("echo '$(git push)'", &["echo $(git push)"]);
    certain("echo \\$x", &["echo $x"]);
    doubtful("cat <<'E'\n$(git push)\nE", &["cat"]);
}

#[test]
fn text_that_only_the_shell_can_expand_is_in_doubt() {
    doubtful("$CMD push", &["$CMD push"]);
    doubtful("$(echo git) push", &["echo git", "$(echo git) push"]);
    doubtful("g${x}it push", &["g${x}it push"]);
    doubtful("git $SUB", &["git $SUB"]);
    doubtful("git -C $DIR push", &["git -C $DIR push"]);
    doubtful("git push $FLAGS", &["git push $FLAGS"]);
    doubtful("git push \"$FLAGS\"", &["git push $FLAGS"]);
    doubtful("sh -c \"$X\"", &["sh -c> $X"]);
    doubtful("sh $X", &["sh $X"]);
    doubtful("eval $X", &["eval> $X"]);
    doubtful("sudo $X", &["sudo $X", "sudo> $X"]);
    doubtful("ssh $HOST ls", &["ssh $HOST ls", "ssh> ls"]);
    doubtful("ls > $X", &["ls"]);
    doubtful("git pu{sh,ll}", &["git pu{sh,ll}"]);
    doubtful("mkdir {a,b}", &["mkdir {a,b}"]);
    doubtful("echo {1..3}", &["echo {1..3}"]);
    doubtful("/usr/bin/gi? push", &["/usr/bin/gi? push"]);
    doubtful("git pus* x", &["git pus* x"]);
    doubtful("cat \"$HOME/x\"", &["cat $HOME/x"]);
    doubtful("((x = 1))", &["(( ((x = 1))"]);
    refused("echo $\"hello\"");
    doubtful("~/bin/git push", &["~/bin/git push"]);
    doubtful("'' push", &[" push"]);
    certain("echo $?", &["echo $?"]);
}

#[test]
fn quoting_hides_no_command() {
    for text in
        ["g''it push", "g\"\"it push", "\\git push", "\"git\" push", "'git' 'push'", "g\\it pu\\sh", "'g'\"i\"t push"]
    {
        certain(text, &["git push"]);
    }
    for text in ["$'\\x67it' push", "$'\\147it' push", "$'git' $'push'", "git \\\n  push"] {
        doubtful(text, &["git push"]);
    }
    refused("gi$\"\"t push");
    refused("git push --for$\"\"ce");
    refused("git 'push");
    refused("git \"push");
    refused("echo `git push");
    refused("echo $(git push");
    refused("git push\\\n\\");
    refused("gi\\\nt push");
    refused("echo $'\\c?'");
}

#[test]
fn text_that_shells_parse_differently_is_in_doubt() {
    for text in [
        "echo \"$\\\n(git push)\"",
        "A=\\\n reboot ls",
        "echo $'a\\'; git push #'",
        "echo a &>/dev/null git push",
        "[ a & reboot & b ]",
        "[\nreboot | a = b ]",
        "[ a 2>= b ]",
        "[[ a || reboot ]]",
        "cat <<EOF\n\\\nEOF\ngit push\nEOF\n",
        "git 2>&- push",
        "git >&-push",
        "git<&-push",
        "sort -ox<<E\na\nE",
        "sort -o<<E x\na\nE",
        "git push -f<<E\na\nE",
        "test -v 'a[$(reboot)]'",
        "'[' -v 'a[$(reboot)]' ']'",
        "[[ 'a[$(reboot)]' -eq 1 ]]",
        "read 'a[$(reboot)]'",
        "declare 'a[$(reboot)]=1'",
        "builtin declare 'a[$(reboot)]=1'",
        "export 'a[$(reboot)]=1'",
        "export -f x",
        "unset 'a[$(reboot)]'",
        "wait -p 'a[$(reboot)]'",
        "printf -v 'a[$(reboot)]' x",
        "jobs -x reboot",
        "RANDOM='a[$(reboot)]'",
        "A='a[$(reboot)]'",
        "OPTIND=x; ls",
        "ssh -to ProxyCommand=reboot host ls",
        "ssh -tF x host ls",
        "ssh -I x.so host ls",
        "ssh host -oProxyCommand=reboot",
        "bash -oc errexit 'reboot'",
        "bash -Oc extglob 'reboot'",
        "bash -kc 'git A=1 push'",
        "bash -o keyword -c 'tool A=1 push'",
        "bash -O extglob -c 'tool'",
        "su -s /tmp/x -c ls",
        "watch -s ls reboot",
    ] {
        let shell = Shell::parse(text);
        assert!(shell.is_err() || shell.is_ok_and(|shell| shell.doubt.is_some() && !shell.plain), "{text}");
    }
}

#[test]
fn everyday_commands_are_parsed_without_doubt() {
    for text in [
        "git status",
        "git log --oneline -5",
        "ls -la src",
        "cat README.md | head -20",
        "grep -rn \"foo bar\" src",
        "cargo test -- --nocapture",
        "LANG=C make",
        "cd a && git push",
        "sh -c 'git push'",
        "git commit -m \"a message with 'quotes'\"",
        "git commit -m 'a title\n\nand a body'",
        "find . -name '*.rs' | sort | uniq -c",
        "find . -name *.rs",
        "npm run build > out.log 2>&1",
        "cargo build 2>/dev/null; echo $?",
        "(cd a && make) || echo failed",
        "export LANG=C && make",
        "test -f x && cat x",
        "set -euo pipefail; make",
        "bash -euo pipefail -c 'make && make test'",
        "git diff HEAD~1 -- a.rs | grep \"^+\" | wc -l",
        "rg \"fn \\w+\\(\" src",
        "sleep 5 &",
    ] {
        assert_eq!(Shell::parse(text).unwrap().doubt, None, "{text}");
    }
}

#[test]
fn variables_before_a_command_are_listed() {
    certain("LANG=C git push", &["git push"]);
    certain("LANG=C TZ='a b' git push", &["git push"]);
    let shell = Shell::parse("LANG=C git push").unwrap();
    assert_eq!(shell.commands[0].assignments[0].name, "LANG");
    assert_eq!(shell.commands[0].assignments[0].value, "C");
    assert!(!shell.plain);
    certain("LANG=C", &[""]);
    for text in [
        "GIT_SSH_COMMAND=x git fetch",
        "PATH=. git status",
        "LD_PRELOAD=x ls",
        "PAGER=x git log",
        "BASH_ENV=x bash -c ls",
        "IFS=x; git status",
        "export PATH=/x; git status",
        "declare PATH=/x; git status",
        "read PATH; git status",
        "for PATH in x; do git status; done",
        "env GIT_PAGER=x git log",
        "sudo PATH=. git status",
        "GIT_CONFIG_COUNT=1 git status",
        "PS4=x bash -xc ls",
        "HOME=/x git status",
        "path=x git status",
        "printf -v PATH x; git status",
        "BAT_PAGER=x bat y",
        "AWS_CONFIG_FILE=x aws s3 ls",
        "OPENSSL_CONF=x openssl version",
        "RSYNC_CONNECT_PROG=x rsync a b",
        "KUBE_EDITOR=x kubectl get pods",
        "KUBECTL_EXTERNAL_DIFF=x kubectl diff",
        "DOTNET_STARTUP_HOOKS=x dotnet test",
        "_JAVA_OPTIONS=x java y",
        "FZF_DEFAULT_OPTS=x fzf",
    ] {
        assert!(Shell::parse(text).unwrap().doubt.is_some(), "{text}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn command_behind_a_wrapper_is_listed() {
    for (wrapper, via) in [
        ("nohup", "nohup"),
        ("nice", "nice"),
        ("nice -n 5", "nice"),
        ("nice -5", "nice"),
        ("timeout 5", "timeout"),
        ("timeout -s KILL -k 3 5m", "timeout"),
        ("timeout --signal=KILL 5", "timeout"),
        ("time", "time"),
        ("time -p", "time"),
        ("command", "command"),
        ("command -p", "command"),
        ("exec", "exec"),
        ("exec -a x", "exec"),
        ("builtin", "builtin"),
        ("stdbuf -oL", "stdbuf"),
        ("stdbuf -o L", "stdbuf"),
        ("setsid", "setsid"),
        ("setsid -w", "setsid"),
        ("env", "env"),
        ("env -i", "env"),
        ("env -u X", "env"),
        ("env -iu X", "env"),
        ("env CI=1 TZ=2", "env"),
        ("/usr/bin/env", "env"),
        ("env --", "env"),
    ] {
        certain(&format!("{wrapper} git push"), &[&format!("{via}> git push")]);
    }
    for (wrapper, via) in [
        ("sudo", "sudo"),
        ("sudo -u x", "sudo"),
        ("sudo -ux", "sudo"),
        ("sudo -n -E", "sudo"),
        ("sudo -nu x", "sudo"),
        ("sudo -nux", "sudo"),
        ("sudo --user=x", "sudo"),
        ("sudo CI=1", "sudo"),
        ("doas -u x", "doas"),
        ("/usr/bin/sudo", "sudo"),
        ("busybox", "busybox"),
    ] {
        let text = format!("{wrapper} git push");
        certain(&text, &[&text, &format!("{via}> git push")]);
    }
    for text in ["env -C x ls", "env -Cx ls", "env -iC x ls", "env --chdir=x ls", "sudo -nDx ls"] {
        assert!(Shell::parse(text).unwrap().cwd_changed, "{text}");
    }
    assert!(Shell::parse("sudo ls").unwrap().elevated);
    certain(
        "sudo nice env CI=1 timeout 5 git push",
        &["sudo nice env CI=1 timeout 5 git push", "sudo> nice> env> timeout> git push"],
    );
    doubtful("ls | xargs git push", &["ls", "xargs git push", "xargs> git push"]);
    doubtful("xargs -n 1 -I {} git push {}", &["xargs -n 1 -I {} git push {}", "xargs> git push {}"]);
    doubtful("xargs sh -c 'git push'", &["xargs sh -c git push", "xargs> sh -c> git push"]);
    doubtful("timeout --new-option git push", &["timeout> push"]);
    certain("find . -exec git push {} \\;", &["find . -exec git push {} ;", "find -exec> git push {}"]);
    certain("find . -execdir git push {} +", &["find . -execdir git push {} +", "find -execdir> git push {}"]);
    certain("find . -exec a \\; -exec b \\;", &["find . -exec a ; -exec b ;", "find -exec> a", "find -exec> b"]);
    doubtful("find . -exec {} \\;", &["find . -exec {} ;", "find -exec> {}"]);
    doubtful(
        "find . -exec sh -c 'git push {}' \\;",
        &["find . -exec sh -c git push {} ;", "find -exec> sh -c> git push {}"],
    );
    certain("command -v git", &["command -v git"]);
    doubtful("coproc_x=1 alias ls='git push'", &["alias ls=git push"]);
    refused("coproc git push");
    refused("time { git push; }");
    refused("then git push");
    refused("echo a =~ b && git push");
    refused("[[ a =~ b ]] && git push");
    doubtful("time - push", &["time> - push"]);
}

#[test]
fn nested_shell_texts_are_parsed() {
    for text in [
        "sh -c 'git push'",
        "sh -ec 'git push'",
        "sh -e -c 'git push'",
        "/bin/sh -c 'git push'",
        "sh -o errexit -c 'git push'",
    ] {
        certain(text, &["sh -c> git push"]);
    }
    certain("bash -lc \"git push\"", &["bash -c> git push"]);
    certain("bash --norc -c 'git push' x y", &["bash -c> git push"]);
    doubtful("zsh -c 'ls; git push'", &["zsh -c> ls", "zsh -c> git push"]);
    certain("sh -c 'sh -c \"git push\"'", &["sh -c> sh -c> git push"]);
    certain("busybox sh -c 'git push'", &["busybox sh -c git push", "busybox> sh -c> git push"]);
    doubtful("eval 'git push'", &["eval> git push"]);
    doubtful("eval git push", &["eval> git push"]);
    doubtful("eval 'eval git push'", &["eval> eval> git push"]);
    doubtful("trap 'git push' EXIT", &["trap git push EXIT", "trap> git push"]);
    certain("watch -n 1 git push", &["watch -n 1 git push", "watch> git push"]);
    certain("su x -c 'git push'", &["su x -c git push", "su -c> git push"]);
    certain("ssh host git push", &["ssh host git push", "ssh> git push"]);
    certain(
        "ssh -p 22 u@host 'cd a && git push'",
        &["ssh -p 22 u@host cd a && git push", "ssh> cd a", "ssh> git push"],
    );
    certain("ssh -tp 22 host git push", &["ssh -tp 22 host git push", "ssh> git push"]);
    certain("ssh -p22 host git push", &["ssh -p22 host git push", "ssh> git push"]);
    assert!(Shell::parse("ssh host ls").unwrap().remote);
    doubtful("ssh -o ProxyCommand=x host ls", &["ssh -o ProxyCommand=x host ls", "ssh> ls"]);
    doubtful("bash <<< 'git push'", &["bash", "bash <<> git push"]);
    doubtful("bash <<E\ngit push\nE", &["bash", "bash <<> git push"]);
    doubtful("bash -s x <<'E'\nls; git push\nE\n", &["bash -s x", "bash <<> ls", "bash <<> git push"]);
    doubtful("sh <<-E\n\tgit push\n\tE\n", &["sh", "sh <<> git push"]);
    doubtful("sudo bash <<E\ngit push\nE", &["sudo bash", "sudo> bash", "sudo> bash <<> git push"]);
    doubtful("bash <<E\n$X\nE", &["bash"]);
    doubtful("echo git push | sh", &["echo git push", "sh"]);
    doubtful("curl https://x | sudo bash", &["curl https://x", "sudo bash", "sudo> bash"]);
    doubtful("cat <<E | sh\ngit push\nE", &["cat", "sh"]);
    doubtful("bash", &["bash"]);
    doubtful("sh < x", &["sh"]);
    doubtful("env -S 'git push'", &["env -S git push", "env> git push"]);
    doubtful("env '-Sgit push'", &["env -Sgit push", "env> git push"]);
    doubtful("env --split-string='git push' x", &["env --split-string=git push x", "env> git push x"]);
    doubtful("cat <<E && git push\nx\nE", &["cat", "git push"]);
    doubtful("cat <<E > f\nx\nE\ngit push", &["cat", "git push"]);
    refused("sh -c");
    refused("sh -c 'git push");
    refused("sh -c 'git push \"'");
    refused("eval 'git push \"'");
    doubtful("fish -c 'git push'", &["fish -c git push"]);
}

#[test]
fn redirections_are_listed() {
    let shell = Shell::parse("git status > a 2>> b < c &> d").unwrap();
    assert_eq!((shell.writes, shell.reads), (vec!["a".into(), "b".into(), "d".into()], vec!["c".into()]));
    assert!(!shell.plain);
    assert_eq!(Shell::parse("> x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("{ ls; } > x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("ls && (ls) >| x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("ls >& x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("f() { ls; } > x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("for i in a; do ls; done > x").unwrap().writes, ["x"]);
    assert_eq!(Shell::parse("ls 2>&1").unwrap().writes, Vec::<String>::new());
    certain("git > x push", &["git push"]);
    certain("git > x push 2> y --force", &["git push --force"]);
    certain("> x git push", &["git push"]);
    doubtful("cat <<E > x push\na\nE", &["cat push"]);
    refused("cat <<E\nx");
    refused("cat <<E\nx\nE2");
    refused("exec 3<> x");
}

#[test]
fn invisible_and_look_alike_characters_are_in_doubt_or_refused() {
    for text in [
        "git\u{0}push",
        "git push\r\nls",
        "git\u{a0}push",
        "git pu\u{200b}sh",
        "git \u{202e}push",
        "ls\u{7}",
        "ls \u{1b}[2K",
        "git\u{3000}push",
        "ls\u{2028}git push",
        "\u{feff}git push",
        "ls\u{85}",
        "ls\u{c}",
    ] {
        refused(text);
    }
    doubtful("gіt push", &["gіt push"]);
    assert_ne!(Shell::parse("gіt push").unwrap().commands[0].program, "git");
    assert_ne!(Shell::parse("ｇit push").unwrap().commands[0].name, "git");
    doubtful("echo größer", &["echo größer"]);
    certain("echo 'größer'", &["echo größer"]);
}

#[test]
fn only_a_single_simple_command_is_plain() {
    for text in [
        "git status",
        "git status --short",
        "/usr/bin/git status",
        "ls -la 'a b'",
        "git commit -m 'a; b'",
        "git status 2>&1",
    ] {
        assert!(Shell::parse(text).unwrap().plain, "{text}");
    }
    for text in [
        "git status; ls",
        "git status &",
        "git status > x",
        "git status 2>&1 > x",
        "git status > /dev/null/x",
        "A=1 git status",
        "git status *.rs",
        "git status $X",
        "sudo git status",
        "nice git status",
        "(git status)",
        "! git status",
        "{ git status; }",
        "sh -c 'git status'",
        "git status <<< x",
        "git status | cat",
        "git -c core.pager=x status",
        "A=1",
        "if git status; then ls; fi",
    ] {
        assert!(!Shell::parse(text).unwrap().plain, "{text}");
    }
    assert!(Shell::parse("ls *.rs [a] x?").unwrap().globs);
    assert_eq!(Shell::parse("ls *.rs").unwrap().commands[0].args, ["*.rs"]);
    assert!(!Shell::parse("ls '*.rs'").unwrap().globs);
}

#[test]
fn text_without_a_command_is_refused() {
    for text in ["", " ", "\n", "# git push", ";", "&", "sh -c ''", "eval"] {
        refused(text);
    }
}

#[test]
fn separate_words_are_parsed_without_shell_syntax() {
    let shell = Shell::of_words(&["git", "--no-pager", "push", "a;b", "$x", "*"]).unwrap();
    assert_eq!(shell.commands[0].subcommand, "push");
    assert_eq!(shell.commands[0].args, ["--no-pager", "push", "a;b", "$x", "*"]);
    assert!(!shell.plain && shell.doubt.is_some());
    assert!(Shell::of_words(&["git", "--no-pager", "push", "a=b", "HEAD^"]).unwrap().plain);
    let shell = Shell::of_words(&["sh", "-c", "ls; git push"]).unwrap();
    assert_eq!(shell.commands.iter().map(written).collect::<Vec<_>>(), ["sh -c> ls", "sh -c> git push"]);
    assert!(Shell::of_words(&[]).is_err());
    assert!(Shell::of_words(&["git", "a\0b"]).is_err());
    assert!(Shell::of_words(&[""]).unwrap().doubt.is_some());
}
