//! Tests how each argument of a call is read, and which arguments cannot be read.

use holdpoint_tool_facts::{CallFacts, CallPath};
use serde_json::{Value, json};

fn sorts(tool: &str, arguments: &Value) -> String {
    let parsed = CallFacts::of(tool, arguments);
    let mut sorts = Vec::new();
    let mut note = |name: &str, ok: bool| sorts.push(if ok { name.to_owned() } else { format!("{name}!") });
    if let Some(shell) = &parsed.shell {
        note("shell", shell.is_ok());
    }
    for CallPath { place, path, .. } in &parsed.paths {
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
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn name_of_an_argument_decides_how_it_is_parsed() {
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
        ("x", json!({"command": "git", "ARGS": ["status"], "args": ["push"]}), "shell!"),
        ("x", json!({"command": "git", "args": ["status"], "argv": ["push"]}), "shell!"),
        ("x", json!({"command": "git", "args": ["status"], "arguments": ["push"]}), "shell!"),
        ("x", json!({"command": "git", "args": ["status"], "options": {"args": ["push"]}}), "shell!"),
        ("x", json!({"command": ["git"], "args": ["push"]}), "shell!"),
        ("x", json!({"command": "ls", "cmd": "pwd"}), "shell!"),
        ("x", json!({"command": "ls", "COMMAND": "pwd"}), "shell!"),
        ("x", json!({"command": "ls", "ENV": {}, "env": {"LD_PRELOAD": "/x"}}), "shell!"),
        ("x", json!({"command": "ls", "env": {}, "environment": {}}), "shell!"),
        ("x", json!({"argv": ["git", "push"]}), "shell"),
        ("x", json!({"command": "git", "args": ["status"], "params": ["push"]}), "shell!"),
        ("x", json!({"command": "git", "params": {"a": 1}}), "shell"),
        ("x", json!({"command": "ls", "ignore_scripts": true}), "shell"),
        ("x", json!({"argv": ["git"], "args": ["push"]}), "shell!"),
        ("x", json!({"commands": ["ls", 5]}), "shell!"),
        ("x", json!({"commands": ["ls", ["rm", "x"]]}), "shell!"),
        ("x", json!({"commands": [["ls"], ["rm", "x"]]}), "shell!"),
        ("x", json!({"script": []}), "shell!"),
        ("x", json!({"script": ["ls"], "args": ["x"]}), "shell!"),
        ("x", json!({"shell_command": ["ls", "rm x"]}), "shell!"),
        ("x", json!({"command": {"text": "rm x"}}), "shell!"),
        ("x", json!({"command": {"command": "ls"}}), "shell!"),
        ("x", json!({"command": true}), "shell!"),
        ("x", json!({"pre_script": "rm x"}), "shell"),
        ("x", json!({"postCommand": "rm x"}), "shell"),
        ("x", json!({"command": "ls", "post-command": "rm x"}), "shell!"),
        ("x", json!({"setup_scripts": ["ls", "rm x"]}), "shell"),
        ("x", json!({"transcript": "rm x", "description": "rm y"}), ""),
        ("x", json!({"path": {"value": "/etc/shadow"}}), "path:path! path:path.value"),
        ("x", json!({"path": {"path": "/a"}}), "path:path! path:path.path"),
        ("x", json!({"paths": [["/etc/passwd"], "/a"]}), "path:paths[0]! path:paths[1]"),
        ("x", json!({"paths": [{"value": "/etc/passwd"}]}), "path:paths[0]! path:paths[0].value"),
        ("x", json!({"path": [null]}), "path:path[0]!"),
        ("x", json!({"filelist": ["/a", "/b"]}), "path:filelist[0] path:filelist[1]"),
        (
            "x",
            json!({"files": [{"path": "/a"}, {"value": "/b"}]}),
            "path:files[1]! path:files[0].path path:files[1].value",
        ),
        ("x", json!({"file": {"value": "/a"}}), "path:file! path:file.value"),
        ("x", json!({"to": [["/a"], {"b": 1}]}), "path:to[0][0]"),
        ("x", json!({"pathname": "/a"}), "path:pathname"),
        ("x", json!({"config_file": "/a", "is_file": true}), "path:config_file"),
        ("x", json!({"location": "/a"}), "path:location"),
        ("x", json!({"location": "https://a.b"}), "url"),
        ("x", json!({"file path": "/a", "file.path": "/b"}), "path:file path path:file.path"),
        ("x", json!({"path": "file:///etc/passwd"}), "path:path!"),
        ("x", json!({"url": {"href": "https://a.b"}}), "url!"),
        ("x", json!({"url": "https://a.b", "uri": "https://c.d"}), "url!"),
        ("x", json!({"url": "https://a.b", "METHOD": "GET", "method": "DELETE"}), "url!"),
        ("x", json!({"url": "https://a.b", "http_method": "GET", "method": "DELETE"}), "url!"),
        ("x", json!({"url": "https://a.b", "method": "GET", "options": {"method": "DELETE"}}), "url!"),
        ("x", json!({"url": "https://a.b", "method": null, "Method": "GET"}), "url!"),
        ("x", json!({"url": "https://a.b", "method": "POST", "headers": {"X-HTTP-Method-Override": "DELETE"}}), "url!"),
        ("x", json!({"sql": {"text": "drop table a"}}), "sql!"),
        ("x", json!({"sql": ["select 1", "drop table a"]}), "sql!"),
        ("x", json!({"query": {"text": "drop table a"}}), "sql!"),
        ("x", json!({"queries": ["select 1", "drop table a"]}), "sql!"),
        ("x", json!({"queries": ["weather in rome"]}), ""),
        ("x", json!({"sources": ["/etc/shadow"], "destination": "/a"}), "path:destination path:sources[0]"),
        (
            "x",
            json!({"targets": "/a", "srcs": ["/b"], "destinations": ["/c"]}),
            "path:destinations[0] path:srcs[0] path:targets",
        ),
        (
            "x",
            json!({"copy_to": "a", "moveFrom": "b", "path2": "c", "source_file_1": "d"}),
            "path:copy_to path:moveFrom path:path2 path:source_file_1",
        ),
        ("x", json!({"path": "/a", "victim": "/etc/shadow"}), "path:path path:victim"),
        ("x", json!({"path": "/a", "more": {"victims": ["b", "../c"]}}), "path:path path:more.victims[1]"),
        ("x", json!({"path": "/a", "victim": "~/x"}), "path:path path:victim!"),
        ("x", json!({"path": "/a", "victim": "FILE:///etc/shadow"}), "path:path path:victim!"),
        ("x", json!({"path": "/a", "victim": "a/../../b"}), "path:path path:victim"),
        ("x", json!({"path": "/a", "content": "/etc/shadow", "old_string": "../x", "message": "/x"}), "path:path"),
        ("x", json!({"path": "/a", "branch": "feature/x", "type": "text/plain", "day": "1/2"}), "path:path"),
        ("x", json!({"command": "ls", "cwd": "/a", "args": ["/b"]}), "shell path:cwd"),
        ("x", json!({"victim": "/etc/shadow"}), ""),
        ("x", json!({"edits": {"/etc/passwd": "x"}}), "path:edits./etc/passwd"),
        ("x", json!({"path": "/a", "edits": {"b/c": "x", "d": "y"}}), "path:path path:edits.b/c"),
        ("x", json!({"edits": {"b/c": "x"}}), ""),
        ("x", json!({"sources": "/a,/b"}), "path:sources!"),
        ("x", json!({"sources": "/a b"}), "path:sources!"),
        ("x", json!({"sources": ["/a b"]}), "path:sources[0]"),
        ("x", json!({"source": "/a b"}), "path:source"),
        ("x", json!({"source": "/a /b"}), "path:source!"),
        ("x", json!({"source": "https://a.b/c"}), "path:source"),
        ("x", json!({"path": "C:\\a"}), "path:path"),
        ("x", json!({"path": "/a", "edits": "{\"path\": \"b\"}"}), "path:path path:edits!"),
        ("x", json!({"path": "/a", "level": "{\"b\": 1}"}), "path:path"),
        ("x", json!({"sql": "select 1", "init_sql": "select 2"}), "sql!"),
        ("x", json!({"path": "/work/..%2fetc"}), "path:path!"),
        ("x", json!({"path": "/work/%2e%2e/etc"}), "path:path!"),
        ("x", json!({"path": "/work/100%"}), "path:path"),
        ("x", json!({"url": "https://a.b", "headers": ["X-HTTP-Method-Override: DELETE"]}), "url!"),
        ("x", json!({"url": "https://a.b", "headers": "X-Http-Method: DELETE"}), "url!"),
        ("x", json!({"url": "https://a.b", "headers": [["x-method-override", "DELETE"]]}), "url!"),
        ("x", json!({"url": "https://a.b", "headers": [{"name": "X-HTTP-Method-Override", "value": "PUT"}]}), "url!"),
        ("x", json!({"url": "https://a.b", "headers": ["Accept: text/plain"]}), "url"),
        ("x", json!({"url": "https://a.b", "options": [{"method": "GET"}, {"method": "PUT"}]}), "url!"),
        ("x", json!([]), ""),
        ("x", json!("ls"), ""),
    ] {
        assert_eq!(sorts(tool, &arguments), expected, "{tool} {arguments}");
    }
}

#[test]
fn failed_argument_is_reported() {
    for arguments in [
        json!({"command": "ls '"}),
        json!({"command": "$X"}),
        json!({"command": "ls", "path": "~/x"}),
        json!({"url": "x"}),
        json!({"sql": ""}),
        json!({"command": "ls", "env": {"PATH": "/x"}}),
        json!({"command": "ls", "env": "PATH=/x"}),
        json!({"path": ["/a", 5]}),
        json!({"command": "ls", "env_vars": {"LD_PRELOAD": "/x"}}),
        json!({"command": "ls", "envs": {"LD_PRELOAD": "/x"}}),
        json!({"command": "ls", "environment_variables": {"LD_PRELOAD": "/x"}}),
        json!({"command": "ls", "options": {"env": {"LD_PRELOAD": "/x"}}}),
        json!({"env": {"LD_PRELOAD": "/x"}, "run": {"command": "ls"}}),
        json!({"command": "ls", "env_vars": ["LD_PRELOAD=/x"]}),
    ] {
        assert!(CallFacts::of("x", &arguments).first_failure().is_some(), "{arguments}");
    }
    for arguments in
        [json!({"command": "ls"}), json!({"path": "/a"}), json!({}), json!({"command": "ls", "env": {"LANG": "C"}})]
    {
        assert_eq!(CallFacts::of("x", &arguments).first_failure(), None, "{arguments}");
    }
}

#[test]
fn args_and_env_arguments_belong_to_the_command() {
    let parsed = CallFacts::of("x", &json!({"command": "git", "args": ["-C", "x", "push"], "env": {"A": "1"}}));
    let shell = parsed.shell.unwrap().unwrap();
    assert_eq!(shell.commands[0].subcommand, "push");
    assert_eq!(shell.commands[0].assignments[0].name, "A");
    assert!(!shell.plain);
}

#[test]
fn list_of_commands_is_not_a_single_command() {
    for (arguments, expected) in [
        (json!({"commands": ["ls", "rm -rf /"]}), vec!["ls", "rm"]),
        (json!({"script": ["cd a", "git push"]}), vec!["cd", "git"]),
        (json!({"command": ["ls", "rm"]}), vec!["ls"]),
        (json!({"script": ["git status"]}), vec!["git"]),
    ] {
        let shell = CallFacts::of("x", &arguments).shell.unwrap().unwrap();
        assert_eq!(shell.commands.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), expected, "{arguments}");
        assert_eq!(shell.plain, expected.len() == 1, "{arguments}");
    }
}

