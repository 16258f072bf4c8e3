//! Tests which files a program can read and write.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use holdpoint_confine::Confinement;

use crate::place::{TestDirectory, command, said};

#[test]
fn master_key_and_other_workspaces_are_not_visible() {
    let place = TestDirectory::new();
    for name in ["data/master.key", "other/private"] {
        let path = place.path(name);
        let said = place.run(&format!(
            "cat {0}; stat {0}; chmod 777 {0}; ls -a {1}",
            path.display(),
            place.all.path().display()
        ));
        assert_eq!(said.stdout, ".\n..\nworkspace\n", "{said:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }
    // A symbolic link that was made before the start does not lead out either.
    std::os::unix::fs::symlink(place.path("data/master.key"), place.path("workspace/link")).unwrap();
    assert_eq!(place.run("cat link").code, Some(1));
}

#[test]
fn nothing_outside_the_workspace_is_written() {
    let place = TestDirectory::new();
    let outside = place.path("beside");
    let said = place.run(&format!(
        "echo x > {}; echo x > ../beside; echo x > /usr/beside; chmod 600 /usr/bin/env; echo $?",
        outside.display()
    ));
    assert_eq!(said.stdout, "1\n", "{said:?}");
    assert!(!outside.exists() && !Path::new("/usr/beside").exists());
    // Files in `/tmp` disappear with the program.
    assert_eq!(place.run("echo x > /tmp/kept-by-nobody; cat /tmp/kept-by-nobody").stdout, "x\n");
    assert!(!Path::new("/tmp/kept-by-nobody").exists());
}

#[test]
fn read_only_directory_is_readable_and_not_writable() {
    let place = TestDirectory::new();
    let named = place.path("named");
    fs::create_dir(&named).unwrap();
    fs::write(named.join("file"), "for you\n").unwrap();
    let confinement = Confinement { read_only: vec![named.clone()], ..place.confinement() };
    let line = format!(
        "cat {0}/file; echo x > {0}/new; echo x >> {0}/file; rm {0}/file; chmod 777 {0}/file; echo $?",
        named.display()
    );
    assert_eq!(said(command(&confinement, &line)).stdout, "for you\n1\n");
    assert_eq!(fs::read_to_string(named.join("file")).unwrap(), "for you\n");
    assert!(!named.join("new").exists());
}

#[test]
fn hidden_paths_are_empty_inside_a_read_only_directory() {
    let place = TestDirectory::new();
    let all = place.all.path().to_owned();
    let hidden = vec![place.path("data"), place.path("other")];
    let confinement = Confinement { read_only: vec![all.clone()], hidden, ..place.confinement() };
    let line = format!("ls -A {0}; ls -A {0}/data {0}/other; cat {0}/data/master.key; echo $?", all.display());
    let said = said(command(&confinement, &line));
    assert!(said.stdout.ends_with("1\n") && !said.stdout.contains("private"), "{said:?}");
}

#[test]
fn hidden_paths_are_empty_behind_a_link() {
    let place = TestDirectory::new();
    let link = place.path("link");
    std::os::unix::fs::symlink(place.all.path(), &link).unwrap();
    fs::write(place.path("policy.toml"), "the rules").unwrap();
    fs::write(place.path("open"), "open\n").unwrap();
    let hidden = ["data", "other", "policy.toml"].map(|name| place.path(name)).to_vec();
    let confinement = Confinement { read_only: vec![link.clone()], hidden, ..place.confinement() };
    let line =
        format!("cd {}; cat open policy.toml; ls -A data other; cat data/master.key other/private", link.display());
    let said = said(command(&confinement, &line));
    assert_eq!(said.stdout, "open\ndata:\n\nother:\n", "{said:?}");
}
