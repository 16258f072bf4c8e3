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

pub(crate) fn policy(rules: &str) -> Policy {
    let loaded = Policy::load("policy.toml", &format!("{TOOLS}{rules}"));
    loaded.unwrap_or_else(|findings| {
        panic!("{}", findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    })
}

/// One rule about every tool.
pub(crate) fn rule(name: &str, verdict: Verdict, keys: &str) -> String {
    format!("[[rule]]\nname = \"{name}\"\ntools = [\"*\"]\nverdict = \"{}\"\n{keys}\n", verdict.name())
}

pub(crate) fn judge_call(policy: &Policy, tool: &str, arguments: &Value, root: Option<&str>) -> Judgement {
    let call = PolicyInput { tool, arguments, agent: Some("ci"), user: "ann", role: Role::Agent, client: None, root };
    let judgement = policy.judge(&call);
    let explained = policy.explain(&call);
    assert_eq!(explained.ruling, judgement.ruling, "{arguments}");
    assert_eq!(explained.asks, judgement.asks, "{arguments}");
    assert_eq!(explained.parts, judgement.parts, "{arguments}");
    judgement
}

pub(crate) fn judge(policy: &Policy, command: &str) -> Judgement {
    judge_call(policy, "bash", &json!({ "command": command }), Some("/srv/app"))
}

/// Checks the verdict on each command, and shows all that are wrong.
pub(crate) fn check(rules: &str, commands: &[(&str, Verdict)]) {
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

pub(crate) fn check_calls(rules: &str, calls: &[(&str, Value, Verdict)]) {
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
fn expression_over_sql_excuses_only_changes_of_rows() {
    let no_delete = rule("rows", Allow, "tables = [\"orders\"]\nwhen = '!(\"delete\" in sql.verbs)'");
    let functions =
        rule("rows", Allow, "tables = [\"orders\"]\nwhen = 'sql.functions.all(f, f in [\"nextval\", \"now\"])'");
    let sql = |text: &str| json!({ "sql": text });
    check_calls(
        &no_delete,
        &[
            ("query", sql("update orders set status = 1 where id = 2"), Allow),
            ("query", sql("insert into orders (id) values (1)"), Allow),
            ("query", sql("delete from orders where id = 2"), Ask),
            ("query", sql("select dblink_exec('x', 'y') from orders"), Ask),
            ("query", sql("select pg_read_file('/etc/passwd') from orders"), Ask),
            ("query", sql("select lo_export(1, '/tmp/x') from orders"), Ask),
            ("query", sql("select nextval('s') from orders"), Ask),
            ("query", sql("select pg_sleep(9) from orders"), Ask),
            ("query", sql("select * from orders for update"), Ask),
            ("query", sql("insert into orders (id) values (dblink_exec('x', 'y'))"), Ask),
            ("query", sql("drop table orders"), Ask),
        ],
    );
    check_calls(
        &functions,
        &[
            ("query", sql("select nextval('s') from orders"), Allow),
            ("query", sql("select dblink_exec('x', 'y') from orders"), Ask),
            ("query", sql("select * from orders for update"), Ask),
        ],
    );
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
    // A floor keeps its denials too.
    let floor = &text[..text.find("[[rule]]\nname = \"ls\"").unwrap()];
    assert!(Policy::load_floor("floor.toml", floor).is_err());
    let floor = Policy::load_stored_floor("floor.toml", floor).unwrap();
    for (command, expected) in [("git status", Allow), ("whoami", Deny)] {
        let verdict = judge_call(&floor, "bash", &json!({ "command": command }), None).ruling.verdict;
        assert_eq!(verdict, expected, "{command}");
    }
    assert!(Policy::load_stored_floor("floor.toml", "version = 1\n[[rule]]").is_err());
}