#[test]
fn method_of_a_url_comes_from_the_arguments() {
    for (arguments, expected) in [
        (json!({"url": "https://a.b"}), "GET"),
        (json!({"url": "https://a.b", "method": "delete"}), "DELETE"),
        (json!({"url": "https://a.b", "body": "x"}), "POST"),
        (json!({"url": "https://a.b", "body": null}), "GET"),
        (json!({"url": "https://a.b", "options": {"method": "DELETE"}}), "DELETE"),
        (json!({"url": "https://a.b", "init": {"method": "DELETE"}}), "DELETE"),
        (json!({"url": "https://a.b", "request": {"method": "DELETE"}}), "DELETE"),
        (json!({"url": "https://a.b", "request": {"options": {"Method": "DELETE"}}}), "DELETE"),
        (json!({"request": {"url": "https://a.b"}, "method": "DELETE"}), "DELETE"),
        (json!({"url": "https://a.b", "verb": "DELETE"}), "DELETE"),
        (json!({"url": "https://a.b", "options": [{"method": "POST"}]}), "POST"),
        (json!({"url": "https://a.b", "options": [{"body": "x"}]}), "POST"),
        (json!({"url": "https://a.b", "type": "delete"}), "DELETE"),
        (json!({"url": "https://a.b", "type": "json"}), "GET"),
        (json!({"url": "https://a.b", "headers": {"X-HTTP-Method-Override": "DELETE"}}), "DELETE"),
        (json!({"url": "https://a.b", "post_data": "x"}), "POST"),
        (json!({"url": "https://a.b", "request_body": {}}), "POST"),
        (json!({"url": "https://a.b", "form": {"a": 1}}), "POST"),
        (json!({"url": "https://a.b", "payload": "x"}), "POST"),
        (json!({"url": "https://a.b", "options": {"body": "x"}}), "POST"),
        (json!({"url": "https://a.b", "files": ["/a"]}), "POST"),
        (json!({"url": "https://a.b", "body": {"method": "x"}, "method": "POST"}), "POST"),
        (json!({"location": "https://a.b", "method": "put"}), "PUT"),
        (json!({"url": "https://a.b", "operation": "post"}), "POST"),
        (json!({"url": "https://a.b", "title": "Delete"}), "GET"),
        (json!({"url": "https://a.b", "body_json": {}}), "POST"),
        (json!({"url": "https://a.b", "bodyParams": {}}), "POST"),
        (json!({"url": "https://a.b", "format": "json"}), "GET"),
    ] {
        assert_eq!(CallFacts::of("x", &arguments).url.unwrap().unwrap().method, expected, "{arguments}");
    }
}

