//! Tests the findings of `policy check`: one small file for each finding, with the position that it names.

use holdpoint_policy::Policy;

/// Findings of a file whose first line is `version = 1`, one finding per line.
fn findings(text: &str) -> String {
    let text = format!("version = 1\n{}", text.trim_start_matches('\n'));
    let found = match Policy::load("policy.toml", &text) {
        Ok(policy) => policy.warnings().to_vec(),
        Err(findings) => findings,
    };
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Findings of a file with one asking rule and this `ask` table.
fn ask(settings: &str) -> String {
    findings(&format!("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"ask\"\n[rule.ask]\n{settings}"))
}

/// Findings of a file with one asking rule and this expression.
fn when(expression: &str) -> String {
    findings(&format!("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"ask\"\nwhen = '''{expression}'''"))
}

#[test]
fn valid_file_has_no_findings() {
    insta::assert_snapshot!(findings(""), @"");
    insta::assert_snapshot!(findings("default = \"deny\""), @"");
    insta::assert_snapshot!(
        ask("audience = { groups = [\"a\", \"b\"], quorum = 2, distinct_groups = true, four_eyes = true }
deadline_seconds = 60
fallback = { option = \"no\" }
options = [{ id = \"yes\", label = \"Yes\", effect = \"approve\" }, { id = \"no\", label = \"No\", effect = \"reject\" }]"),
        @""
    );
}

#[test]
fn file_that_is_no_policy_is_refused() {
    insta::assert_snapshot!(Policy::load("p.toml", "").unwrap_err()[0], @"p.toml:1:1: error[missing_key]: the file needs `version = 1`");
    insta::assert_snapshot!(Policy::load("p.toml", "version = 2").unwrap_err()[0], @"p.toml:1:11: error[unknown_version]: `version` must be 1, not 2");
    insta::assert_snapshot!(findings("this is no toml"), @"policy.toml:2:6: error[not_toml]: key with no value, expected `=`");
    insta::assert_snapshot!(findings("[[rule]\nname = 'ä"), @"policy.toml:2:8: error[not_toml]: unclosed array table, expected `]`");
    insta::assert_snapshot!(findings("version = 1"), @"policy.toml:2:1: error[not_toml]: duplicate key");
    insta::assert_snapshot!(Policy::load("p.toml", &"#".repeat((256 << 10) + 1)).unwrap_err()[0], @"p.toml:1:1: error[too_large]: the file has more than 262144 bytes");
    insta::assert_snapshot!(findings(&"[[rule]]\n".repeat(5_001)), @"policy.toml:2:3: error[too_many_rules]: the file has more than 5000 rules");
}

#[test]
fn unknown_key_is_reported_with_a_suggestion() {
    insta::assert_snapshot!(findings("defualt = \"ask\""), @"policy.toml:2:1: error[unknown_key]: the file has no key `defualt`; did you mean `default`?");
    insta::assert_snapshot!(findings("[[rules]]"), @"policy.toml:2:3: error[unknown_key]: the file has no key `rules`; did you mean `rule`?");
    insta::assert_snapshot!(
        findings("[[rule]]\nname = \"a\"\ntool = [\"t\"]\ntools = [\"t\"]\nverdict = \"ask\"\n  colour = 1"), @"
policy.toml:4:1: error[unknown_key]: a rule has no key `tool`; did you mean `tools`?
policy.toml:7:3: error[unknown_key]: a rule has no key `colour`; it takes `name`, `tools`, `agents`, `users`, `roles`, `arguments`, `commands`, `writes`, `paths`, `hosts`, `tables`, `env`, `in`, `when`, `verdict`, `reason`, `ask`, `example`
");
    insta::assert_snapshot!(ask("dedline_seconds = 3"), @"policy.toml:7:1: error[unknown_key]: `ask` has no key `dedline_seconds`; did you mean `deadline_seconds`?");
    insta::assert_snapshot!(ask("audience = { user = [\"ann\"] }"), @"policy.toml:7:14: error[unknown_key]: `audience` has no key `user`; did you mean `users`?");
    insta::assert_snapshot!(ask("options = [{ id = \"a\", label = \"A\", effect = \"reject\", risky = true }]"), @"policy.toml:7:56: error[unknown_key]: an option has no key `risky`; did you mean `risk`?");
    insta::assert_snapshot!(findings("[[tool]]\nname = \"t\"\nshema = {}"), @"policy.toml:4:1: error[unknown_key]: a tool has no key `shema`; did you mean `schema`?");
}

#[test]
fn wrong_types_and_missing_keys_are_reported() {
    insta::assert_snapshot!(findings("[[rule]]"), @r#"
policy.toml:2:1: error[missing_key]: a rule needs `name`
policy.toml:2:1: error[missing_key]: a rule needs `tools`; `["*"]` is every tool
policy.toml:2:1: error[missing_key]: a rule needs `verdict`
"#);
    insta::assert_snapshot!(findings("rule = 3"), @"policy.toml:2:8: error[wrong_type]: `rule` must be a list of tables, not integer");
    insta::assert_snapshot!(findings("rule = [3]"), @"policy.toml:2:9: error[wrong_type]: `rule` must be a list of tables");
    insta::assert_snapshot!(findings("[[rule]]\nname = 3\ntools = \"t\"\nverdict = true"), @"
policy.toml:3:8: error[wrong_type]: `name` must be a text, not integer
policy.toml:4:9: error[wrong_type]: `tools` must be a list of texts, not string
policy.toml:5:11: error[wrong_type]: `verdict` must be a text, not boolean
");
    insta::assert_snapshot!(findings("[[rule]]\nname = \"a\"\ntools = [\"t\", 3]\nverdict = \"ask\""), @"policy.toml:4:15: error[wrong_type]: `tools` must be a list of texts");
    insta::assert_snapshot!(findings("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"maybe\""), @"policy.toml:5:11: error[unknown_verdict]: `verdict` must be one of `allow`, `ask`, `deny`");
    insta::assert_snapshot!(findings("[[rule]]\nname = \"\"\ntools = [\"t\"]\nverdict = \"ask\"\nreason = \"x\\u202Ey\""), @"
policy.toml:3:8: error[unfit_text]: `name` must not be empty
policy.toml:6:10: error[unfit_text]: `reason` contains U+202E, which could disguise it
");
    insta::assert_snapshot!(findings("[[tool]]\nname = \"t*\"\nschema = 3\nidempotent = 1"), @"
policy.toml:3:8: error[wrong_name]: a tool is declared by its whole name, without wildcards
policy.toml:4:10: error[wrong_type]: a schema must be an object
policy.toml:5:14: error[wrong_type]: `idempotent` must be true or false, not integer
");
    insta::assert_snapshot!(findings("[[tool]]\nname = \"t\"\nschema_json = '{'"), @"policy.toml:4:15: error[not_json]: `schema_json` is not JSON: EOF while parsing an object at line 1 column 1");
    insta::assert_snapshot!(findings("[[tool]]\nname = \"t\"\nschema = {}\nschema_json = '{}'"), @"policy.toml:5:1: error[two_schemas]: give `schema` or `schema_json`, not both");
    insta::assert_snapshot!(findings("[[tool]]\nname = \"t\"\n[[tool]]\nname = \"t\""), @"policy.toml:5:8: error[duplicate_name]: tool `t` is declared twice");
}

#[test]
fn default_verdict_allow_is_refused() {
    insta::assert_snapshot!(findings("default = \"allow\""), @"policy.toml:2:11: error[default_allows]: `default` must be `ask` or `deny`: a call that no rule matches is never allowed");
}

#[test]
fn duplicate_rule_names_are_refused() {
    let rule = |tool: &str| format!("[[rule]]\nname = \"a\"\ntools = [\"{tool}\"]\nverdict = \"ask\"\n");
    insta::assert_snapshot!(findings(&(rule("t") + &rule("u"))), @"policy.toml:7:8: error[duplicate_name]: rule `a` has the name of the rule in line 2");
}

#[test]
fn rules_that_can_never_match_are_reported() {
    let rule = |more: &str| findings(&format!("[[rule]]\nname = \"a\"\nverdict = \"ask\"\n{more}"));
    insta::assert_snapshot!(rule("tools = []"), @"policy.toml:5:9: error[never_matches]: `tools` is empty, so that this rule matches nothing");
    insta::assert_snapshot!(rule("tools = [\"\", \"a b\"]"), @"
policy.toml:5:10: error[wrong_pattern]: a pattern of `tools` is empty, so that it matches nothing
policy.toml:5:14: error[wrong_pattern]: a pattern of `tools` contains U+0020, which no name has
");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nagents = []"), @"policy.toml:6:10: error[never_matches]: `agents` is empty, so that this rule matches nothing");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nusers = []"), @"policy.toml:6:9: error[never_matches]: `users` is empty, so that this rule matches nothing");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nroles = []"), @"policy.toml:6:9: error[never_matches]: `roles` is empty, so that this rule matches nothing");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nroles = [\"superuser\"]"), @"policy.toml:6:10: error[unknown_role]: `superuser` is not a role; the roles are `admin`, `operator`, `viewer`, `agent`");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nwhen = 'false'"), @"policy.toml:6:1: error[never_matches]: `when` is false for every call");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nwhen = '1 / 0 == 1'"), @"policy.toml:6:1: error[never_matches]: `when` always fails: it divides by zero");
    insta::assert_snapshot!(rule("tools = [\"t\"]\nwhen = '1 == 1'"), @"policy.toml:6:1: warning[always_true]: `when` is true for every call; leave it out");
}

/// Findings of a file with two rules.
fn two(wide: &str, narrow: &str) -> String {
    findings(&format!("[[rule]]\nname = \"first\"\n{wide}\n[[rule]]\nname = \"second\"\n{narrow}"))
}

#[test]
fn rules_shadowed_by_earlier_ones_are_reported() {
    let (ask, deny) = ("verdict = \"ask\"", "verdict = \"deny\"");
    insta::assert_snapshot!(two(&format!("tools = [\"write_*\"]\n{ask}"), &format!("tools = [\"write_file\"]\n{deny}")), @"policy.toml:7:8: error[shadowed]: rule `second` can never match, because `first` in line 2 comes first");
    insta::assert_snapshot!(two(&format!("tools = [\"*\"]\n{ask}"), &format!("tools = [\"write_*\", \"x\"]\n{deny}")), @"policy.toml:7:8: error[shadowed]: rule `second` can never match, because `first` in line 2 comes first");
    insta::assert_snapshot!(two(&format!("tools = [\"write_*\"]\n{ask}"), &format!("tools = [\"write_?\", \"x\"]\n{deny}")), @"");
    insta::assert_snapshot!(
        two(&format!("tools = [\"t\"]\nagents = [\"ci-*\"]\n{ask}"), &format!("tools = [\"t\"]\nagents = [\"ci-7\"]\n{deny}")), @"policy.toml:8:8: error[shadowed]: rule `second` can never match, because `first` in line 2 comes first");
    insta::assert_snapshot!(
        two(&format!("tools = [\"t\"]\nagents = [\"ci-7\"]\n{ask}"), &format!("tools = [\"t\"]\n{deny}")), @"");
    insta::assert_snapshot!(
        two(&format!("tools = [\"t\"]\nwhen = 'args.x'\n{ask}"), &format!("tools = [\"t\"]\nwhen = 'args.x'\n{deny}")), @"policy.toml:8:8: error[shadowed]: rule `second` can never match, because `first` in line 2 comes first");
    insta::assert_snapshot!(
        two(&format!("tools = [\"t\"]\nwhen = 'args.x'\n{ask}"), &format!("tools = [\"t\"]\n{deny}")), @"");
    insta::assert_snapshot!(
        two(&format!("tools = [\"t\"]\nroles = [\"agent\", \"admin\"]\n{ask}"), &format!("tools = [\"t\"]\nroles = [\"agent\"]\n{deny}")), @"policy.toml:8:8: error[shadowed]: rule `second` can never match, because `first` in line 2 comes first");
    insta::assert_snapshot!(two("tools = [\"t\"]\nverdict = \"allow\"", &format!("tools = [\"t\"]\n{deny}")), @"policy.toml:7:8: error[shadowed]: rule `second` can deny only calls that cannot be parsed, because `first` in line 2 comes first; move it up");
    insta::assert_snapshot!(two("tools = [\"*\"]\nwhen = 'args.x'\nverdict = \"allow\"", &format!("tools = [\"t\"]\nwhen = 'args.x'\n{deny}")), @r#"
policy.toml:4:10: warning[allows_everything]: rule `first` allows every tool, including tools that do not exist yet
policy.toml:8:8: error[shadowed]: rule `second` can deny only calls that cannot be parsed, because `first` in line 2 comes first; move it up
"#);
    insta::assert_snapshot!(two("tools = [\"t\"]\nverdict = \"allow\"", &format!("tools = [\"t\"]\n{ask}")), @"policy.toml:7:8: warning[shadowed]: rule `second` can match only calls that cannot be parsed, because `first` in line 2 comes first");
}

#[test]
fn wildcards_broader_than_their_examples_are_reported() {
    let rule = "[[rule]]\nname = \"a\"\ntools = [\"read_*\"]\nverdict = \"allow\"\n";
    let example = |tool: &str| format!("[[rule.example]]\ntool = \"{tool}\"\nverdict = \"allow\"\n");
    insta::assert_snapshot!(findings(rule), @"policy.toml:4:10: warning[wildcard_broader_than_examples]: `read_*` allows every tool of that form, and no example shows one");
    insta::assert_snapshot!(findings(&format!("{rule}{}", example("read_file"))), @"policy.toml:4:10: warning[wildcard_broader_than_examples]: `read_*` allows every tool of that form, and its examples show `read_file` alone");
    insta::assert_snapshot!(findings(&format!("{rule}{}{}", example("read_file"), example("read_file"))), @"policy.toml:4:10: warning[wildcard_broader_than_examples]: `read_*` allows every tool of that form, and its examples show `read_file` alone");
    insta::assert_snapshot!(findings(&format!("{rule}{}{}", example("read_file"), example("read_list"))), @"");
    insta::assert_snapshot!(findings("[[rule]]\nname = \"a\"\ntools = [\"*\"]\nverdict = \"allow\""), @"policy.toml:4:10: warning[allows_everything]: rule `a` allows every tool, including tools that do not exist yet");
    insta::assert_snapshot!(findings("[[rule]]\nname = \"a\"\ntools = [\"*\"]\nverdict = \"deny\""), @"");
}

#[test]
fn invalid_expressions_are_refused() {
    insta::assert_snapshot!(when("args.x =="), @"policy.toml:6:8: error[not_an_expression]: `when` is not an expression: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}");
    insta::assert_snapshot!(when("argz.x == 1"), @"policy.toml:6:8: error[unknown_variable]: `when` has no variable `argz`; there are `args`, `tool`, `caller`, `shell`, `path`, `paths`, `url`, `sql`");
    insta::assert_snapshot!(when("shell.comands.exists(c, true)"), @"policy.toml:6:8: error[unknown_field]: `shell` has no field `comands`; it has `background`, `commands`, `cwd_changed`, `doubt`, `dynamic`, `elevated`, `functions`, `globs`, `opaque`, `pipes`, `plain`, `plain_beside`, `plain_elsewhere`, `reads`, `remote`, `substitutions`, `unparsed`, `writes`, `writes_known`");
    insta::assert_snapshot!(when("frobnicate(args.x)"), @"policy.toml:6:8: error[unknown_function]: `when` cannot use `frobnicate` in this way; it can use `under`, `host`, `glob`, `size`, `int`, `uint`, `double`, `string`, `bool`");
    insta::assert_snapshot!(when("args.x.frobnicate()"), @"policy.toml:6:8: error[unknown_function]: `when` cannot use `frobnicate` in this way; it can use `size`, `contains`, `startsWith`, `endsWith`, `matches`");
    insta::assert_snapshot!(when(&"(".repeat(20)), @"policy.toml:6:8: error[expression_too_deep]: `when` has brackets nested deeper than 16");
    insta::assert_snapshot!(when(&"true && ".repeat(200)), @"policy.toml:6:8: error[expression_too_long]: `when` is longer than 1024 bytes");
}

#[test]
fn risky_expressions_are_warned_about() {
    insta::assert_snapshot!(when("args.path.startsWith(\"/tmp/\")"), @"policy.toml:6:8: warning[starts_with_on_path]: `startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`");
    insta::assert_snapshot!(when("path.canonical.startsWith(\"/tmp/\")"), @"policy.toml:6:8: warning[starts_with_on_path]: `startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`");
    insta::assert_snapshot!(when("args[\"destination\"].startsWith(\"/tmp/\")"), @"policy.toml:6:8: warning[starts_with_on_path]: `startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`");
    insta::assert_snapshot!(when("args.title.startsWith(\"WIP\")"), @"");
    insta::assert_snapshot!(when("args.title.matches(\"safe\")"), @"policy.toml:6:8: warning[unanchored_regex]: `matches` is true wherever the pattern occurs; write `^(…)$` to mean the whole text");
    insta::assert_snapshot!(when("args.title.matches(\"^safe$\")"), @"");
    insta::assert_snapshot!(when("args.title.endsWith(\".md\")"), @"");
}

#[test]
fn ends_with_on_an_address_is_warned_about() {
    assert!(allowing("args.to.endsWith(\"@corp.example\")").contains("warning[ends_with_address]"));
    assert!(allowing("args.to.all(to, to.endsWith(\"@corp.example\"))").contains("warning[ends_with_address]"));
    assert!(!allowing("args.to.matches(\"^[a-z]+@corp[.]example$\")").contains("ends_with_address"));
}

/// Findings of a file with one allowing rule and this expression.
fn allowing(expression: &str) -> String {
    findings(&format!("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"allow\"\nwhen = '''{expression}'''"))
}

#[test]
fn regex_anchored_in_only_one_branch_is_warned_about() {
    for pattern in ["^ls|rm$", "(?m)^ls$", "^ls", "ls$", "(^ls|rm)$", ""] {
        let found = when(&format!("args.title.matches(\"{pattern}\")"));
        assert!(found.contains("warning[unanchored_regex]"), "{pattern}: {found}");
    }
    for pattern in ["^(ls|rm)$", "^ls$|^rm$", "(^(ls)$)", "^$", "(?i)^ls$"] {
        assert_eq!(when(&format!("args.title.matches(\"{pattern}\")")), "", "{pattern}");
    }
}

#[test]
fn pattern_on_an_unresolved_path_is_warned_about() {
    let traps = [
        "glob(args.path, \"/srv/*\")",
        "glob(args[\"path\"], \"/srv/*\")",
        "glob(args.files[0], \"/srv/*\")",
        "glob(args.options.directory, \"/srv/*\")",
        "args.files.all(f, glob(f, \"/srv/*\"))",
        "args.edits.all(e, glob(e.path, \"/srv/*\"))",
        "args.path.matches(\"^/srv/.*$\")",
    ];
    for trap in traps {
        let found = when(trap);
        assert!(found.contains("warning[pattern_on_path]"), "{trap}: {found}");
    }
    insta::assert_snapshot!(when(traps[0]), @"policy.toml:6:8: warning[pattern_on_path]: `glob` on a path as it was sent also accepts `/srv/../etc`; use `under(path.canonical, dir)`, or `path.canonical`");
    for safe in
        ["glob(path.canonical, \"/srv/*\")", "paths.exists(p, glob(p.lower, \"*.env\"))", "glob(args.title, \"a*\")"]
    {
        assert_eq!(when(safe), "", "{safe}");
    }
}

#[test]
fn comparisons_that_are_never_true_are_reported() {
    for (condition, why) in [
        ("path.extension == \".sh\"", "has no dot: `sh`"),
        ("path.extension in [\"rs\", \".sh\"]", "has no dot: `sh`"),
        ("path.canonical == \"/etc/\"", "is written `/etc`"),
        ("path.canonical == \"./a\"", "is written `a`"),
        ("path.name == \"a/b\"", "is the last part of a path"),
        ("paths.exists(p, p.name != \"a/b\")", "is the last part of a path"),
        ("shell.commands.exists(c, c.program == \"git push\")", "without its arguments"),
        ("shell.commands.exists(c, c.program == \"/bin/rm\")", "without its arguments"),
        ("path == \"/etc/passwd\"", "`path` is not a text"),
        ("\"rm\" in shell.commands", "`shell.commands[]` is not a text"),
        ("shell.commands.exists(c, c.args == \"x\")", "`shell.commands[].args` is not a text"),
        ("url.port == \"80\"", "`url.port` is not a text"),
        ("under(path, \"/work\")", "`path` is not a text"),
        ("paths.exists(p, under(p, \"/work\"))", "`paths[]` is not a text"),
    ] {
        let found = when(condition);
        assert!(found.contains("warning[never_true]") && found.contains(why), "{condition}: {found}");
    }
    for condition in [
        "path.extension == \"sh\"",
        "path.canonical == \"/etc\"",
        "path.canonical.endsWith(\"/\")",
        "shell.commands.exists(c, c.program == \"rm\" && \"x\" in c.args)",
        "under(path.canonical, \"/work\")",
        "url.port == 80",
        "shell.commands[0].words == [\"git\", \"status\"]",
        "path.components == [\"etc\"]",
    ] {
        assert!(!when(condition).contains("never_true"), "{condition}: {}", when(condition));
    }
    insta::assert_snapshot!(when("shell.commands.exists(c, c.name == \"RM\")"), @"policy.toml:6:8: warning[never_true]: `shell.commands[].name` is always in lower case, and so never `RM`");
    insta::assert_snapshot!(when("url.method == \"get\""), @"policy.toml:6:8: warning[never_true]: `url.method` is always in upper case, and so never `get`");
    insta::assert_snapshot!(when("url.host in [\"docs.rs\", \"EXAMPLE.com\"]"), @"policy.toml:6:8: warning[never_true]: `url.host` is always in lower case, and so never `EXAMPLE.com`");
    insta::assert_snapshot!(when("\"EXAMPLE.com\" == host(args.link)"), @"policy.toml:6:8: warning[never_true]: `url.host` is always in lower case, and so never `EXAMPLE.com`");
    insta::assert_snapshot!(when("glob(url.host, \"*.Example.com\") || url.scheme.startsWith(\"HTTP\")"), @r#"
policy.toml:6:8: warning[never_true]: `url.host` is always in lower case, and so never `*.Example.com`
policy.toml:6:8: warning[never_true]: `url.scheme` is always in lower case, and so never `HTTP`
"#);
    insta::assert_snapshot!(when("\"DROP\" in sql.verbs || sql.statements.exists(s, s.verb == \"Drop\")"), @r#"
policy.toml:6:8: warning[never_true]: `sql.verbs[]` is always in lower case, and so never `DROP`
policy.toml:6:8: warning[never_true]: `sql.statements[].verb` is always in lower case, and so never `Drop`
"#);
    insta::assert_snapshot!(when("caller.role == \"Admin\""), @"policy.toml:6:8: warning[never_true]: `caller.role` is never `Admin`; there are `admin`, `operator`, `viewer`, `agent`");
    insta::assert_snapshot!(when("tool == \"y\" || tool in [\"t\", \"u\"]"), @r#"
policy.toml:6:1: warning[never_true]: `tool` is never `y` here, as none of the rule's `tools` is
policy.toml:6:1: warning[never_true]: `tool` is never `u` here, as none of the rule's `tools` is
"#);
    for fine in
        ["shell.commands.exists(c, c.program == \"RM\" || c.name == \"rm\")", "url.method == \"GET\" && tool != \"t\""]
    {
        assert_eq!(when(fine), "", "{fine}");
    }
}

#[test]
fn allowing_rules_that_ignore_parts_of_a_call_are_reported() {
    insta::assert_snapshot!(allowing("shell.commands.all(c, c.program == \"ls\")"), @"policy.toml:6:8: warning[commands_without_plain]: this also allows redirections and other text around the commands, as in `ls > /etc/passwd`; begin with `shell.plain`");
    insta::assert_snapshot!(allowing("!shell.commands.exists(c, c.name == \"rm\")"), @"policy.toml:6:8: warning[commands_without_plain]: this also allows redirections and other text around the commands, as in `ls > /etc/passwd`; begin with `shell.plain`");
    insta::assert_snapshot!(allowing("shell.commands.all(c, c.program == \"cp\") && shell.writes.all(f, glob(f, \"/srv/*\"))"), @"policy.toml:6:8: warning[writes_without_known]: `shell.writes` lists the known files only, and many programs write others; add `shell.writes_known`");
    insta::assert_snapshot!(allowing("shell.writes_known && shell.commands.all(c, c.program == \"cp\") && shell.writes.all(f, glob(f, \"/srv/*\"))"), @"");
    insta::assert_snapshot!(allowing("shell.commands[0].program == \"ls\""), @"policy.toml:6:8: warning[commands_without_plain]: this also allows redirections and other text around the commands, as in `ls > /etc/passwd`; begin with `shell.plain`");
    insta::assert_snapshot!(allowing("!paths.exists(p, under(p.canonical, \"/etc\"))"), @"policy.toml:6:8: warning[true_of_no_paths]: `!paths.exists(…)` is true for a call without paths; write `paths.all(…)`, which then fails");
    let fine = [
        "shell.plain && shell.commands[0].program == \"ls\"",
        "shell.commands.all(c, c.program == \"ls\") && size(shell.writes) == 0",
        "shell.commands.all(c, c.program == \"ls\" && size(c.redirects) == 0)",
        "size(paths) > 0 && !paths.exists(p, under(p.canonical, \"/etc\"))",
        "paths.all(p, under(p.canonical, \"/srv\"))",
    ];
    for expression in fine {
        assert_eq!(allowing(expression), "", "{expression}");
    }
    for expression in ["shell.commands.exists(c, c.name == \"rm\")", "!paths.exists(p, p.hidden)"] {
        assert_eq!(when(expression), "", "{expression}");
    }
}

#[test]
fn unknown_fields_within_loops_are_refused() {
    insta::assert_snapshot!(when("shell.commands.exists(c, c.nam == \"rm\")"), @"policy.toml:6:8: error[unknown_field]: `shell.commands[]` has no field `nam`; it has `args`, `assignments`, `cwd_changed`, `dynamic`, `globs`, `name`, `opaque`, `path`, `program`, `redirects`, `remote`, `subcommand`, `via`, `words`");
    insta::assert_snapshot!(when("args.all(a, true)"), @"policy.toml:6:8: error[wrong_kind]: a loop needs a list, and this is not one");
    insta::assert_snapshot!(when("size(args) == 1"), @"policy.toml:6:8: error[wrong_kind]: `size` needs a list or a text, and this is neither");
}

#[test]
fn invalid_question_settings_are_refused() {
    insta::assert_snapshot!(
        findings("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"deny\"\n[rule.ask]\ndeadline_seconds = 3"), @"policy.toml:6:1: error[ask_unused]: `ask` is only for rules with the verdict `ask`");
    insta::assert_snapshot!(ask("deadline_seconds = 60\nfallback = { option = \"approve\" }"), @"policy.toml:8:1: error[fallback_runs_action]: `fallback.option` would run the action without a person's approval");
    insta::assert_snapshot!(ask("deadline_seconds = 60\nfallback = { option = \"edit\" }"), @"policy.toml:8:1: error[wrong_fallback]: `fallback.option` an edit needs a person");
    insta::assert_snapshot!(
        ask("deadline_seconds = 60\nfallback = { option = \"go\" }\noptions = [{ id = \"go\", label = \"Go\", effect = \"approve\" }]"), @"policy.toml:8:1: error[fallback_runs_action]: `fallback.option` would run the action without a person's approval");
    insta::assert_snapshot!(ask("deadline_seconds = 60\nfallback = { option = \"perhaps\" }"), @"policy.toml:8:1: error[wrong_fallback]: `fallback.option` is not one of the options");
    insta::assert_snapshot!(ask("deadline_seconds = 60\nfallback = \"allow\""), @r#"policy.toml:8:12: error[wrong_fallback]: `fallback` must be "deny", "hold" or { option = "…" }"#);
    insta::assert_snapshot!(ask("fallback = \"deny\""), @"policy.toml:7:1: error[wrong_fallback]: `fallback` needs a deadline after which it applies");
    insta::assert_snapshot!(ask("deadline_seconds = 0"), @"policy.toml:7:20: error[wrong_deadline]: `deadline_seconds` must be at least 1, and at most ten years");
    insta::assert_snapshot!(ask("audience = { users = [], groups = [] }"), @"policy.toml:7:1: error[wrong_audience]: `audience` names nobody, so that nobody could answer");
    insta::assert_snapshot!(ask("audience = { users = [\"ann\"], quorum = 2 }"), @"policy.toml:7:1: error[wrong_audience]: `audience.quorum` is greater than the number of `users`");
    insta::assert_snapshot!(ask("audience = { roles = [\"agent\"] }"), @"policy.toml:7:1: error[wrong_audience]: `audience.roles` an agent's key can never answer");
    insta::assert_snapshot!(ask("options = [{ id = \"a\", label = \"A\", effect = \"explode\" }]"), @"policy.toml:7:12: error[wrong_option]: this is not an option: unknown variant `explode`, expected one of `approve`, `edit`, `retry`, `reject`, `terminate`, `provide`, `skip`, `custom`");
}

#[test]
fn failing_examples_are_reported() {
    let rule = |example: &str| {
        findings(&format!(
            "[[rule]]\nname = \"a\"\ntools = [\"t\"]\nwhen = 'args.n > 3'\nverdict = \"deny\"\n[[rule.example]]\n{example}"
        ))
    };
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = 4 }\nverdict = \"deny\"\nmatches = true"), @"");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = 3 }\nverdict = \"deny\""), @"policy.toml:7:1: error[example_fails]: the example expects deny, and the default, as no rule matches, says ask: No rule matches this call.");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = 4 }\nverdict = \"ask\""), @"policy.toml:7:1: error[example_fails]: the example expects ask, and rule `a` says deny: Rule `a` matches.");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = {}\nverdict = \"deny\""), @"policy.toml:7:1: error[example_fails]: the example expects deny, and rule `a` says ask: Rule `a` could not be evaluated: there is no `n`.");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = {}\nmatches = false"), @"policy.toml:7:1: error[example_fails]: the example expects `matches = false`, and the rule cannot be evaluated: there is no `n`");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = 4 }\nmatches = false"), @"policy.toml:7:1: error[example_fails]: the example expects `matches = false`, and the rule matches");
    insta::assert_snapshot!(rule("tool = \"T\"\narguments = { n = 4 }\nmatches = true"), @"policy.toml:7:1: error[example_fails]: the example expects `matches = true`, and the rule does not match: none of its tools is this one");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = 4 }"), @"policy.toml:7:1: error[missing_key]: an example needs `verdict` or `matches`, or it proves nothing");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = { n = inf }\nmatches = true"), @"policy.toml:9:19: error[wrong_type]: JSON cannot represent this number");
    insta::assert_snapshot!(rule("tool = \"t\"\narguments = 3\nmatches = true\nrole = \"king\""), @"
policy.toml:9:13: error[wrong_type]: `arguments` must be a table, not integer
policy.toml:11:8: error[unknown_role]: `king` is not a role; the roles are `admin`, `operator`, `viewer`, `agent`
");
}

