//! Which argument is read as what, and what cannot be read.

use holdpoint_policy::Parsed;
use serde_json::{Value, json};

fn sorts(tool: &str, arguments: &Value) -> String {
    let parsed = Parsed::of(tool, arguments);
    let mut sorts = Vec::new();
    let mut note = |name: &str, ok: bool| sorts.push(if ok { name.to_owned() } else { format!("{name}!") });
    if let Some(shell) = &parsed.shell {
        note("shell", shell.is_ok());
    }
    for (place, path) in &parsed.paths {
        note(&format!("path:{place}"), path.is_ok());
    }
    if let Some(url) = &parsed.url {
        note("url", url.is_ok());
    }
    if let Some(sql) = &parsed.sql {
        note("sql", sql.is_ok());
    }
    sorts.join(" ")
}

#[test]
fn arguments_are_read_by_their_names() {
    for (tool, arguments, expected) in [
        ("x", json!({"command": "ls"}), "shell"),
        ("x", json!({"cmd": "ls", "cwd": "/a"}), "shell path:cwd"),
        ("x", json!({"script": "ls\npwd"}), "shell"),
        ("x", json!({"command": ["git", "push"]}), "shell"),
        ("x", json!({"command": "git", "args": ["push"]}), "shell"),
        ("x", json!({"command": "git status", "args": ["push"]}), "shell!"),
        ("x", json!({"command": "ls", "script": "pwd"}), "shell!"),
        ("x", json!({"command": 5}), "shell!"),
        ("x", json!({"command": null}), ""),
        ("x", json!({"command": "ls '"}), "shell!"),
        ("x", json!({"command": "ls", "args": "x"}), "shell!"),
        ("x", json!({"command": "ls", "args": [5]}), "shell!"),
        ("x", json!({"Command": "ls"}), "shell"),
        ("x", json!({"filePath": "/a"}), "path:filePath"),
        ("x", json!({"file-path": "/a"}), "path:file-path"),
        ("x", json!({"path": 5}), "path:path!"),
        ("x", json!({"path": "/a\0"}), "path:path!"),
        ("x", json!({"paths": ["/a", "~/b"]}), "path:paths[0] path:paths[1]!"),
        ("x", json!({"from": "/a", "to": "/b"}), "path:from path:to"),
        ("x", json!({"from": 5, "to": {"a": 1}}), ""),
        (
            "x",
            json!({"edits": [{"file_path": "/a"}, {"file_path": "/b"}]}),
            "path:edits[0].file_path path:edits[1].file_path",
        ),
        ("x", json!({"inner": {"command": "ls"}}), "shell"),
        ("x", json!({"commands": [{"command": "ls"}, {"command": "pwd"}]}), "shell!"),
        ("x", json!({"url": "https://a.b/c"}), "url"),
        ("x", json!({"url": "a b"}), "url!"),
        ("x", json!({"urls": ["https://a.b", "https://c.d"]}), "url!"),
        ("x", json!({"url": "https://a.b", "method": 5}), "url!"),
        ("x", json!({"sql": "select 1"}), "sql"),
        ("x", json!({"sql": "selec 1"}), "sql!"),
        ("search", json!({"query": "weather in rome"}), ""),
        ("search", json!({"query": "select 1"}), "sql"),
        ("run_sql", json!({"query": "weather in rome"}), "sql!"),
        ("db_query", json!({"query": "delete from a"}), "sql"),
        ("x", json!({"text": "git push"}), ""),
        ("x", json!([]), ""),
        ("x", json!("ls"), ""),
    ] {
        assert_eq!(sorts(tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn what_failed_is_told() {
    for arguments in [
        json!({"command": "ls '"}),
        json!({"command": "$X"}),
        json!({"command": "ls", "path": "~/x"}),
        json!({"url": "x"}),
        json!({"sql": ""}),
        json!({"command": "ls", "env": {"PATH": "/x"}}),
        json!({"command": "ls", "env": "PATH=/x"}),
        json!({"path": ["/a", 5]}),
    ] {
        assert!(Parsed::of("x", &arguments).failed().is_some(), "{arguments}");
    }
    for arguments in
        [json!({"command": "ls"}), json!({"path": "/a"}), json!({}), json!({"command": "ls", "env": {"A": "1"}})]
    {
        assert_eq!(Parsed::of("x", &arguments).failed(), None, "{arguments}");
    }
}

#[test]
fn variables_and_words_from_beside_count() {
    let parsed = Parsed::of("x", &json!({"command": "git", "args": ["-C", "x", "push"], "env": {"A": "1"}}));
    let shell = parsed.shell.unwrap().unwrap();
    assert_eq!(shell.commands[0].subcommand, "push");
    assert_eq!(shell.commands[0].assignments[0].name, "A");
    assert!(!shell.plain);
}

#[test]
fn the_method_comes_from_the_arguments() {
    for (arguments, expected) in [
        (json!({"url": "https://a.b"}), "GET"),
        (json!({"url": "https://a.b", "method": "delete"}), "DELETE"),
        (json!({"url": "https://a.b", "body": "x"}), "POST"),
        (json!({"url": "https://a.b", "body": null}), "GET"),
    ] {
        assert_eq!(Parsed::of("x", &arguments).url.unwrap().unwrap().method, expected, "{arguments}");
    }
}

#[test]
fn arguments_too_deep_or_too_many_are_refused() {
    let deep = (0..20).fold(json!({"command": "ls"}), |inner, _| json!({ "a": inner }));
    assert!(Parsed::of("x", &deep).failed().is_some());
    let many: Vec<Value> = (0..300).map(|at| json!({"path": format!("/{at}")})).collect();
    assert!(Parsed::of("x", &json!({ "a": many })).failed().is_some());
}
