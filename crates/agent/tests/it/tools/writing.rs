//! Writing, creating, moving and deleting files.

use std::os::unix::fs::PermissionsExt;

use holdpoint_agent::tool::{ToolOutcome, ToolRun};
use serde_json::json;

use crate::tools::test_workspace::TestWorkspace;

#[tokio::test]
async fn file_is_created_and_then_overwritten() {
    let test_workspace = TestWorkspace::new();
    let arguments = json!({"path": "a.txt", "content": "grüße"});
    assert_eq!(
        test_workspace.done("write_file", arguments.clone()).await,
        json!({"path": "a.txt", "bytes": 7, "created": true})
    );
    assert_eq!(
        test_workspace.done("write_file", arguments).await,
        json!({"path": "a.txt", "bytes": 7, "created": false})
    );
    assert_eq!(test_workspace.text("a.txt").as_deref(), Some("grüße"));
    assert_eq!(test_workspace.names("."), ["a.txt"]);
}

#[tokio::test]
async fn replaced_content_is_shown_if_it_is_short_text_in_the_workspace() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a.txt", "old");
    test_workspace.put("empty", "");
    test_workspace.put("image", [0xff, 0xfe]);
    test_workspace.put("zero", "a\0b");
    test_workspace.put("long", "x".repeat(64 * 1024 + 1));
    test_workspace.link(test_workspace.outside().join("private.txt"), "link");
    let told = [("a.txt", Some("old")), ("./a.txt", Some("old")), ("empty", Some(""))];
    let untold = ["none", "image", "zero", "long", "link", "../outside/private.txt", "."].map(|path| (path, None));
    for (path, expected) in told.into_iter().chain(untold) {
        let arguments = json!({"path": path, "content": "new"});
        let replaced = test_workspace.tool("write_file").replaces(&arguments).await;
        assert_eq!(replaced.and_then(|replaced| replaced.text).as_deref(), expected, "{path}");
    }
    assert_eq!(test_workspace.tool("delete_file").replaces(&json!({"path": "a.txt"})).await, None);
}

