//! Reading and listing files, and refusals.

use holdpoint_agent::tools::WORKSPACE_TOOLS;
use serde_json::json;

use crate::tools::ground::Ground;

#[tokio::test]
async fn a_file_is_read_whole_or_by_its_lines() {
    let ground = Ground::new();
    ground.put("src/a.txt", "one\ntwo\nthree\n");
    assert_eq!(
        ground.done("read_file", json!({"path": "src/a.txt"})).await,
        json!({"path": "src/a.txt", "content": "one\ntwo\nthree\n", "bytes": 14, "lines": 3, "cut": false}),
    );
    assert_eq!(
        ground.done("read_file", json!({"path": "./src/../src/a.txt", "from_line": 2, "lines": 1})).await["content"],
        json!("two\n"),
    );
    assert_eq!(
        ground.refused("read_file", json!({"path": "src/a.txt", "from_line": 4})).await,
        "`src/a.txt` has 3 lines"
    );
    assert_eq!(
        ground.refused("read_file", json!({"path": "src/a.txt", "from_line": 0})).await,
        "from_line and lines count from 1"
    );
}

#[tokio::test]
async fn an_empty_file_is_read() {
    let ground = Ground::new();
    ground.put("empty", "");
    assert_eq!(
        ground.done("read_file", json!({"path": "empty"})).await,
        json!({"path": "empty", "content": "", "bytes": 0, "lines": 0, "cut": false}),
    );
}

#[tokio::test]
async fn what_is_no_text_is_refused() {
    let ground = Ground::new();
    ground.put("nul", b"a\0b");
    ground.put("latin", b"caf\xe9");
    ground.put("dir/x", "x");
    make_pipe(&ground.path("pipe"));
    for (path, message) in [
        ("nul", "`nul` is binary, or not UTF-8 (3 bytes)"),
        ("latin", "`latin` is binary, or not UTF-8 (4 bytes)"),
        ("dir", "`dir`: it is a directory"),
        ("pipe", "`pipe`: it is not a regular file"),
        ("none", "`none`: there is no such file or directory"),
        ("nul/x", "`nul`: it or one of its parents is not a directory"),
        (".", "that is the workspace itself"),
    ] {
        assert_eq!(ground.refused("read_file", json!({"path": path})).await, message);
    }
}

fn make_pipe(path: &std::path::Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read() {
    let ground = Ground::new();
    ground.put("large", vec![b'x'; (8 << 20) + 1]);
    assert_eq!(
        ground.refused("read_file", json!({"path": "large"})).await,
        "`large` is larger than 8 MiB; look into it with search_files"
    );
}

#[tokio::test]
async fn directories_are_listed_in_order_and_to_a_depth() {
    let ground = Ground::new();
    ground.put("b/c/deep.txt", "deep");
    ground.put("a.txt", "a");
    ground.link("/etc", "z");
    assert_eq!(
        ground.done("list_files", json!({})).await,
        json!({"path": ".", "cut": false, "entries": [
            {"path": "a.txt", "kind": "file", "bytes": 1},
            {"path": "b", "kind": "directory"},
            {"path": "z", "kind": "link"},
        ]}),
    );
    assert_eq!(
        ground.done("list_files", json!({"path": "b", "depth": 2})).await["entries"],
        json!([{"path": "c", "kind": "directory"}, {"path": "c/deep.txt", "kind": "file", "bytes": 4}]),
    );
    assert_eq!(
        ground.refused("list_files", json!({"path": "a.txt"})).await,
        "`a.txt`: it or one of its parents is not a directory"
    );
    assert_eq!(ground.refused("list_files", json!({"depth": 17})).await, "depth is from 1 to 16");
}

#[tokio::test]
async fn arguments_that_were_not_judged_are_not_taken() {
    let ground = Ground::new();
    ground.put("a.txt", "a");
    for tool in WORKSPACE_TOOLS {
        let message = ground.refused(tool, json!({"surprise": 1})).await;
        assert!(message.starts_with("the arguments do not fit: unknown field `surprise`"), "{tool}: {message}");
        assert_eq!(ground.refused(tool, json!([])).await, "the arguments are not an object");
    }
    let message = ground.refused("read_file", json!({"path": ["a.txt"]})).await;
    assert!(message.starts_with("the arguments do not fit"), "{message}");
    assert_eq!(ground.names("."), ["a.txt"]);
}

#[test]
fn tools_say_what_they_are() {
    let ground = Ground::new();
    let all = WORKSPACE_TOOLS.map(|name| {
        let spec = ground.tool(name).spec();
        assert_eq!(spec.schema["additionalProperties"], json!(false));
        (name, spec.repeatable, spec.parallel)
    });
    assert_eq!(
        all,
        [
            ("read_file", true, true),
            ("list_files", true, true),
            ("search_files", true, true),
            ("write_file", true, false),
            ("create_directory", true, false),
            ("move_file", false, false),
            ("delete_file", false, false),
            ("execute_command", false, false),
        ]
    );
}

#[test]
fn names_that_are_no_tools_give_none() {
    let ground = Ground::new();
    let workspace = holdpoint_agent::tools::Workspace::open(ground.path(".")).unwrap();
    let names: Vec<_> = workspace
        .tools(&["ask_user", "delete_file", "READ_FILE"])
        .iter()
        .map(|tool| tool.spec().name.clone())
        .collect();
    assert_eq!(names, ["delete_file"]);
    assert!(holdpoint_agent::tools::Workspace::open(ground.path("missing")).is_err());
}
