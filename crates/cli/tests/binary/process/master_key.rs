//! Tests the master key file: created and stored safely, and never replaced silently.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::common::Deployment;

#[tokio::test]
async fn master_key_is_created_for_its_owner_only_and_reused() {
    let deployment = Deployment::sqlite();
    let launch = deployment.launch();
    launch.start().await.kill();
    let path = deployment.data().join("master.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let made = std::fs::read(&path).unwrap();
    launch.start().await.kill();
    assert_eq!(std::fs::read(&path).unwrap(), made);
    let strays: Vec<_> =
        std::fs::read_dir(deployment.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(strays.iter().all(|name| !name.to_string_lossy().ends_with(".new")), "{strays:?}");
}

#[tokio::test]
async fn master_key_that_others_can_read_is_refused() {
    let deployment = Deployment::sqlite();
    deployment.launch().start().await.kill();
    let path = deployment.data().join("master.key");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let said = deployment.launch().start_expecting_failure();
    assert!(
        said.contains(&format!("{}: other users can read it (mode 640): run chmod 600 on it", path.display())),
        "{said}"
    );
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    deployment.launch().start().await;
}

#[tokio::test]
async fn another_master_key_for_the_same_database_is_refused() {
    let deployment = Deployment::sqlite();
    deployment.launch().start().await.kill();
    let (path, kept) = (deployment.data().join("master.key"), deployment.path("kept.key"));
    std::fs::rename(&path, &kept).unwrap();

    let said = deployment.launch().start_expecting_failure();
    assert!(said.contains("sealed with another master key"), "{said}");
    let other = "ab".repeat(32);
    let said = deployment.launch().with(&["--master-key", &other]).start_expecting_failure();
    assert!(said.contains("sealed with another master key") && !said.contains(&other), "{said}");

    std::fs::rename(&kept, &path).unwrap();
    deployment.launch().start().await;
}

#[tokio::test]
async fn malformed_master_key_is_refused() {
    let deployment = Deployment::sqlite();
    deployment.launch().start().await.kill();
    let path = deployment.data().join("master.key");
    std::fs::write(&path, "correct horse battery staple\n").unwrap();
    let said = deployment.launch().start_expecting_failure();
    assert!(said.contains(&format!("{}: is not a master key", path.display())), "{said}");
    assert!(!said.contains("staple"), "{said}");
    let said = deployment.launch().with(&["--master-key", "staple"]).start_expecting_failure();
    assert!(said.contains("HOLDPOINT_MASTER_KEY: must be 32 bytes") && !said.contains("staple"), "{said}");
}
