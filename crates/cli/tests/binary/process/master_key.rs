//! Tests the master key file: created and stored safely, and never replaced silently.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::common::House;

#[tokio::test]
async fn it_is_made_for_its_owner_alone_and_found_again() {
    let house = House::sqlite();
    let launch = house.launch();
    launch.start().await.kill();
    let path = house.data().join("master.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let made = std::fs::read(&path).unwrap();
    launch.start().await.kill();
    assert_eq!(std::fs::read(&path).unwrap(), made);
    let strays: Vec<_> = std::fs::read_dir(house.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(strays.iter().all(|name| !name.to_string_lossy().ends_with(".new")), "{strays:?}");
}

#[tokio::test]
async fn one_that_others_can_read_is_refused() {
    let house = House::sqlite();
    house.launch().start().await.kill();
    let path = house.data().join("master.key");
    std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let said = house.launch().start_in_vain();
    assert!(said.contains(&format!("{}: others can read it (mode 640): chmod 600 it", path.display())), "{said}");
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    house.launch().start().await;
}

#[tokio::test]
async fn another_one_on_the_same_database_is_refused() {
    let house = House::sqlite();
    house.launch().start().await.kill();
    let (path, kept) = (house.data().join("master.key"), house.path("kept.key"));
    std::fs::rename(&path, &kept).unwrap();

    let said = house.launch().start_in_vain();
    assert!(said.contains("sealed with another master key"), "{said}");
    let other = "ab".repeat(32);
    let said = house.launch().with(&["--master-key", &other]).start_in_vain();
    assert!(said.contains("sealed with another master key") && !said.contains(&other), "{said}");

    std::fs::rename(&kept, &path).unwrap();
    house.launch().start().await;
}

#[tokio::test]
async fn one_that_is_none_is_refused() {
    let house = House::sqlite();
    house.launch().start().await.kill();
    let path = house.data().join("master.key");
    std::fs::write(&path, "correct horse battery staple\n").unwrap();
    let said = house.launch().start_in_vain();
    assert!(said.contains(&format!("{}: is not a master key", path.display())), "{said}");
    assert!(!said.contains("staple"), "{said}");
    let said = house.launch().with(&["--master-key", "staple"]).start_in_vain();
    assert!(said.contains("HOLDPOINT_MASTER_KEY: must be 32 bytes") && !said.contains("staple"), "{said}");
}
