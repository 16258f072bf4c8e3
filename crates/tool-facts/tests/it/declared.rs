//! Tests declarations: their names, and the facts about calls of declared tools.

use std::collections::BTreeMap;

use holdpoint_tool_facts::{
    ArgumentUse, CallFacts, CallPath, Declaration, SqlDialect, ToolEffect, check_argument_name, parse_shell,
    shell_names,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Declares the arguments of a tool: `name=use`, separated by blanks.
fn declare(arguments: &str) -> Declaration {
    let argument = |text: &str| {
        let (name, kind) = text.split_once('=').unwrap();
        (name.to_owned(), ArgumentUse::parse(kind).unwrap())
    };
    Declaration {
        shell: None,
        sql: Some(SqlDialect::Postgresql),
        arguments: arguments.split_whitespace().map(argument).collect(),
        effect: None,
    }
}

/// Formats a path with its use: `r` if it is read, `w` if it is written, `in` for the directory of a command.
pub(crate) fn show_path(path: &CallPath) -> String {
    let used = match (path.read, path.written) {
        (true, true) => "rw",
        (true, false) => "r",
        (false, true) => "w",
        (false, false) => "in",
    };
    format!("{used} {}", path.path.as_ref().map_or("?", |path| path.canonical.as_str()))
}

fn describe(declaration: &Declaration, arguments: &Value) -> String {
    let facts = CallFacts::of_declared("tool", arguments, Some(declaration));
    let mut said: Vec<String> = facts.paths.iter().map(show_path).collect();
    said.extend(facts.url.iter().map(|url| url.as_ref().map_or("url ?".to_owned(), |url| format!("url {}", url.host))));
    said.extend(facts.sql.iter().map(|sql| {
        let tables = sql.as_ref().ok().filter(|sql| sql.doubt.is_none()).map(|sql| sql.read_tables.join(","));
        format!("sql {}", tables.unwrap_or("?".to_owned()))
    }));
    said.extend(facts.shell.iter().map(|shell| match shell {
        Ok(shell) if shell.doubt.is_none() => format!("shell {}", shell.commands.len()),
        _ => "shell ?".to_owned(),
    }));
    said.extend(facts.first_unexamined(|_| true, |_| false).map(|(name, _)| format!("unknown {name}")));
    said.join("; ")
}

#[test]
fn declared_arguments_are_read_by_their_use() {
    for (declaration, arguments, expected) in [
        ("x=read_path", json!({"x": "a"}), "r a"),
        ("x=write_path", json!({"x": "a"}), "w a"),
        ("x=path", json!({"x": "a"}), "rw a"),
        ("x=path", json!({"x": ["a", "b"]}), "rw a; rw b"),
        ("x=path", json!({"x": {"y": "a"}}), "rw ?"),
        ("x=path", json!({"x": null}), ""),
        ("x=path", json!({}), ""),
        ("x=path", json!(null), ""),
        ("x=path", json!({"x": "a b:/c,d"}), "rw a b:/c,d"),
        ("x.y=path", json!({"x": {"y": "a"}}), "rw a"),
        ("x.y=path", json!({"x": {"y": "a", "z": "b"}}), "rw a; unknown x"),
        ("x[].y=path", json!({"x": [{"y": "a"}, {"y": "/b"}]}), "rw a; rw /b"),
        ("x[]=path", json!({"x": ["a"]}), "rw a"),
        ("x[][]=read_path", json!({"x": [["a"], ["b"]]}), "r a; r b"),
        ("x[].y=path x[].z=text", json!({"x": [{"y": "a", "z": "/etc/passwd"}]}), "rw a"),
        // A value of another shape is examined as if it were not declared.
        ("x[].path=read_path", json!({"x": {"path": "a"}}), "rw a; unknown x"),
        ("url=text", json!({"url": "https://a.com"}), ""),
        ("path=text", json!({"path": "/etc/passwd"}), ""),
        ("command=text", json!({"command": "rm -rf /"}), ""),
        ("text=text path=read_path", json!({"text": {"command": "x", "path": "/y"}, "path": "a"}), "r a"),
        ("x=url", json!({"x": "https://a.com/b"}), "url a.com"),
        ("x=url", json!({"x": "https://a.com/b", "method": "DELETE"}), "url a.com"),
        ("x=url y=url", json!({"x": "https://a.com/b", "y": "https://b.com"}), "url ?"),
        ("x=url", json!({"x": "https://a.com/b", "url": "https://b.com"}), "url ?"),
        ("x=url", json!({"x": 5}), "url ?"),
        ("x=sql", json!({"x": "select * from a -- b"}), "sql a"),
        ("x=sql", json!({"x": "do $$ begin end $$"}), "sql ?"),
        ("x=sql y=sql", json!({"x": "select 1", "y": "select 2"}), "sql ?"),
        ("x=sql", json!({"x": "select 1", "init_sql": "drop table a"}), "sql ?"),
        ("x=sql", json!({"x": ["select 1"]}), "sql ?"),
        ("x=cwd", json!({"x": "/srv"}), "in /srv"),
        ("x=cwd y=cwd", json!({"x": "/srv", "y": "/etc"}), "in ?; in ?"),
        ("x=cwd", json!({"x": ["/srv"]}), "in ?"),
        ("x=patch", json!({"x": "--- a/b\n+++ b/c\n"}), "w b; w c"),
        ("x=patch", json!({"x": "--- \"a/b\"\n+++ b/c\n"}), "rw ?"),
        ("x=patch", json!({"x": "nothing"}), "rw ?"),
        ("x=patch", json!({"x": 1}), "rw ?"),
        // Arguments that are not declared are found by their names, as before.
        ("x=text", json!({"x": "", "path": "/a"}), "rw /a"),
        ("x=text", json!({"x": "", "command": "ls"}), "shell 1"),
        ("x=read_path", json!({"x": "a", "path": "/b"}), "rw /b; r a"),
        ("x=read_path", json!({"x": "a", "formatter": "b"}), "r a; unknown formatter"),
        ("x=read_path", json!({"x": "a", "command": "ls"}), "r a; shell 1"),
        ("X=read_path", json!({"x": "a"}), ""),
        ("file_path=read_path", json!({"filePath": "/etc/b", "file_path": "a"}), "rw /etc/b; r a"),
        // Without a language, every shell has to read the command alike.
        ("x=shell", json!({"x": "git status"}), "shell 1"),
        ("x=shell", json!({"x": "echo $X"}), "shell ?"),
        ("x=shell", json!({"x": "git status", "command": "ls"}), "shell ?"),
        ("x=shell", json!({"x": "git status", "cwd": "/srv"}), "rw /srv; shell 1"),
    ] {
        assert_eq!(describe(&declare(declaration), &arguments), expected, "{declaration} {arguments}");
    }
}

#[test]
fn directory_of_a_command_is_a_fact() {
    let facts = CallFacts::of_declared("t", &json!({"d": "/srv/x"}), Some(&declare("d=cwd")));
    assert_eq!(facts.cwd.as_deref(), Some("/srv/x"));
    assert!(facts.declared);
    let undeclared = CallFacts::of("t", &json!({"cwd": "/srv/x"}));
    assert_eq!((undeclared.cwd, undeclared.declared), (None, false));
}

#[test]
fn names_have_their_meaning_and_errors_list_them() {
    for name in shell_names() {
        assert!(parse_shell(name).is_ok(), "{name}");
    }
    for name in ArgumentUse::names() {
        assert_eq!(ArgumentUse::parse(name).map(ArgumentUse::name), Ok(name));
    }
    for name in SqlDialect::names() {
        assert_eq!(SqlDialect::parse(name).map(SqlDialect::name), Ok(name));
    }
    for name in ToolEffect::names() {
        assert!(ToolEffect::parse(name).is_ok(), "{name}");
    }
    for (error, expected) in [
        (parse_shell("fish").unwrap_err(), "`fish` is not a shell language; use one of bash, sh, zsh, powershell"),
        (
            SqlDialect::parse("postgres").unwrap_err(),
            "`postgres` is not a dialect of SQL; use one of postgresql, mysql, sqlite, bigquery, tsql",
        ),
        (
            ArgumentUse::parse("Path").unwrap_err(),
            "`Path` is not a use of an argument; use one of shell, path, read_path, write_path, words, patch, url, sql, text, cwd",
        ),
        (
            ToolEffect::parse("").unwrap_err(),
            "`` is not an effect of a tool; use one of reads, writes, runs, fetches, none",
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn names_of_arguments_are_checked() {
    for good in ["path", "a.b", "edits[].path", "x[]", "x[][]", "-A", "file-path", "a b"] {
        assert_eq!(check_argument_name(good), Ok(()), "{good}");
    }
    for bad in ["", ".", "a.", ".a", "a..b", "[]", "a[0]", "a[].", "a]b", " a", "a[", "a.[]"] {
        assert!(check_argument_name(bad).is_err(), "{bad}");
    }
}

#[test]
fn declarations_whose_parts_do_not_fit_are_refused() {
    let with = |shell: Option<&str>, sql: Option<SqlDialect>, arguments: &str| Declaration {
        shell: shell.map(|name| parse_shell(name).unwrap()),
        sql,
        ..declare(arguments)
    };
    for good in [with(None, None, "a=text"), with(Some("sh"), None, "a=shell"), with(None, None, "a.b=path a.c=text")] {
        assert_eq!(good.check(), Ok(()), "{good:?}");
    }
    for bad in [
        with(Some("sh"), None, "a=text"),
        with(None, Some(SqlDialect::Mysql), "a=text"),
        with(None, None, "a=path a.b=text"),
        with(None, None, "a[].b=path a=text"),
        with(None, None, "a..b=path"),
    ] {
        assert!(bad.check().is_err(), "{bad:?}");
    }
}

#[test]
fn undeclared_calls_have_the_line_of_their_command() {
    let facts = CallFacts::of("t", &json!({"command": ["git", "log"], "x": 1}));
    assert!(facts.line.is_some() && facts.shell.is_some());
    assert!(CallFacts::of("t", &json!({"path": "a"})).line.is_none());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "[a-z/.~$ ;]{0,12}".prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("(a|b|path|command|url|sql)", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_call_of_any_declaration_is_read(
        arguments in any_value(),
        names in prop::collection::btree_map("(a|b|path|command|a\\.b|a\\[\\]|a\\[\\]\\.path)", 0..9_usize, 0..5),
    ) {
        let uses: Vec<ArgumentUse> = ArgumentUse::names().into_iter().map(|name| ArgumentUse::parse(name).unwrap()).collect();
        let arguments_of: BTreeMap<String, ArgumentUse> = names.into_iter().map(|(name, kind)| (name, uses[kind])).collect();
        let declaration = Declaration {
            shell: parse_shell("bash").ok(),
            sql: Some(SqlDialect::Sqlite),
            arguments: arguments_of,
            effect: None,
        };
        let facts = CallFacts::of_declared("t", &arguments, Some(&declaration));
        prop_assert_eq!(facts.line.is_some(), facts.shell.is_some());
    }

    #[test]
    fn empty_declaration_changes_no_fact(arguments in any_value()) {
        let mut declared = CallFacts::of_declared("t", &arguments, Some(&Declaration::default()));
        declared.declared = false;
        let guessed = CallFacts::of("t", &arguments);
        prop_assert_eq!(declared, guessed);
    }
}
