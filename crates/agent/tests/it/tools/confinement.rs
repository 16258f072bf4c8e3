//! Nothing outside the workspace is read or written, for any path and any concurrent change.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use holdpoint_agent::tool::ToolOutcome;
use serde_json::{Value, json};

use crate::tools::ground::Ground;

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

fn outside_is_whole(ground: &Ground) {
    let names: Vec<_> = std::fs::read_dir(ground.outside()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["private.txt"]);
    assert_eq!(std::fs::read_to_string(ground.outside().join("private.txt")).unwrap(), "outside");
}

#[tokio::test]
async fn no_path_leads_out() {
    let ground = Ground::new();
    ground.put("mine", "mine");
    ground.put("dir/x", "x");
    ground.link(ground.outside(), "link");
    ground.link("../outside", "relative");
    ground.link("link", "twice");
    let absolute = ground.outside().join("private.txt");
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
            let ran = ground.run(tool, arguments).await;
            assert!(matches!(ran, ToolOutcome::Failed { result: Value::Null, .. }), "{tool} {path}: {ran:?}");
        }
        outside_is_whole(&ground);
    }
    assert_eq!(ground.names("."), ["dir", "link", "mine", "relative", "twice"]);
}

#[tokio::test]
async fn a_link_is_not_followed_even_inside() {
    let ground = Ground::new();
    ground.put("private/key", "key");
    ground.link("private", "public");
    ground.link("private/key", "alias");
    for path in ["public/key", "alias"] {
        for tool in ["read_file", "write_file"] {
            let arguments =
                if tool == "read_file" { json!({"path": path}) } else { json!({"path": path, "content": "x"}) };
            ground.refused(tool, arguments).await;
        }
    }
    assert_eq!(
        ground.refused("read_file", json!({"path": "public/key"})).await,
        "`public` is a symbolic link to `private`, and links are not followed; give the path that it leads to"
    );
    let found = ground.done("search_files", json!({"pattern": "key"})).await;
    assert_eq!(found["matches"], json!([{"path": "private/key", "line": 1, "text": "key"}]));
    assert_eq!(ground.text("private/key").as_deref(), Some("key"));
    // The link itself can be moved and deleted.
    ground.done("move_file", json!({"source": "alias", "destination": "other"})).await;
    ground.done("delete_file", json!({"path": "other"})).await;
    ground.done("delete_file", json!({"path": "public", "recursive": true})).await;
    assert_eq!(ground.text("private/key").as_deref(), Some("key"));
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
async fn no_race_leads_out() {
    let ground = Ground::new();
    ground.put("dir/private.txt", "inside");
    let (dir, aside, link) = (ground.path("dir"), ground.path("aside"), ground.path("link"));
    symlink(ground.outside(), &link).unwrap();
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
                match ground.run(tool, arguments).await {
                    ToolOutcome::Done(result) => {
                        assert!(!result.to_string().contains("outside"), "{tool}: {result}");
                        seen.insert((tool, true));
                    }
                    ToolOutcome::Failed { .. } => {
                        seen.insert((tool, false));
                    }
                    ToolOutcome::Unknown => panic!("{tool} does not know"),
                }
                outside_is_whole(&ground);
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
