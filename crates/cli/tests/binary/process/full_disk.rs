//! Tests a full disk: writes are refused, reads continue, and nothing acknowledged is lost.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::common::{Client, Deployment};

#[tokio::test]
async fn full_disk_refuses_writes_and_serves_reads() {
    let mounted = Deployment::sqlite();
    let Some(disk) = SmallDisk::mount(&mounted.path("disk")) else { return };
    let deployment = Deployment::sqlite().with_data(&disk.0.join("data"));
    let mut server = deployment.launch().start().await;
    let (bot, alice) =
        (server.client(&deployment.key("agent", "bot")), server.client(&deployment.key("operator", "alice")));
    let session = bot.start().await;
    let open = bot.ask(&session, json!({ "kind": "confirmation", "title": "before" })).await;

    for round in 0..3 {
        let filler = disk.fill();
        let mut kept = vec![(open.clone(), "before".to_owned())];
        let refused = loop {
            let title = format!("round {round} question {}", kept.len());
            let question = json!({ "kind": "confirmation", "title": title, "message": "x".repeat(20_000) });
            let reply = bot.post(&format!("/v1/sessions/{session}/interactions"), question).await;
            match reply.status {
                201 => kept.push((reply.text("/id"), title)),
                _ => break reply,
            }
            assert!(kept.len() < 2000, "the disk did not get full");
        };
        refused.problem(507, "storage_full");
        alice
            .answer(&open, json!({ "effect": "approve", "feedback": "y".repeat(20_000) }))
            .await
            .problem(507, "storage_full");
        assert_eq!(bot.get("/readyz").await.status, 200);
        alice.get("/v1/interactions?status=pending").await.done(200);
        assert_all_stored(&alice, &kept).await;
        assert!(server.runs());

        std::fs::remove_file(filler).unwrap();
        kept.push((bot.ask(&session, json!({ "kind": "confirmation", "title": "after" })).await, "after".to_owned()));
        assert_all_stored(&alice, &kept).await;
    }
    alice.approve(&open).await;
    server.kill();
    let checked = deployment.run(&["check"]);
    assert!(checked.status.success(), "{checked:?}");
    server = deployment.launch().start().await;
    assert_eq!(server.client(&deployment.key("viewer", "reader")).question(&open).await.text("/status"), "answered");
}

async fn assert_all_stored(client: &Client, kept: &[(String, String)]) {
    for (id, title) in kept {
        assert_eq!(client.question(id).await.text("/title"), *title);
    }
}

/// A small file system in memory, unmounted when this guard is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a small file system; `None` if the machine does not allow it.
    fn mount(at: &Path) -> Option<Self> {
        std::fs::create_dir(at).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(at).output().unwrap();
        if !mounted.status.success() {
            println!("skipped: no small file system can be mounted: {}", String::from_utf8_lossy(&mounted.stderr));
            return None;
        }
        Some(Self(at.to_owned()))
    }

    /// Fills the file system almost completely and returns the file that takes the space.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = File::create(&path).unwrap();
        let block = vec![0; 64 * 1024];
        // The last block does not fit, or only in part.
        while file.write_all(&block).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A lazy unmount works while a server that is being killed still has files open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