#[test]
fn command_with_unknown_arguments_is_plain_except_for_them() {
    for (arguments, plain, beside) in [
        (json!({"command": "ls", "timeout": 5, "description": "x", "run_in_background": true}), true, false),
        (json!({"command": "ls", "container": null}), true, false),
        (json!({"command": "ls", "container": "x"}), false, true),
        (json!({"command": "ls", "container": "x", "cwd": "/y"}), false, false),
        (json!({"command": "ls > x", "container": "x"}), false, false),
        (json!({"command": "ls", "options": {"uid": 0}}), false, true),
        (json!({"outer": {"command": "ls"}, "uid": 0}), false, true),
        (json!([{"command": "ls"}, {"uid": 0}]), false, true),
        (json!([{"command": "ls"}]), true, false),
    ] {
        let shell = CallFacts::of("x", &arguments).shell.unwrap().unwrap();
        assert_eq!((shell.plain, shell.plain_beside), (plain, beside), "{arguments}");
        assert_eq!(shell.cwd_changed, !plain, "{arguments}");
    }
}

#[test]
fn too_deep_or_too_many_arguments_are_refused() {
    let deep = (0..20).fold(json!({"command": "ls"}), |inner, _| json!({ "a": inner }));
    assert!(CallFacts::of("x", &deep).first_failure().is_some());
    let many: Vec<Value> = (0..300).map(|at| json!({"path": format!("/{at}")})).collect();
    assert!(CallFacts::of("x", &json!({ "a": many })).first_failure().is_some());
}

#[test]
fn command_in_another_directory_is_plain_except_for_it() {
    for (arguments, plain, elsewhere) in [
        (json!({"command": "ls"}), true, false),
        (json!({"command": "ls", "timeout": 5}), true, false),
        (json!({"command": "ls", "cwd": null}), true, false),
        (json!({"command": "ls", "cwd": "."}), true, false),
        (json!({"command": "ls", "cwd": "/x"}), false, true),
        (json!({"command": ["ls"], "workdir": "x"}), false, true),
        (json!({"command": "ls", "options": {"working_directory": "/x"}}), false, true),
        (json!({"command": "ls", "repository": "x", "directory": "/x"}), false, false),
        (json!({"command": "ls > x", "cwd": "/x"}), false, false),
        (json!({"command": "git -C y status", "cwd": "/x"}), false, false),
        (json!({"command": "ls", "cwd": 3}), false, true),
    ] {
        let parsed = CallFacts::of("x", &arguments);
        let shell = parsed.shell.unwrap().unwrap();
        assert_eq!((shell.plain, shell.plain_elsewhere), (plain, elsewhere), "{arguments}");
    }
}
