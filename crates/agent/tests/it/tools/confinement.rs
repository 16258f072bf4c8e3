//! Nothing outside the workspace is read or written, for any path and any concurrent change.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use holdpoint_agent::tool::ToolOutcome;
use serde_json::{Value, json};

use crate::tools::test_workspace::TestWorkspace;

/// Arguments with which each tool reaches a path.
fn reaching(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("list_files", json!({"path": path})),
        ("search_files", json!({"pattern": "", "path": path})),
        ("write_file", json!({"path": path, "content": "inside"})),
        ("create_directory", json!({"path": path})),
        ("move_file", json!({"source": path, "destination": "taken"})),
        ("move_file", json!({"source": "mine", "destination": path, "replace": true})),
        ("delete_file", json!({"path": path, "recursive": true})),
    ]
}

fn check_that_outside_is_unchanged(test_workspace: &TestWorkspace) {
    let names: Vec<_> =
        std::fs::read_dir(test_workspace.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["private.txt"]);
    assert_eq!(std::fs::read_to_string(test_workspace.outside().join("private.txt")).unwrap(), "outside");
}

#[tokio::test]
async fn no_path_reaches_outside_the_workspace() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("mine", "mine");
    test_workspace.put("dir/x", "x");
    test_workspace.link(test_workspace.outside(), "link");
    test_workspace.link("../outside", "relative");
    test_workspace.link("link", "twice");
    let absolute = test_workspace.outside().join("private.txt");
    let mut paths: Vec<String> =
        ["../outside", "../outside/private.txt", "dir/../../outside/private.txt", "/etc/hostname"]
            .map(str::to_owned)
            .to_vec();
    paths.push(absolute.to_str().unwrap().to_owned());
    paths.extend(
        ["link/private.txt", "relative/private.txt", "twice/private.txt", "link/new", "~/x"].map(str::to_owned),
    );
    for path in &paths {
        for (tool, arguments) in reaching(path) {
            let ran = test_workspace.run(tool, arguments).await;
            assert!(matches!(ran, ToolOutcome::Failed { result: Value::Null, .. }), "{tool} {path}: {ran:?}");
        }
        check_that_outside_is_unchanged(&test_workspace);
    }
    assert_eq!(test_workspace.names("."), ["dir", "link", "mine", "relative", "twice"]);
}

#[tokio::test]
async fn link_is_not_followed_even_inside_the_workspace() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("private/key", "key");
    test_workspace.link("private", "public");
    test_workspace.link("private/key", "alias");
    for path in ["public/key", "alias"] {
        for tool in ["read_file", "write_file"] {
            let arguments =
                if tool == "read_file" { json!({"path": path}) } else { json!({"path": path, "content": "x"}) };
            test_workspace.refused(tool, arguments).await;
        }
    }
    assert_eq!(
        test_workspace.refused("read_file", json!({"path": "public/key"})).await,
        "`public` is a symbolic link to `private`, and links are not followed; give the path that it leads to"
    );
    let found = test_workspace.done("search_files", json!({"pattern": "key"})).await;
    assert_eq!(found["matches"], json!([{"path": "private/key", "line": 1, "text": "key"}]));
    assert_eq!(test_workspace.text("private/key").as_deref(), Some("key"));
    // The link itself can be moved and deleted.
    test_workspace.done("move_file", json!({"source": "alias", "destination": "other"})).await;
    test_workspace.done("delete_file", json!({"path": "other"})).await;
    test_workspace.done("delete_file", json!({"path": "public", "recursive": true})).await;
    assert_eq!(test_workspace.text("private/key").as_deref(), Some("key"));
}

/// Stops the thread that swaps the directory, also if the test fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A directory is swapped with a link to the outside and back, thousands of times, while the tools work in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn swapping_a_directory_with_a_link_never_reaches_outside() {
    let test_workspace = TestWorkspace::new();
    test_workspace.put("dir/private.txt", "inside");
    let (dir, aside, link) = (test_workspace.path("dir"), test_workspace.path("aside"), test_workspace.path("link"));
    symlink(test_workspace.outside(), &link).unwrap();
    let stop = AtomicBool::new(false);
    let mut seen = BTreeSet::new();
    let swapped = std::thread::scope(|scope| {
        let swapping = scope.spawn(|| {
            let mut swapped = 0_u32;
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&dir, &aside).unwrap();
                std::fs::rename(&link, &dir).unwrap();
                std::fs::rename(&dir, &link).unwrap();
                std::fs::rename(&aside, &dir).unwrap();
                swapped += 1;
            }
            swapped
        });
        let working = async {
            for round in 0..2000 {
                let (tool, arguments) = match round % 4 {
                    0 => ("read_file", json!({"path": "dir/private.txt"})),
                    1 => ("write_file", json!({"path": "dir/private.txt", "content": "inside"})),
                    2 => ("write_file", json!({"path": "dir/new.txt", "content": "inside"})),
                    _ => ("delete_file", json!({"path": "dir/new.txt"})),
                };
                match test_workspace.run(tool, arguments).await {
                    ToolOutcome::Done(result) => {
                        assert!(!result.to_string().contains("outside"), "{tool}: {result}");
                        seen.insert((tool, true));
                    }
                    ToolOutcome::Failed { .. } => {
                        seen.insert((tool, false));
                    }
                    ToolOutcome::Unknown => panic!("{tool} does not know"),
                }
                check_that_outside_is_unchanged(&test_workspace);
            }
        };
        let stopping = Stopping(&stop);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(working));
        drop(stopping);
        swapping.join().unwrap()
    });
    assert!(swapped > 100, "{swapped}");
    // Both outcomes of the race occurred, for reads and for writes.
    for tool in ["read_file", "write_file"] {
        assert!(seen.contains(&(tool, true)) && seen.contains(&(tool, false)), "{seen:?}");
    }
}