/// A content that differs in one byte is not replaced; a file that is too large to hash is recognised by its
/// modification time.
#[tokio::test]
async fn file_that_changed_since_the_review_is_not_replaced() {
    let large = vec![b'x'; (8 << 20) + 1];
    let befores: [Option<&[u8]>; 5] = [None, Some(b""), Some(b"old"), Some(&[0xff, 0]), Some(&large)];
    for before in befores {
        let test_workspace = TestWorkspace::new();
        before.iter().for_each(|bytes| test_workspace.put("dir/a", bytes));
        let arguments = json!({"path": "dir/a", "content": "new"});
        let seen = || async { test_workspace.tool("write_file").replaces(&arguments).await.unwrap().content_hash };
        let run = ToolRun { expected_content: Some(seen().await), ..ToolRun::default() };
        let length = before.map(<[u8]>::len);
        test_workspace.put("dir/a", "other");
        let ran = test_workspace.tool("write_file").run(&arguments, &run).await;
        assert!(
            matches!(&ran, ToolOutcome::Failed { message, .. } if message.contains("has changed")),
            "{length:?}: {ran:?}"
        );
        assert_eq!(
            (test_workspace.text("dir/a").as_deref(), test_workspace.names("dir")),
            (Some("other"), vec!["a".to_owned()])
        );
        let run = ToolRun { expected_content: Some(seen().await), ..ToolRun::default() };
        for _ in 0..2 {
            let ran = test_workspace.tool("write_file").run(&arguments, &run).await;
            assert!(matches!(ran, ToolOutcome::Done(_)), "twice is the same as once: {ran:?}");
        }
        assert_eq!(test_workspace.text("dir/a").as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn overwritten_file_keeps_its_permissions() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("run.sh", "old");
    std::fs::set_permissions(test_workspace.path("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    test_workspace.done("write_file", json!({"path": "run.sh", "content": "new"})).await;
    let mode = std::fs::metadata(test_workspace.path("run.sh")).unwrap().permissions().mode();
    assert_eq!((test_workspace.text("run.sh").as_deref(), mode & 0o777), (Some("new"), 0o750));
}

#[tokio::test]
async fn failed_write_leaves_no_file_behind() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("dir/x", "x");
    for (path, message) in [
        ("none/a", "`none`: there is no such file or directory"),
        ("dir", "`dir` exists and is not a regular file"),
        ("dir/x/y", "`dir/x`: it or one of its parents is not a directory"),
        (".", "that is the workspace itself"),
    ] {
        assert_eq!(test_workspace.refused("write_file", json!({"path": path, "content": "c"})).await, message);
    }
    let large = "x".repeat((4 << 20) + 1);
    assert_eq!(
        test_workspace.refused("write_file", json!({"path": "large", "content": large})).await,
        "the content is larger than 4 MiB"
    );
    let long = format!("{}.txt", "n".repeat(300));
    test_workspace.refused("write_file", json!({"path": long, "content": "c"})).await;
    assert_eq!(test_workspace.names("."), ["dir"]);
    assert_eq!(test_workspace.names("dir"), ["x"]);
}

#[tokio::test]
async fn cancelled_tools_change_nothing() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("old", "old");
    let run = ToolRun::default();
    run.cancel.cancel();
    for (tool, arguments) in [
        ("write_file", json!({"path": "old", "content": "new"})),
        ("create_directory", json!({"path": "dir"})),
        ("move_file", json!({"source": "old", "destination": "new"})),
        ("delete_file", json!({"path": "old"})),
        ("execute_command", json!({"command": "rm old"})),
    ] {
        let ran = test_workspace.tool(tool).run(&arguments, &run).await;
        assert!(
            matches!(&ran, ToolOutcome::Failed { message, .. } if message.contains("cancelled")),
            "{tool}: {ran:?}"
        );
    }
    assert_eq!(test_workspace.names("."), ["old"]);
    assert_eq!(test_workspace.text("old").as_deref(), Some("old"));
}

#[tokio::test]
async fn creating_an_existing_directory_succeeds() {
    let test_workspace = TestWorkspace::new();
    let arguments = json!({"path": "a/b/c"});
    assert_eq!(
        test_workspace.done("create_directory", arguments.clone()).await,
        json!({"path": "a/b/c", "created": true})
    );
    assert_eq!(test_workspace.done("create_directory", arguments).await, json!({"path": "a/b/c", "created": false}));
    test_workspace.put("file", "");
    assert_eq!(
        test_workspace.refused("create_directory", json!({"path": "file/x"})).await,
        "`file`: it or one of its parents is not a directory"
    );
    assert_eq!(test_workspace.refused("create_directory", json!({"path": "."})).await, "that is the workspace itself");
}

#[tokio::test]
async fn move_replaces_a_file_only_on_request() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("a", "a");
    test_workspace.put("b", "b");
    test_workspace.put("dir/c", "c");
    let there = json!({"source": "a", "destination": "b"});
    assert_eq!(test_workspace.refused("move_file", there).await, "`b`: it already exists");
    assert_eq!(
        test_workspace.done("move_file", json!({"source": "a", "destination": "b", "replace": true})).await,
        json!({"source": "a", "destination": "b"})
    );
    assert_eq!(test_workspace.text("b").as_deref(), Some("a"));
    test_workspace.done("move_file", json!({"source": "dir", "destination": "moved"})).await;
    assert_eq!(test_workspace.text("moved/c").as_deref(), Some("c"));
    for (source, destination) in [("none", "x"), (".", "x"), ("b", "."), ("moved", "moved/inner"), ("b", "none/b")] {
        test_workspace
            .refused("move_file", json!({"source": source, "destination": destination, "replace": true}))
            .await;
    }
    assert_eq!(test_workspace.names("."), ["b", "moved"]);
}

#[tokio::test]
async fn non_empty_directory_is_deleted_only_with_recursive() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("dir/a/b", "b");
    test_workspace.put("dir/c", "c");
    test_workspace.link(test_workspace.outside(), "dir/link");
    assert_eq!(
        test_workspace.refused("delete_file", json!({"path": "dir"})).await,
        "`dir`: `dir`: the directory is not empty"
    );
    assert_eq!(
        test_workspace.done("delete_file", json!({"path": "dir", "recursive": true})).await,
        json!({"path": "dir", "deleted": 5})
    );
    assert!(test_workspace.outside().join("private.txt").exists());
    test_workspace.put("one", "");
    assert_eq!(test_workspace.done("delete_file", json!({"path": "one"})).await, json!({"path": "one", "deleted": 1}));
    test_workspace.refused("delete_file", json!({"path": "one"})).await;
    for root in [".", "./", "x/.."] {
        assert_eq!(
            test_workspace.refused("delete_file", json!({"path": root, "recursive": true})).await,
            "that is the workspace itself"
        );
    }
    assert!(test_workspace.path(".").is_dir());
}