#[test]
fn arguments_that_contradict_their_rule_are_reported() {
    let rule = |verdict: &str, arguments: &str, when: &str| {
        let rule = format!("[[rule]]\nname = \"a\"\ntools = [\"t\", \"u\"]\nverdict = \"{verdict}\"\n");
        findings(&format!("{rule}arguments = {arguments}\nwhen = '''{when}'''"))
    };
    insta::assert_snapshot!(rule("ask", "{ n = 5 }", "args.n > 3"), @"");
    insta::assert_snapshot!(rule("ask", "{ n = 5 }", "args.n > 3 && caller.agent == \"x\""), @"");
    insta::assert_snapshot!(rule("ask", "{ n = 2 }", "args.n > 3 || tool == \"u\""), @"");
    insta::assert_snapshot!(rule("deny", "{ n = 2 }", "args.n > 3"), @"policy.toml:6:1: error[never_matches]: `when` is false for these arguments");
    insta::assert_snapshot!(rule("ask", "{}", "args.n > 3"), @"policy.toml:6:1: error[never_matches]: `when` always fails on these arguments: there is no `n`");
    insta::assert_snapshot!(rule("allow", "{ command = \"$x\" }", "shell != null"), @"policy.toml:6:1: error[never_matches]: a call with these arguments is never matched: a part of the call could not be parsed, and no rule allows such a call");
    insta::assert_snapshot!(rule("allow", "{ path = \"/a\", hook = \"x\" }", "under(path.canonical, \"/a\")"), @"policy.toml:6:1: error[never_matches]: a call with these arguments is never matched: the call has an argument that may change the facts that the rule tests, and the rule does not test it by its name");
    // The tool behind a wildcard is unknown.
    let wild =
        "[[rule]]\nname = \"a\"\ntools = [\"t*\"]\nverdict = \"ask\"\narguments = { n = 2 }\nwhen = 'args.n > 3'";
    insta::assert_snapshot!(findings(wild), @"");
}

#[test]
fn dates_in_arguments_are_refused() {
    let rule = "[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"ask\"\n";
    insta::assert_snapshot!(
        findings(&format!("{rule}arguments = {{ name = \"x\", day = 2026-11-15 }}")),
        @"policy.toml:6:33: error[wrong_type]: 2026-11-15 is a date, and JSON has none: write it as a text, in quotes"
    );
    insta::assert_snapshot!(
        findings(&format!(
            "{rule}[[rule.example]]\ntool = \"t\"\nverdict = \"ask\"\narguments = {{ days = [2026-11-15T10:00:00Z] }}"
        )),
        @"policy.toml:9:23: error[wrong_type]: 2026-11-15T10:00:00Z is a date, and JSON has none: write it as a text, in quotes"
    );
}
