//! Tests that a program gains no rights and reaches no other processes.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use holdpoint_confine::{Confinement, Helper, Programs};

use crate::place::{TestDirectory, said};
use crate::processes::BOMB;

#[test]
fn other_processes_cannot_be_seen_killed_or_traced() {
    let place = TestDirectory::new();
    let us = std::process::id();
    let line = format!(
        "kill -0 {us}; echo $?; kill -9 {us}; cat /proc/{us}/environ /proc/{us}/cmdline /proc/{us}/mem /proc/1/environ /proc/1/root/etc/passwd 2>/dev/null | wc -c; ls /proc/1/fd; \
         ls /proc | grep -c '^[0-9]*$'"
    );
    let said = place.run(&line);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert_eq!(lines.first(), Some(&"1"), "{said:?}");
    assert_eq!(lines.get(1), Some(&"0"), "{said:?}");
    assert!(lines.last().unwrap().parse::<u32>().unwrap() < 8, "only its own processes: {said:?}");
    // Calls ptrace(PTRACE_ATTACH) by number, on the test process outside and on the first process inside.
    for target in [us, 1] {
        let said = place.run(&format!(
            "perl -e 'my $r = syscall(101, 16, {target}, 0, 0); print $r == 0 ? \"traced\" : \"refused\"'"
        ));
        assert_eq!(said.stdout, "refused", "{said:?}");
    }
}

#[test]
fn program_cannot_gain_privileges() {
    let place = TestDirectory::new();
    let said = place
        .run("grep -E 'CapInh|CapPrm|CapAmb|CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status | tr -s '\\t' ' '");
    assert_eq!(
        said.stdout,
        "CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\n\
         CapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n"
    );
    assert_ne!(place.run("unshare -Ur true").code, Some(0));
    assert_ne!(place.run("mount -t tmpfs none /tmp").code, Some(0));
    // The socket family AF_VSOCK ignores network namespaces.
    assert_eq!(place.run("perl -e 'print socket(my $s, 40, 1, 0) ? \"open\" : \"refused\"'").stdout, "refused");
}

/// System calls that `chmod` and `install` do not make, and one whose mode the filter cannot read. Perl prints every
/// error as a number.
#[cfg(target_arch = "x86_64")]
const CALLS: &str = r#"
use Fcntl;
my ($file, $new, $here, $how) = ("s", "new", ".", pack("QQQ", O_CREAT | O_WRONLY, 04755, 0));
sub tried { $! = 0; syscall(shift, @_) < 0 or $! = 0; print $! + 0, " " }
open(my $s, "<", $file) or die $!;
for my $bit (04000, 02000) {
    tried(90, $file, $bit | 0755);
    tried(91, fileno($s), $bit | 0755);
    tried(268, -100, $file, $bit | 0755);
    tried(452, -100, $file, $bit | 0755, 0);
    tried(2, $new, O_CREAT | O_WRONLY, $bit | 0755);
    tried(257, -100, $new, O_CREAT | O_WRONLY, $bit | 0755);
    tried(257, -100, $here, 020200000 | O_WRONLY, $bit | 0755);
    tried(85, $new, $bit | 0755);
    tried(83, $new, $bit | 0755);
    tried(258, -100, $new, $bit | 0755);
    tried(133, $new, 0100000 | $bit | 0755, 0);
    tried(259, -100, $new, 0100000 | $bit | 0755, 0);
}
tried(437, -100, $new, $how, 24);
tried(2, $file, O_RDONLY, 06755);
"#;

#[test]
fn set_user_id_and_set_group_id_bits_are_refused() {
    let place = TestDirectory::new();
    let workspace = place.path("workspace");
    let said = place.run("cp /bin/sh s && chmod 755 s && ./s -c 'echo runs' && stat -c %a s");
    assert_eq!(said.stdout, "runs\n755\n", "{said:?}");
    for line in ["chmod 4755 s", "chmod u+s s", "chmod g+s s", "chmod 2755 s", "mkdir -m 2755 d", "install -m 4755 s i"]
    {
        assert_ne!(place.run(line).code, Some(0), "{line}");
    }
    if Path::new("/usr/bin/python3").exists() {
        for line in ["os.open(\"p\", os.O_CREAT | os.O_WRONLY, 0o4755)", "os.mkdir(\"q\", 0o2755)"] {
            let said = place.run(&format!("/usr/bin/python3 -c 'import os; {line}'"));
            assert!(said.stderr.contains("PermissionError"), "{line}: {said:?}");
        }
    }
    #[cfg(target_arch = "x86_64")]
    {
        fs::write(workspace.join("calls.pl"), CALLS).unwrap();
        let said = place.run("umask 0; perl calls.pl");
        let refused = "1 ".repeat(24);
        assert_eq!(said.stdout, format!("{refused}38 0 "), "{said:?}");
    }
    let entries: Vec<_> = fs::read_dir(&workspace).unwrap().map(Result::unwrap).collect();
    assert!(entries.iter().any(|entry| entry.file_name() == "s"));
    for entry in entries {
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o6000, 0, "{}", entry.path().display());
    }
}

/// An ordinary user is confined as root is. The test needs root to switch to another user.
#[test]
fn ordinary_user_is_confined_like_root() {
    const SOMEBODY: u32 = 64_999;
    if !rustix::process::getuid().is_root() {
        return;
    }
    let place = TestDirectory::new();
    // Only its owner can reach the built helper, so it is copied to a directory that every user can read.
    let helper = place.path("helper");
    fs::copy(env!("CARGO_BIN_EXE_holdpoint-confine"), &helper).unwrap();
    fs::set_permissions(place.all.path(), fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["workspace", "data", "data/master.key"] {
        std::os::unix::fs::chown(place.path(name), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    }
    let run = |confinement: &Confinement, line: &str| {
        let programs = Programs::Confined(Helper::at(&helper), confinement.clone());
        let (program, arguments) = programs.call("/bin/sh".into(), ["-c", "--", line].map(OsString::from).to_vec());
        let mut command = Command::new(program);
        command.args(arguments).uid(SOMEBODY).gid(SOMEBODY).stdin(Stdio::null());
        said(command)
    };
    let key = place.path("data/master.key");
    let said = run(&place.confinement(), &format!("id -u; echo mine > file; cat file; cat {}", key.display()));
    assert_eq!((said.stdout.as_str(), said.code), ("64999\nmine\n", Some(1)), "{said:?}");
    let bounded = Confinement { processes: 40, ..place.confinement() };
    let said = run(&bounded, BOMB);
    assert!(said.code == Some(9) || said.code == Some(125), "{said:?}");
    let network = run(&place.confinement(), "grep -c : /proc/net/dev");
    assert_eq!(network.stdout, "1\n", "only the loopback interface: {network:?}");
}
