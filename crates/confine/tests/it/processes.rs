//! Tests the limit on processes, and that all processes of a program end.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use holdpoint_confine::Confinement;

use crate::place::{TestDirectory, command, runs, said, until};

/// Finds a writable mount of `pids` control groups (cgroup v1). Returns the mount point and the group that is mounted
/// there.
fn groups() -> Option<(PathBuf, PathBuf)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - cgroup ")?;
        let mount: Vec<&str> = mount.split(' ').collect();
        let is_ours = file_system.split([' ', ',']).any(|option| option == "pids") && mount.get(5)?.starts_with("rw");
        is_ours.then_some((PathBuf::from(mount.get(4)?), PathBuf::from(mount.get(3)?)))
    })
}

/// Program that forks without end and never waits for a child.
pub(crate) const BOMB: &str = "perl -e 'while (1) { my $child = fork; if (!defined $child) { $failed++ } elsif (!$child) { sleep 1000; exit } exit 9 if $failed > 50 }'";

#[test]
fn number_of_processes_is_limited() {
    let place = TestDirectory::new();
    let confinement = Confinement { processes: 40, ..place.confinement() };
    let said = said(command(&confinement, BOMB));
    let watched =
        said.stderr.contains("the command was ended: it") && said.stderr.contains("more than 40 processes and threads");
    // For a user other than root, the kernel itself refuses new processes first.
    assert!(watched && said.code == Some(125) || said.code == Some(9), "{said:?}");
}

/// Shell command that prints the `pids` control group of its process.
const OWN_GROUP: &str = "sed -n 's/^[0-9]*:[a-z,]*pids[a-z,]*://p' /proc/self/cgroup";

/// Program that forks until a fork is refused or there are far too many children, and writes their number and the
/// reason to a file.
const COUNTED_BOMB: &str = r#"exec perl -e '
    open(my $ready, ">", "ready");
    select(undef, undef, undef, 0.01) until -e "go";
    my $started = 0;
    while ($started < 400) { my $child = fork; last if !defined $child; if (!$child) { sleep 1000; exit } $started++ }
    my $why = $!{EAGAIN} ? "refused" : "not refused";
    open(my $told, ">", "told.new"); print $told "$started $why"; close $told; rename "told.new", "told";
    sleep 1000'"#;

#[test]
fn kernel_limits_the_number_of_processes_of_root() {
    if !rustix::process::getuid().is_root() || groups().is_none() {
        return;
    }
    let place = TestDirectory::new();
    let confinement = Confinement { processes: 40, ..place.confinement() };
    let child = command(&confinement, COUNTED_BOMB).stderr(Stdio::piped()).spawn().unwrap();
    // The helper is stopped and cannot count processes, so that only the kernel limits them.
    let helper = rustix::process::Pid::from_child(&child);
    until("the program", || place.path("workspace/ready").exists());
    rustix::process::kill_process(helper, rustix::process::Signal::STOP).unwrap();
    fs::write(place.path("workspace/go"), "").unwrap();
    let told = place.path("workspace/told");
    until("the number of started processes", || told.exists());
    rustix::process::kill_process(helper, rustix::process::Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(fs::read_to_string(told).unwrap(), "39 refused", "the program and its children are 40: {stderr}");
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stderr.contains("the command was ended: it tried to start more than 40 processes and threads"), "{stderr}");
}

#[test]
fn control_groups_of_ended_programs_are_removed() {
    let Some((mounted_at, root)) = groups().filter(|_| rustix::process::getuid().is_root()) else { return };
    let place = TestDirectory::new();
    // The program writes its group to a file; it cannot see `/sys` and so cannot change the group.
    let line = format!("ls -d /sys; {OWN_GROUP} > group.new; mv group.new group; exec sleep 1000");
    let start = || {
        let told = place.path("workspace/group");
        let _ = fs::remove_file(&told);
        let child = command(&place.confinement(), &line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        until("its group", || told.exists());
        let path = PathBuf::from(fs::read_to_string(told).unwrap().trim());
        let group = mounted_at.join(path.strip_prefix(&root).unwrap());
        assert!(group.file_name().unwrap().to_str().unwrap().starts_with("holdpoint-command-"), "{group:?}");
        assert!(group.is_dir());
        (child, group)
    };
    let (going_on, kept) = start();
    let (mut killed, left) = start();
    killed.kill().unwrap();
    killed.wait().unwrap();
    // The processes of the group end a little later than the helper.
    until("the end of the group of the killed helper", || {
        assert_eq!(place.run(":").code, Some(0));
        !left.exists()
    });
    assert!(kept.is_dir(), "a group in use is kept");
    let group = rustix::process::Pid::from_child(&going_on);
    rustix::process::kill_process_group(group, rustix::process::Signal::TERM).unwrap();
    let output = going_on.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "there is no /sys");
}

#[test]
fn program_cannot_leave_or_widen_its_control_group() {
    let Some((mounted_at, root)) = groups().filter(|_| rustix::process::getuid().is_root()) else { return };
    let place = TestDirectory::new();
    let confinement = Confinement { read_only: vec![mounted_at.clone()], processes: 40, ..place.confinement() };
    let line = format!(
        "group() {{ {OWN_GROUP}; }}; own=$(group); cd {}/${{own#{}}} || exit; echo $$ > ../cgroup.procs; echo max > pids.max; mkdir further; \
         cat pids.max; [ $own = $(group) ] && echo same",
        mounted_at.display(),
        root.display()
    );
    let said = said(command(&confinement, &line));
    assert_eq!(said.stdout, "43\nsame\n", "the first process and the helper are counted too: {said:?}");
    assert_eq!(said.stderr.matches("Read-only file system").count(), 3, "{said:?}");
}

#[test]
fn detached_processes_end_with_the_program() {
    let place = TestDirectory::new();
    let word = format!("7{:07}", std::process::id());
    let said = place.run(&format!("setsid sleep {word} >/dev/null 2>&1 & sleep 0.1; echo done"));
    assert_eq!(said.stdout, "done\n");
    until("the end of the detached process", || !runs(&word));
}

#[test]
fn all_processes_end_when_the_helper_is_killed() {
    let place = TestDirectory::new();
    let word = format!("8{:07}", std::process::id());
    let mut child = command(&place.confinement(), &format!("setsid sleep {word} & sleep {word}")).spawn().unwrap();
    until("its processes", || runs(&word));
    child.kill().unwrap();
    child.wait().unwrap();
    until("their end", || !runs(&word));
}

#[test]
fn all_processes_end_when_the_parent_process_is_gone() {
    let place = TestDirectory::new();
    let word = format!("9{:07}", std::process::id());
    let inner = command(&place.confinement(), &format!("echo > started; sleep {word}"));
    let started = place.path("workspace/started");
    let line = format!("\"$@\" >/dev/null 2>&1 & while [ ! -e {} ]; do sleep 0.01; done", started.display());
    let mut outer = Command::new("/bin/sh");
    outer.args(["-c", &line, "sh"]).arg(inner.get_program()).args(inner.get_args());
    assert!(outer.status().unwrap().success());
    until("the end of the processes", || !runs(&word));
}

#[test]
fn process_group_can_clean_up_after_sigterm() {
    let place = TestDirectory::new();
    let line = "(trap 'sleep 0.2; echo tidy; exit' TERM; echo ready; while :; do sleep 0.02; done) & wait";
    let mut child = command(&place.confinement(), line).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut ready = [0; 6];
    stdout.read_exact(&mut ready).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::TERM).unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "tidy\n");
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}
