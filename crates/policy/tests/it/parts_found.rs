//! Tests rules with patterns that ask or deny, and what they do not match.

use domain::Verdict;
use serde_json::json;

use Verdict::{Allow, Ask, Deny};

use crate::parts::{check, check_calls, judge, policy, rule};

#[test]
fn denied_commands_are_found_in_any_spelling() {
    let rules = rule("push", Deny, "commands = [\"git push *\", \"rm -rf *\", \"sudo *\", \"git clean --force *\"]")
        + &rule("all", Allow, "commands = [\"git *\", \"rm *\", \"ls *\", \"cd *\", \"echo *\"]");
    check(
        &rules,
        &[
            ("git push", Deny),
            ("git push origin main", Deny),
            ("git -C x push", Deny),
            ("git --no-pager push", Deny),
            ("/tmp/GIT push", Deny),
            ("cd a && git push", Deny),
            ("echo $(git push)", Deny),
            ("bash -c 'git push'", Deny),
            ("git $X", Ask),
            ("$X push", Ask),
            ("~/bin/git push", Deny),
            ("~/bin/gut push", Ask),
            ("git status", Allow),
            ("rm -rf x", Deny),
            ("rm -r -f x", Deny),
            ("rm -vfr x", Deny),
            ("git clean --force", Deny),
            ("git clean x --force=1", Deny),
            ("git clean --forc", Ask),
            ("sudo ls", Deny),
            ("ls; sudo reboot", Deny),
            ("echo 'open", Ask),
        ],
    );
}

#[test]
fn denied_files_hosts_variables_and_directories_are_found() {
    let all = rule(
        "all",
        Allow,
        "commands = [\"cat *\", \"cp *\", \"cd *\", \"git *\"]\nwrites = [\"/**\", \"**\"]\nenv = [\"*\"]\nin = [\"/**\", \"**\"]",
    );
    let rules = rule("ssh", Deny, "paths = [\"**/.ssh/**\", \"/etc/**\"]") + &all;
    check(
        &rules,
        &[
            ("cat x", Allow),
            ("cat .ssh/id", Deny),
            ("cat /home/ann/.SSH/id", Deny),
            ("cat /etc/passwd", Deny),
            ("cat < /etc/passwd", Deny),
            ("cat ../../etc/passwd", Deny),
            ("cd /etc && cat passwd", Deny),
            ("cat $X", Ask),
            ("cat ~/x", Allow),
            ("cat *", Allow),
            ("cat /etc/*", Deny),
            ("cat /e*/passwd", Ask),
        ],
    );
    let rules = rule("etc", Deny, "writes = [\"/etc/**\"]") + &all;
    check(
        &rules,
        &[
            ("cat /etc/x", Allow),
            ("cat x > /etc/x", Deny),
            ("cp x /etc/x", Deny),
            ("cat x > \"$X\"", Ask),
            ("cat x > y", Allow),
        ],
    );
    let rules = rule("env", Deny, "env = [\"LD_*\"]") + &all;
    check(&rules, &[("LD_PRELOAD=x cat y", Deny), ("LANG=C cat y", Allow), ("FOO=1 cat y", Allow)]);
    let rules = rule("in", Deny, "commands = [\"git *\"]\nin = [\"/etc/**\"]") + &all;
    check(
        &rules,
        &[
            ("cd /etc && git status", Deny),
            ("git status", Allow),
            ("cd /etc && cat x", Allow),
            ("cd $X && git status", Ask),
        ],
    );
    let both = rule("both", Deny, "commands = [\"cp *\"]\nwrites = [\"/etc/**\"]") + &all;
    check(&both, &[("cp a /etc/b", Deny), ("cat a > /etc/b", Allow), ("cp a b", Allow)]);
}

#[test]
fn asking_rules_match_what_they_may_match() {
    let rules = rule("push", Ask, "commands = [\"git push *\"]") + &rule("all", Allow, "commands = [\"git *\"]");
    let policy = policy(&rules);
    for command in ["git push", "git $X"] {
        let judgement = judge(&policy, command);
        assert_eq!(judgement.ruling.rule.as_deref(), Some("push"), "{command}: {judgement:#?}");
        assert_eq!(judgement.asks.len(), 1);
    }
}

