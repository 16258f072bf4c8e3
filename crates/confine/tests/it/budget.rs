//! Tests the limit on the size of a workspace.

use std::fs;

use holdpoint_confine::Confinement;

use crate::place::{TestDirectory, command, said};

#[test]
fn a_workspace_that_grows_too_large_ends_the_program() {
    let place = TestDirectory::new();
    let confinement = Confinement { workspace_bytes: 8 << 20, ..place.confinement() };
    for line in [
        "dd if=/dev/zero of=big bs=1M count=4096 2>/dev/null; sleep 1000",
        "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > small$i; done",
    ] {
        let said = said(command(&confinement, line));
        let end = "holdpoint: the command was ended: the workspace has more than";
        assert_eq!(said.code, Some(125), "{said:?}");
        assert!(said.stderr.lines().last().unwrap().starts_with(end), "{said:?}");
        assert_eq!(place.run("rm -f big small*").code, Some(0), "files can be deleted from a full workspace");
    }
}

#[test]
fn fast_program_beyond_the_limit_fails_and_later_writes_are_refused() {
    let place = TestDirectory::new();
    let confinement = Confinement { workspace_bytes: 10_000_000, ..place.confinement() };
    let run = |line: &str| said(command(&confinement, line));
    // The program usually ends before a measurement; on a slow machine the helper ends it.
    let said = run("for i in 1 2 3; do fallocate -l 9M big$i; done; echo written");
    assert_eq!(said.code, Some(125), "{said:?}");
    assert!(said.stderr.contains("the workspace has more than 10000000 bytes"), "{said:?}");
    let before = place.run("ls").stdout;
    let said = run("fallocate -l 9M more; echo x >> big1; mkdir d; ln big1 again; mv big2 big6; ls");
    assert_eq!(said.stdout, before, "a full workspace is not written to: {said:?}");
    assert!(said.stderr.starts_with("holdpoint: the workspace has more than 10000000 bytes; until"), "{said:?}");
    assert_eq!(fs::metadata(place.path("workspace/big1")).unwrap().len(), 9 << 20);
    assert_eq!(run("rm big*").code, Some(0));
    let said = run("echo again > file; cat file");
    assert_eq!((said.stdout.as_str(), said.stderr.as_str(), said.code), ("again\n", "", Some(0)));
}

#[test]
fn empty_directories_and_files_fill_a_workspace() {
    let place = TestDirectory::new();
    let confinement = Confinement { workspace_bytes: 1_000_000, ..place.confinement() };
    for line in ["mkdir $(seq 300)", "touch $(seq 300)"] {
        let said = said(command(&confinement, line));
        assert!(said.stderr.contains("the workspace has more than 1000000 bytes"), "{said:?}");
        assert_eq!(place.run("rm -r ./*").code, Some(0));
    }
}

#[test]
fn unreadable_directories_are_counted_and_do_not_block_later_runs() {
    let place = TestDirectory::new();
    let confinement = Confinement { workspace_bytes: 10_000_000, ..place.confinement() };
    let said_of = |line: &str| said(command(&confinement, line));
    assert_eq!(said_of("mkdir x; chmod 000 x").code, Some(0));
    let said = said_of("ls x; chmod 700 x; for i in 1 2; do fallocate -l 9M x/$i; done; chmod 000 x");
    assert_eq!(said.code, Some(125), "files in unreadable directories are counted: {said:?}");
    assert_eq!(said_of("chmod 700 x; rm -r x").code, Some(0));
    assert_eq!(said_of("chmod 000 .").code, Some(0));
    assert_eq!(said_of("echo x > file; cat file").stdout, "x\n", "the workspace stays accessible");
}

#[test]
fn directories_that_are_nested_deeply_can_be_deleted() {
    let place = TestDirectory::new();
    let nest = |depth: u32| format!("perl -e 'for (1..{depth}) {{ mkdir \"d\"; chdir \"d\" or die }}'");
    assert_eq!(place.run(&nest(300)).code, Some(0));
    assert_eq!(place.run("rm -rf d").code, Some(0));
    let said = place.run(&nest(3000));
    assert!(said.stderr.contains("directories of the workspace are nested more than 512 deep"), "{said:?}");
    assert_eq!(place.run("rm -rf d; mkdir e").code, Some(1), "nothing can be created while directories are too deep");
    assert_eq!(place.run("ls; mkdir e; ls").stdout, "e\n");
}
