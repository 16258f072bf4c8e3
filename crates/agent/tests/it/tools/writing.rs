//! Writing, creating, moving and deleting files.

use std::os::unix::fs::PermissionsExt;

use holdpoint_agent::tool::{ToolOutcome, ToolRun};
use serde_json::json;

use crate::tools::ground::Ground;

#[tokio::test]
async fn a_file_is_written_whole_and_again() {
    let ground = Ground::new();
    let arguments = json!({"path": "a.txt", "content": "grüße"});
    assert_eq!(
        ground.done("write_file", arguments.clone()).await,
        json!({"path": "a.txt", "bytes": 7, "created": true})
    );
    assert_eq!(ground.done("write_file", arguments).await, json!({"path": "a.txt", "bytes": 7, "created": false}));
    assert_eq!(ground.text("a.txt").as_deref(), Some("grüße"));
    assert_eq!(ground.names("."), ["a.txt"]);
}

#[tokio::test]
async fn what_a_file_would_lose_is_told_beforehand_where_it_is_short_text_of_the_workspace() {
    let ground = Ground::new();
    ground.put("a.txt", "old");
    ground.put("empty", "");
    ground.put("image", [0xff, 0xfe]);
    ground.put("zero", "a\0b");
    ground.put("long", "x".repeat(64 * 1024 + 1));
    ground.link(ground.outside().join("private.txt"), "link");
    let told = [("a.txt", Some("old")), ("./a.txt", Some("old")), ("empty", Some(""))];
    let untold = ["none", "image", "zero", "long", "link", "../outside/private.txt", "."].map(|path| (path, None));
    for (path, expected) in told.into_iter().chain(untold) {
        let arguments = json!({"path": path, "content": "new"});
        let replaced = ground.tool("write_file").replaces(&arguments).await;
        assert_eq!(replaced.and_then(|replaced| replaced.text).as_deref(), expected, "{path}");
    }
    assert_eq!(ground.tool("delete_file").replaces(&json!({"path": "a.txt"})).await, None);
}

