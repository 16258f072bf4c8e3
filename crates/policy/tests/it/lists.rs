//! Tests the findings about lists of patterns, declarations and unsafe conditions.

use holdpoint_policy::Policy;

/// Findings of a file whose first line is `version = 1`, one finding per line.
fn findings(text: &str) -> String {
    let found = match Policy::load("policy.toml", &format!("version = 1\n{text}")) {
        Ok(policy) => policy.warnings().to_vec(),
        Err(findings) => findings,
    };
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn rule(verdict: &str, keys: &str) -> String {
    findings(&format!("[[rule]]\nname = \"a\"\ntools = [\"t\"]\nverdict = \"{verdict}\"\n{keys}"))
}

fn allow(expression: &str) -> String {
    rule("allow", &format!("when = '''{expression}'''"))
}

#[test]
fn wrong_patterns_are_refused() {
    insta::assert_snapshot!(rule("ask", "commands = []"), @r#"policy.toml:6:12: error[never_matches]: `commands` is empty, so that this rule matches nothing"#);
    insta::assert_snapshot!(rule("ask", "commands = [\"\", \"git 'log\", \"git {a,b\", \"git a}\", \"git \\\\\"]"), @r#"
policy.toml:6:13: error[wrong_pattern]: a pattern of `commands` is empty, so that it matches nothing
policy.toml:6:17: error[wrong_pattern]: a pattern of `commands` has an open quote
policy.toml:6:29: error[wrong_pattern]: a pattern of `commands` has an open brace
policy.toml:6:41: error[wrong_pattern]: a pattern of `commands` closes a brace that is not open
policy.toml:6:51: error[wrong_pattern]: a pattern of `commands` ends in a backslash
"#);
    insta::assert_snapshot!(rule("ask", "commands = [3]\nwrites = \"x\""), @r#"
policy.toml:6:12: error[never_matches]: `commands` is empty, so that this rule matches nothing
policy.toml:6:13: error[wrong_type]: `commands` must be a list of texts
policy.toml:7:10: error[wrong_type]: `writes` must be a list of texts, not string
"#);
    insta::assert_snapshot!(rule("allow", "commands = [\"* --version\", \"*\", \"git *\", \"frobnicate *\"]"), @r#"
policy.toml:6:13: error[any_program]: a pattern of an allowing rule names its program: a wildcard there would allow every program
policy.toml:6:28: error[any_program]: a pattern of an allowing rule names its program: a wildcard there would allow every program
policy.toml:6:42: warning[unknown_program]: the options of `frobnicate` are not known, so that `*` allows all of them, also those that write, start programs or send
"#);
    insta::assert_snapshot!(rule("ask", "commands = [\"* --version\", \"*\"]"), @"");
    insta::assert_snapshot!(rule("ask", "paths = [\"\", \"../x\", \"a/**b\", \"src/\", \"~ann/x\", \"C:x\", \"a\\\\b\", \"{a,b}\"]"), @r#"
policy.toml:6:10: error[wrong_pattern]: a pattern of `paths` is empty, so that it matches nothing
policy.toml:6:14: error[wrong_pattern]: a pattern of `paths` goes up by `..`: write the path from its start
policy.toml:6:22: error[wrong_pattern]: a pattern of `paths` has `**` beside other characters: it stands alone between slashes
policy.toml:6:31: error[wrong_pattern]: a pattern of `paths` ends in a slash: write `src/**` for everything in the directory
policy.toml:6:39: error[wrong_pattern]: a pattern of `paths` names the home directory of another user, which is not known
policy.toml:6:49: error[wrong_pattern]: a pattern of `paths` depends on the current directory of its drive
policy.toml:6:56: error[wrong_pattern]: a pattern of `paths` contains a character that no path has here: write `/` between components
policy.toml:6:64: error[wrong_pattern]: a pattern of `paths` has braces, which stand for themselves in no path: write one pattern for each path
"#);
    insta::assert_snapshot!(rule("ask", "hosts = [\"https://docs.rs\", \"*docs.rs\", \"docs.rs:x\", \"\", \"a b\"]"), @r#"
policy.toml:6:10: error[wrong_pattern]: a pattern of `hosts` is an address: write the host alone, such as `docs.rs`
policy.toml:6:29: error[wrong_pattern]: a pattern of `hosts` has a wildcard that is not a leading `*.`
policy.toml:6:41: error[wrong_pattern]: a pattern of `hosts` is no host: the URL cannot be parsed: invalid port number
policy.toml:6:54: error[wrong_pattern]: a pattern of `hosts` is empty, so that it matches nothing
policy.toml:6:58: error[wrong_pattern]: a pattern of `hosts` is no host: the character U+0020 is in the URL
"#);
    insta::assert_snapshot!(rule("ask", "tables = [\"a..b\", \"\\\"a\\\"\"]\nenv = [\"A B\"]"), @r#"
policy.toml:6:11: error[wrong_pattern]: a pattern of `tables` is no name of a table: write `schema.table` without quotes
policy.toml:6:19: error[wrong_pattern]: a pattern of `tables` is no name of a table: write `schema.table` without quotes
policy.toml:7:8: error[wrong_pattern]: a pattern of `env` contains U+0020, which no name has
"#);
    insta::assert_snapshot!(rule("allow", "in = [\"/srv\"]"), @r#"policy.toml:6:1: error[never_matches]: `in` limits the other lists of a rule and allows nothing by itself; add `commands`"#);
    insta::assert_snapshot!(rule("allow", "commands = [\"ls *\"]\nenv = [\"*\"]"), @r#"policy.toml:7:8: warning[allows_everything]: this allows every variable, also those that decide what runs, such as `PATH`"#);
    insta::assert_snapshot!(rule("ask", &format!("commands = [{}]", "\"a\",".repeat(201))), @r#"policy.toml:6:12: error[too_many_patterns]: `commands` has more than 200 patterns"#);
    insta::assert_snapshot!(rule("ask", &format!("commands = [\"{}\"]\npaths = [\"{}\"]", "a".repeat(1025), "a".repeat(1025))), @r#"
policy.toml:6:13: error[wrong_pattern]: a pattern of `commands` is longer than 1024 bytes
policy.toml:7:10: error[wrong_pattern]: a pattern of `paths` is longer than 1024 bytes
"#);
    insta::assert_snapshot!(rule("ask", "commands = [\"a {1,2,3,4,5,6,7,8,9}{1,2,3,4,5,6,7,8,9}\"]"), @r#"policy.toml:6:13: error[wrong_pattern]: a pattern of `commands` has a word with more than 64 alternatives"#);
    insta::assert_snapshot!(rule("ask", "command = [\"git *\"]"), @r#"policy.toml:6:1: error[unknown_key]: a rule has no key `command`; did you mean `commands`?"#);
}

#[test]
fn wrong_declarations_are_refused() {
    let tool = |keys: &str| findings(&format!("[[tool]]\nname = \"t\"\n{keys}"));
    insta::assert_snapshot!(tool("shell = \"bsh\"\nsql = \"postgres\"\narguments.command = \"shel\"\narguments.x = \"something\""), @r#"
policy.toml:4:9: error[unknown_value]: `bsh` is not a shell language; did you mean `bash`?
policy.toml:5:7: error[unknown_value]: `postgres` is not a dialect of SQL; did you mean `postgresql`?
policy.toml:6:21: error[unknown_value]: `shel` is not a use of an argument; did you mean `shell`?
policy.toml:7:15: error[unknown_value]: `something` is not a use of an argument; there are `shell`, `path`, `read_path`, `write_path`, `words`, `patch`, `url`, `sql`, `text`, `cwd`
"#);
    insta::assert_snapshot!(tool("shell = \"bash\"\nsql = \"mysql\""), @r#"
policy.toml:4:1: warning[unused_language]: `shell` is the language of an argument: name it, as in `arguments.command = "shell"`
policy.toml:5:1: warning[unused_language]: `sql` is the dialect of an argument: name it, as in `arguments.query = "sql"`
"#);
    insta::assert_snapshot!(tool("arguments.x = 3\narguments.\"\" = \"path\"\narguments.\"[]\" = \"path\""), @r#"
policy.toml:4:15: error[wrong_type]: `x` must be a text, not integer
policy.toml:5:11: error[wrong_name]: `` is not the name of an argument; write `path`, `request.url` or `edits[].path`
policy.toml:6:11: error[wrong_name]: `[]` is not the name of an argument; write `path`, `request.url` or `edits[].path`
"#);
    insta::assert_snapshot!(tool("shell = \"bash\"\narguments.command = \"shell\"\narguments.edits.path = \"write_path\"\narguments.\"edits[].path\" = \"write_path\""), @"");
    insta::assert_snapshot!(tool("arguments = {}"), @"");
}

#[test]
fn comparisons_of_texts_are_refused_in_allowing_rules() {
    insta::assert_snapshot!(allow("args.command.startsWith(\"git \")"), @r#"policy.toml:6:8: error[text_comparison]: `startsWith` compares the text of a command: `git status; rm -rf /` begins with `git` too; write `commands = ["git *"]`"#);
    insta::assert_snapshot!(allow("!args.command.contains(\"rm\")"), @r#"policy.toml:6:8: error[text_comparison]: `contains` compares the text of a command: `git status; rm -rf /` begins with `git` too; write `commands = ["git status", "git log *"]`, the commands word by word"#);
    insta::assert_snapshot!(allow("args[\"cmd\"].matches(\"^ls( -l)?$\")"), @r#"policy.toml:6:8: error[text_comparison]: `matches` compares the text of a command: `git status; rm -rf /` begins with `git` too; write `commands = ["git status", "git log *"]`, the commands word by word"#);
    insta::assert_snapshot!(allow("glob(args.command, \"ls*\")"), @r#"policy.toml:6:8: error[text_comparison]: `glob` compares the text of a command: `git status; rm -rf /` begins with `git` too; write `commands = ["git status", "git log *"]`, the commands word by word"#);
    insta::assert_snapshot!(allow("args.commands.all(c, c.startsWith(\"ls\"))"), @r#"policy.toml:6:8: error[text_comparison]: `startsWith` compares the text of a command: `git status; rm -rf /` begins with `git` too; write `commands = ["ls *"]`"#);
    insta::assert_snapshot!(allow("args.url.startsWith(\"https://docs.rs/\")"), @r#"policy.toml:6:8: error[text_comparison]: `startsWith` compares the text of an address: `https://docs.rs.evil.example/` contains `docs.rs` too; write `hosts = ["docs.rs"]`"#);
    insta::assert_snapshot!(allow("args.query.startsWith(\"select\")"), @r#"policy.toml:6:8: error[text_comparison]: `startsWith` compares the text of SQL: `select 1; drop table x` begins with `select` too; write `tables = ["analytics.*"]`, the tables that it may read"#);
    insta::assert_snapshot!(allow("args.filePath.endsWith(\".md\")"), @r#"policy.toml:6:8: error[text_comparison]: `endsWith` compares the text of a path: `/srv/../etc/passwd` begins with `/srv` too; write `paths = ["**/*.md"]`"#);
    insta::assert_snapshot!(allow("args.path.startsWith(\"src/\")"), @r#"
policy.toml:6:8: warning[starts_with_on_path]: `startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`
policy.toml:6:8: error[text_comparison]: `startsWith` compares the text of a path: `/srv/../etc/passwd` begins with `/srv` too; write `paths = ["src/**"]`
"#);
    insta::assert_snapshot!(rule("deny", "when = 'args.command.contains(\"rm\")'"), @"");
    insta::assert_snapshot!(allow("args.command == \"ls\" && args.query.contains(\"cats\") && args.profile.startsWith(\"a\")"), @r#"policy.toml:6:8: warning[starts_with_on_path]: `startsWith` on a path also accepts `/tmp/../etc` and `/tmp2`; use `under(path.canonical, dir)`"#);
}

#[test]
fn other_traps_are_refused() {
    insta::assert_snapshot!(rule("deny", "when = 'shell.commands.exists(c, c.args.contains(\"--force\"))'"), @r#"policy.toml:6:8: error[list_or_text]: `shell.commands[].args` is a list and no text: write `"--force" in …args`, or `args.exists(x, …)`"#);
    insta::assert_snapshot!(allow("shell.plain && \"git\" in shell.commands[0].program"), @r#"policy.toml:6:8: error[list_or_text]: `shell.commands[].program` is a text and no list: compare it as a whole, or write `contains("git")`"#);
    insta::assert_snapshot!(rule("deny", "when = 'shell.plain && shell.commands[0].name == \"rm\"'"), @r#"policy.toml:6:8: error[behind_plain]: behind `shell.plain` the rule misses every command with other text around it, as in `cd a && git push`: search all of `shell.commands`, or write `commands = ["git push *"]`"#);
    insta::assert_snapshot!(rule("deny", "when = '!shell.plain || shell.commands[0].name == \"rm\"'"), @"");
    insta::assert_snapshot!(allow("args.amount < 100"), @r#"policy.toml:6:8: error[no_lower_bound]: `args.amount` has an upper bound only, and so may be negative: add `args.amount >= 0`"#);
    insta::assert_snapshot!(allow("100 > int(args.amount) && args.note == \"x\""), @r#"policy.toml:6:8: error[no_lower_bound]: `args.amount` has an upper bound only, and so may be negative: add `args.amount >= 0`"#);
    insta::assert_snapshot!(allow("!(args.amount > 100)"), @r#"policy.toml:6:8: error[no_lower_bound]: `args.amount` has an upper bound only, and so may be negative: add `args.amount >= 0`"#);
    insta::assert_snapshot!(allow("args.amount <= 100 && args.amount > 0"), @"");
    insta::assert_snapshot!(allow("args.retries < 3"), @r#"policy.toml:6:8: warning[no_lower_bound]: `args.retries` has an upper bound only, and so may be negative: add `args.retries >= 0`"#);
    insta::assert_snapshot!(rule("ask", "when = 'args.amount < 100'"), @"");
    insta::assert_snapshot!(allow("args.a == 1 and args.b == 2"), @r#"policy.toml:6:8: error[not_an_expression]: `when` is not an expression: write `&&` for `and`"#);
    insta::assert_snapshot!(allow("not args.a"), @r#"policy.toml:6:8: error[not_an_expression]: `when` is not an expression: write `!` for `not`"#);
    insta::assert_snapshot!(allow("args.a == \"this and that"), @r#"policy.toml:6:8: error[not_an_expression]: `when` is not an expression: Syntax error: token recognition error at: '"this and that'"#);
}
