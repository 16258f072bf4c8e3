//! Reading and listing files, and refusals.

use domain::agent::WORKSPACE_TOOLS;
use serde_json::json;

use crate::tools::test_workspace::TestWorkspace;

#[tokio::test]
async fn file_is_read_whole_or_by_line_range() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("src/a.txt", "one\ntwo\nthree\n");
    assert_eq!(
        test_workspace.done("read_file", json!({"path": "src/a.txt"})).await,
        json!({"path": "src/a.txt", "content": "one\ntwo\nthree\n", "bytes": 14, "lines": 3, "cut": false}),
    );
    assert_eq!(
        test_workspace.done("read_file", json!({"path": "./src/../src/a.txt", "from_line": 2, "lines": 1})).await["content"],
        json!("two\n"),
    );
    assert_eq!(
        test_workspace.refused("read_file", json!({"path": "src/a.txt", "from_line": 4})).await,
        "`src/a.txt` has 3 lines"
    );
    assert_eq!(
        test_workspace.refused("read_file", json!({"path": "src/a.txt", "from_line": 0})).await,
        "from_line and lines count from 1"
    );
}

#[tokio::test]
async fn an_empty_file_is_read() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("empty", "");
    assert_eq!(
        test_workspace.done("read_file", json!({"path": "empty"})).await,
        json!({"path": "empty", "content": "", "bytes": 0, "lines": 0, "cut": false}),
    );
}

#[tokio::test]
async fn path_that_is_not_a_text_file_is_refused() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("nul", b"a\0b");
    test_workspace.put("latin", b"caf\xe9");
    test_workspace.put("dir/x", "x");
    make_pipe(&test_workspace.path("pipe"));
    for (path, message) in [
        ("nul", "`nul` is binary, or not UTF-8 (3 bytes)"),
        ("latin", "`latin` is binary, or not UTF-8 (4 bytes)"),
        ("dir", "`dir`: it is a directory"),
        ("pipe", "`pipe`: it is not a regular file"),
        ("none", "`none`: there is no such file or directory"),
        ("nul/x", "`nul`: it or one of its parents is not a directory"),
        (".", "that is the workspace itself"),
    ] {
        assert_eq!(test_workspace.refused("read_file", json!({"path": path})).await, message);
    }
}

fn make_pipe(path: &std::path::Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("large", vec![b'x'; (8 << 20) + 1]);
    assert_eq!(
        test_workspace.refused("read_file", json!({"path": "large"})).await,
        "`large` is larger than 8 MiB; look into it with search_files"
    );
}

#[tokio::test]
async fn directory_listing_is_sorted_and_limited_by_depth() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("b/c/deep.txt", "deep");
    test_workspace.put("a.txt", "a");
    test_workspace.link("/etc", "z");
    assert_eq!(
        test_workspace.done("list_files", json!({})).await,
        json!({"path": ".", "cut": false, "entries": [
            {"path": "a.txt", "kind": "file", "bytes": 1},
            {"path": "b", "kind": "directory"},
            {"path": "z", "kind": "link"},
        ]}),
    );
    assert_eq!(
        test_workspace.done("list_files", json!({"path": "b", "depth": 2})).await["entries"],
        json!([{"path": "c", "kind": "directory"}, {"path": "c/deep.txt", "kind": "file", "bytes": 4}]),
    );
    assert_eq!(
        test_workspace.refused("list_files", json!({"path": "a.txt"})).await,
        "`a.txt`: it or one of its parents is not a directory"
    );
    assert_eq!(test_workspace.refused("list_files", json!({"depth": 17})).await, "depth is from 1 to 16");
}

#[tokio::test]
async fn unknown_or_invalid_arguments_are_refused() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a.txt", "a");
    for tool in WORKSPACE_TOOLS {
        let message = test_workspace.refused(tool, json!({"surprise": 1})).await;
        assert!(message.starts_with("the arguments do not fit: unknown field `surprise`"), "{tool}: {message}");
        assert_eq!(test_workspace.refused(tool, json!([])).await, "the arguments are not an object");
    }
    let message = test_workspace.refused("read_file", json!({"path": ["a.txt"]})).await;
    assert!(message.starts_with("the arguments do not fit"), "{message}");
    assert_eq!(test_workspace.names("."), ["a.txt"]);
}

#[test]
fn tools_declare_whether_they_are_repeatable_and_parallel() {
    let test_workspace = TestWorkspace::new();
    let all = WORKSPACE_TOOLS.map(|name| {
        let spec = test_workspace.tool(name).spec();
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
fn unknown_tool_names_are_ignored() {
    let test_workspace = TestWorkspace::new();
    let workspace = holdpoint_agent::tools::Workspace::open(test_workspace.path(".")).unwrap();
    let names: Vec<_> = workspace
        .tools(&["ask_user", "delete_file", "READ_FILE"])
        .iter()
        .map(|tool| tool.spec().name.clone())
        .collect();
    assert_eq!(names, ["delete_file"]);
    assert!(holdpoint_agent::tools::Workspace::open(test_workspace.path("missing")).is_err());
}