/// A content that differs in one byte is not replaced; a file that is too large to hash is recognised by its
/// modification time.
#[tokio::test]
async fn only_what_was_seen_is_replaced() {
    let large = vec![b'x'; (8 << 20) + 1];
    let befores: [Option<&[u8]>; 5] = [None, Some(b""), Some(b"old"), Some(&[0xff, 0]), Some(&large)];
    for before in befores {
        let ground = Ground::new();
        before.iter().for_each(|bytes| ground.put("dir/a", bytes));
        let arguments = json!({"path": "dir/a", "content": "new"});
        let seen = || async { ground.tool("write_file").replaces(&arguments).await.unwrap().content_hash };
        let run = ToolRun { expected_content: Some(seen().await), ..ToolRun::default() };
        let length = before.map(<[u8]>::len);
        ground.put("dir/a", "other");
        let ran = ground.tool("write_file").run(&arguments, &run).await;
        assert!(
            matches!(&ran, ToolOutcome::Failed { message, .. } if message.contains("has changed")),
            "{length:?}: {ran:?}"
        );
        assert_eq!((ground.text("dir/a").as_deref(), ground.names("dir")), (Some("other"), vec!["a".to_owned()]));
        let run = ToolRun { expected_content: Some(seen().await), ..ToolRun::default() };
        for _ in 0..2 {
            let ran = ground.tool("write_file").run(&arguments, &run).await;
            assert!(matches!(ran, ToolOutcome::Done(_)), "twice is the same as once: {ran:?}");
        }
        assert_eq!(ground.text("dir/a").as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn a_script_stays_executable() {
    let ground = Ground::new();
    ground.put("run.sh", "old");
    std::fs::set_permissions(ground.path("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    ground.done("write_file", json!({"path": "run.sh", "content": "new"})).await;
    let mode = std::fs::metadata(ground.path("run.sh")).unwrap().permissions().mode();
    assert_eq!((ground.text("run.sh").as_deref(), mode & 0o777), (Some("new"), 0o750));
}

#[tokio::test]
async fn what_cannot_be_written_leaves_nothing_behind() {
    let ground = Ground::new();
    ground.put("dir/x", "x");
    for (path, message) in [
        ("none/a", "`none`: there is no such file or directory"),
        ("dir", "`dir` is there, and is not a regular file"),
        ("dir/x/y", "`dir/x`: it or one of its parents is not a directory"),
        (".", "that is the workspace itself"),
    ] {
        assert_eq!(ground.refused("write_file", json!({"path": path, "content": "c"})).await, message);
    }
    let large = "x".repeat((4 << 20) + 1);
    assert_eq!(
        ground.refused("write_file", json!({"path": "large", "content": large})).await,
        "the content is larger than 4 MiB"
    );
    let long = format!("{}.txt", "n".repeat(300));
    ground.refused("write_file", json!({"path": long, "content": "c"})).await;
    assert_eq!(ground.names("."), ["dir"]);
    assert_eq!(ground.names("dir"), ["x"]);
}

#[tokio::test]
async fn what_was_cancelled_is_not_written() {
    let ground = Ground::new();
    ground.put("old", "old");
    let run = ToolRun::default();
    run.cancel.cancel();
    for (tool, arguments) in [
        ("write_file", json!({"path": "old", "content": "new"})),
        ("create_directory", json!({"path": "dir"})),
        ("move_file", json!({"source": "old", "destination": "new"})),
        ("delete_file", json!({"path": "old"})),
        ("execute_command", json!({"command": "rm old"})),
    ] {
        let ran = ground.tool(tool).run(&arguments, &run).await;
        assert!(
            matches!(&ran, ToolOutcome::Failed { message, .. } if message.contains("cancelled")),
            "{tool}: {ran:?}"
        );
    }
    assert_eq!(ground.names("."), ["old"]);
    assert_eq!(ground.text("old").as_deref(), Some("old"));
}

#[tokio::test]
async fn directories_are_made_once() {
    let ground = Ground::new();
    let arguments = json!({"path": "a/b/c"});
    assert_eq!(ground.done("create_directory", arguments.clone()).await, json!({"path": "a/b/c", "created": true}));
    assert_eq!(ground.done("create_directory", arguments).await, json!({"path": "a/b/c", "created": false}));
    ground.put("file", "");
    assert_eq!(
        ground.refused("create_directory", json!({"path": "file/x"})).await,
        "`file`: it or one of its parents is not a directory"
    );
    assert_eq!(ground.refused("create_directory", json!({"path": "."})).await, "that is the workspace itself");
}

#[tokio::test]
async fn nothing_is_replaced_unless_it_is_said() {
    let ground = Ground::new();
    ground.put("a", "a");
    ground.put("b", "b");
    ground.put("dir/c", "c");
    let there = json!({"source": "a", "destination": "b"});
    assert_eq!(ground.refused("move_file", there).await, "`b`: it already exists");
    assert_eq!(
        ground.done("move_file", json!({"source": "a", "destination": "b", "replace": true})).await,
        json!({"source": "a", "destination": "b"})
    );
    assert_eq!(ground.text("b").as_deref(), Some("a"));
    ground.done("move_file", json!({"source": "dir", "destination": "moved"})).await;
    assert_eq!(ground.text("moved/c").as_deref(), Some("c"));
    for (source, destination) in [("none", "x"), (".", "x"), ("b", "."), ("moved", "moved/inner"), ("b", "none/b")] {
        ground.refused("move_file", json!({"source": source, "destination": destination, "replace": true})).await;
    }
    assert_eq!(ground.names("."), ["b", "moved"]);
}

#[tokio::test]
async fn a_directory_that_is_not_empty_is_deleted_only_on_purpose() {
    let ground = Ground::new();
    ground.put("dir/a/b", "b");
    ground.put("dir/c", "c");
    ground.link(ground.outside(), "dir/link");
    assert_eq!(ground.refused("delete_file", json!({"path": "dir"})).await, "`dir`: `dir`: the directory is not empty");
    assert_eq!(
        ground.done("delete_file", json!({"path": "dir", "recursive": true})).await,
        json!({"path": "dir", "deleted": 5})
    );
    assert!(ground.outside().join("private.txt").exists());
    ground.put("one", "");
    assert_eq!(ground.done("delete_file", json!({"path": "one"})).await, json!({"path": "one", "deleted": 1}));
    ground.refused("delete_file", json!({"path": "one"})).await;
    for root in [".", "./", "x/.."] {
        assert_eq!(
            ground.refused("delete_file", json!({"path": root, "recursive": true})).await,
            "that is the workspace itself"
        );
    }
    assert!(ground.path(".").is_dir());
}