#[test]
fn value_of_an_option_is_no_option() {
    let rules = rule("hooks", Ask, "commands = [\"git commit --no-verify *\", \"git commit -n *\"]")
        + &rule(
            "all",
            Allow,
            "commands = [\"git commit -m * *\", \"git commit -n *\", \"git commit --no-verify *\", \"cat\"]",
        );
    check(
        &rules,
        &[
            ("git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", Allow),
            ("git commit -m --no-verify", Allow),
            ("git commit -m \"$X\" --no-verify", Ask),
            ("git commit -m x -n", Ask),
            ("git commit -m $X", Ask),
            ("git commit $X -m --no-verify", Ask),
            ("git commit \"$X\" -m --no-verify", Ask),
            ("git commit --unheard-of -m --no-verify", Ask),
        ],
    );
}

#[test]
fn pipe_of_a_substitution_is_no_file() {
    let rules = rule("secrets", Ask, "paths = [\"**/*.pem\"]")
        + &rule("look", Allow, "commands = [\"{diff,sort,cat} *\"]\npaths = [\"**\"]");
    check(
        &rules,
        &[
            ("diff <(sort a.txt) <(sort b.txt)", Allow),
            ("cat < <(sort a)", Allow),
            ("diff <(sort key.pem) b", Ask),
            ("diff <(sort a) ../b", Ask),
            ("diff <(sort a) \"$X\"", Ask),
            ("diff <(sort a)$? b", Ask),
        ],
    );
}

#[test]
fn started_programs_are_ruled_on_as_runs_of_their_own() {
    let rules = rule("look", Allow, "commands = [\"find *\", \"xargs *\", \"wc *\", \"echo *\"]");
    check(
        &rules,
        &[
            ("find . -name '*.py' -exec wc -l {} +", Allow),
            ("find . -exec wc -l {} ';' -exec echo {} ';'", Allow),
            ("xargs -n1 echo < x", Allow),
            ("find . -exec rm {} +", Ask),
            ("find . -exec wc -l {} ';' -exec rm {} ';'", Ask),
            ("find . -exec sh -c 'rm x' ';'", Ask),
            ("find . -exec \"$X\" {} +", Ask),
            ("find . -execdir wc {} +", Ask),
            ("find . -name -exec -exec rm {} +", Ask),
            ("find . -exec wc {} + -delete", Ask),
            ("find . -exec wc {} + -fprint x", Ask),
            ("xargs rm < x", Ask),
            ("xargs find", Ask),
            ("xargs $X", Ask),
        ],
    );
}

#[test]
fn host_is_known_before_a_pattern_over_file_names() {
    let rules = rule("fetch", Allow, "commands = [\"curl *\"]\nhosts = [\"localhost\"]");
    check(
        &rules,
        &[
            ("curl -s http://localhost:8000/api/items?limit=5", Allow),
            ("curl -s http://localhost:8000?limit=5", Ask),
            ("curl -s http://localhost*/api", Ask),
            ("curl -s http://local?ost/api", Ask),
            ("curl -s http://localhost/?a=http://evil.example/", Ask),
            ("curl -s http://localhost/?a=$X", Ask),
            ("curl -s http://evil.example/api?limit=5", Ask),
        ],
    );
}

#[test]
fn nets_do_not_hold_declared_tools_without_their_subject() {
    let rules = rule("push", Deny, "commands = [\"git push *\"]")
        + &rule("net", Deny, "when = 'shell.commands.exists(c, c.name == \"sudo\")'")
        + &rule("hosts", Ask, "hosts = [\"evil.example\"]")
        + &rule("drop", Deny, "tables = [\"users\"]")
        + &rule("read", Allow, "paths = [\"**\"]");
    check_calls(
        &rules,
        &[
            ("read", json!({ "path": "x" }), Allow),
            ("view", json!({ "path": "x" }), Ask),
            ("other", json!({ "n": 1 }), Ask),
        ],
    );
}

#[test]
fn exact_arguments_match_a_text_that_is_in_doubt() {
    let text = "for f in $(cat list); do eval $f; done";
    let exact = format!(
        "[[rule]]\nname = \"exact\"\ntools = [\"bash\"]\nverdict = \"allow\"\narguments = {{ command = \"{text}\" }}\n"
    );
    check(&exact, &[(text, Allow), ("eval $f", Ask)]);
    let before = rule("net", Deny, "commands = [\"sudo *\"]") + &exact;
    check(&before, &[(text, Ask)]);
    let before = rule("git", Allow, "commands = [\"git *\"]") + &exact;
    check(&before, &[(text, Allow)]);
}
