//! One test for each promise: a real program tries, in a workspace beside things that are not its own.
//!
//! These tests need a machine on which programs can be confined, and fail where that is not possible.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking, as tests do")]

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use holdpoint_confine::{Confinement, Helper, Programs};
use tempfile::TempDir;

/// A workspace, another one, and a directory of data.
struct Place {
    all: TempDir,
}

impl Place {
    fn new() -> Self {
        let all = TempDir::with_prefix("confined-").unwrap();
        for name in ["workspace", "other", "data"] {
            fs::create_dir(all.path().join(name)).unwrap();
        }
        fs::write(all.path().join("data/master.key"), "the master key").unwrap();
        fs::write(all.path().join("other/private"), "of another agent").unwrap();
        Self { all }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.all.path().join(name)
    }

    fn confinement(&self) -> Confinement {
        Confinement { workspace: Some(self.path("workspace")), ..Confinement::default() }
    }

    fn run(&self, line: &str) -> Said {
        said(command(&self.confinement(), line))
    }
}

/// What a command came to.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: String,
    stderr: String,
}

fn said(mut command: Command) -> Said {
    let Output { status, stdout, stderr } = command.output().unwrap();
    Said {
        code: status.code(),
        signal: status.signal(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

fn command(confinement: &Confinement, line: &str) -> Command {
    let helper = Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine"));
    let programs = Programs::Confined(helper, confinement.clone());
    let (program, arguments) = programs.call("/bin/sh".into(), ["-c", "--", line].map(OsString::from).to_vec());
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").stdin(Stdio::null());
    command.process_group(0);
    command
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(30), "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process with this word in its command line runs.
fn runs(word: &str) -> bool {
    let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.into_iter().any(|line| line.starts_with("sleep ") && line.contains(word))
}

#[test]
fn programs_can_be_confined_here() {
    assert_eq!(Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine")).probe(), Ok(()));
}

#[test]
fn ordinary_programs_work() {
    let place = Place::new();
    let said =
        place.run("pwd; echo hello > file; cat file; mkdir d; mv file d/; ls d; id -un; echo $((6*7)) | sed s/4/x/");
    let here = place.path("workspace");
    assert_eq!(said.stdout, format!("{}\nhello\nfile\nholdpoint\nx2\n", here.display()), "{said:?}");
    assert_eq!(fs::read_to_string(here.join("d/file")).unwrap(), "hello\n");
    let said = place.run(
        "mktemp >/dev/null && perl -e 'print 1+1' && echo a | tee /dev/stderr | wc -c; head -c 4 /dev/urandom | wc -c",
    );
    assert_eq!((said.stdout.as_str(), said.code), ("22\n4\n", Some(0)), "{said:?}");
}

#[test]
fn git_python_and_a_compiler_work_where_they_are_installed() {
    let place = Place::new();
    for (program, line, expected) in [
        (
            "/usr/bin/git",
            "HOME=$PWD git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m first && git log --format=%s",
            "first\n",
        ),
        (
            "/usr/bin/python3",
            "/usr/bin/python3 -c 'import ssl, json, subprocess; print(subprocess.run([\"echo\", \"py\"]).returncode)'",
            "py\n0\n",
        ),
        ("/usr/bin/cc", "echo 'int main(void) { return 7; }' > a.c && cc a.c -o a; ./a; echo $?", "7\n"),
    ] {
        if Path::new(program).exists() {
            let said = place.run(line);
            assert_eq!(said.stdout, expected, "{program}: {said:?}");
        }
    }
}

#[test]
fn the_end_of_a_program_is_told_as_it_was() {
    let place = Place::new();
    assert_eq!(place.run("exit 3").code, Some(3));
    assert_eq!(place.run("kill -9 $$").signal, Some(9));
    let confinement = place.confinement();
    let helper = Helper::at(env!("CARGO_BIN_EXE_holdpoint-confine"));
    let (program, arguments) = Programs::Confined(helper, confinement).call("/nowhere/at/all".into(), Vec::new());
    let mut command = Command::new(program);
    let said = said({
        command.args(arguments);
        command
    });
    assert_eq!(said.code, Some(125));
    assert!(said.stderr.contains("No such file or directory"), "{said:?}");
}

#[test]
fn the_master_key_and_other_workspaces_are_not_there() {
    let place = Place::new();
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
    // Not by a link that was made before, either.
    std::os::unix::fs::symlink(place.path("data/master.key"), place.path("workspace/link")).unwrap();
    assert_eq!(place.run("cat link").code, Some(1));
}

#[test]
fn nothing_is_written_beside_the_workspace() {
    let place = Place::new();
    let outside = place.path("beside");
    let said = place.run(&format!(
        "echo x > {}; echo x > ../beside; echo x > /usr/beside; chmod 600 /usr/bin/env; echo $?",
        outside.display()
    ));
    assert_eq!(said.stdout, "1\n", "{said:?}");
    assert!(!outside.exists() && !Path::new("/usr/beside").exists());
    // What is put into /tmp is gone with the program.
    assert_eq!(place.run("echo x > /tmp/kept-by-nobody; cat /tmp/kept-by-nobody").stdout, "x\n");
    assert!(!Path::new("/tmp/kept-by-nobody").exists());
}

const CONNECT: &str = r#"
use Socket;
my ($kind, $where) = @ARGV;
if ($kind eq "tcp" or $kind eq "udp") {
    socket(my $s, PF_INET, $kind eq "tcp" ? SOCK_STREAM : SOCK_DGRAM, 0) or die "socket: $!";
    connect($s, sockaddr_in($where, inet_aton("127.0.0.1"))) or die "connect: $!";
    send($s, "reached", 0) or die "send: $!";
} else {
    socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!";
    connect($s, sockaddr_un($kind eq "abstract" ? "\0$where" : $where)) or die "connect: $!";
}
print "connected\n";
"#;

/// Tries to connect to listeners of the test: by TCP, by UDP, by the path of a Unix socket and by an abstract one.
fn connections(place: &Place, confinement: &Confinement) -> Vec<(&'static str, bool)> {
    fs::write(place.path("workspace/connect.pl"), CONNECT).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let socket = place.path("data/socket");
    let _ = fs::remove_file(&socket);
    let _path = UnixListener::bind(&socket).unwrap();
    let name = format!("confined-{}", place.all.path().display());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let tries = [
        ("tcp", tcp.local_addr().unwrap().port().to_string()),
        ("udp", udp.local_addr().unwrap().port().to_string()),
        ("path", socket.display().to_string()),
        ("abstract", name),
    ];
    let connected = tries.map(|(kind, to)| {
        let said = said(command(confinement, &format!("perl connect.pl {kind} '{to}'")));
        // A datagram that was sent may still have gone nowhere.
        (kind, if kind == "udp" { udp.recv(&mut [0; 16]).is_ok() } else { said.stdout == "connected\n" })
    });
    connected.to_vec()
}

#[test]
fn nothing_is_reached_over_the_network() {
    let place = Place::new();
    let connected = connections(&place, &place.confinement());
    assert_eq!(connected, [("tcp", false), ("udp", false), ("path", false), ("abstract", false)]);
}

#[test]
fn a_network_that_is_allowed_has_no_unix_sockets_of_others() {
    let place = Place::new();
    let connected = connections(&place, &Confinement { network: true, ..place.confinement() });
    assert_eq!(connected, [("tcp", true), ("udp", true), ("path", false), ("abstract", false)]);
}

#[test]
fn a_program_speaks_to_itself() {
    let place = Place::new();
    let line = r#"perl -MSocket -e '
        socket(my $l, PF_INET, SOCK_STREAM, 0) or die; bind($l, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind $!"; listen($l, 1);
        my ($port) = sockaddr_in(getsockname($l));
        socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect $!"; print "ok\n"'"#;
    assert_eq!(place.run(line).stdout, "ok\n");
}

#[test]
fn a_directory_that_is_named_is_read_and_not_written() {
    let place = Place::new();
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
fn what_is_hidden_is_empty_within_what_is_named() {
    let place = Place::new();
    let all = place.all.path().to_owned();
    let hidden = vec![place.path("data"), place.path("other")];
    let confinement = Confinement { read_only: vec![all.clone()], hidden, ..place.confinement() };
    let line = format!("ls -A {0}; ls -A {0}/data {0}/other; cat {0}/data/master.key; echo $?", all.display());
    let said = said(command(&confinement, &line));
    assert!(said.stdout.ends_with("1\n") && !said.stdout.contains("private"), "{said:?}");
}

#[test]
fn what_is_hidden_is_empty_behind_a_link_too() {
    let place = Place::new();
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

#[test]
fn others_are_neither_seen_nor_killed_nor_traced() {
    let place = Place::new();
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
    // ptrace(PTRACE_ATTACH) by number: of our process outside, and of the first process inside.
    for target in [us, 1] {
        let said = place.run(&format!(
            "perl -e 'my $r = syscall(101, 16, {target}, 0, 0); print $r == 0 ? \"traced\" : \"refused\"'"
        ));
        assert_eq!(said.stdout, "refused", "{said:?}");
    }
}

#[test]
fn there_is_no_way_to_more_rights() {
    let place = Place::new();
    let said = place
        .run("grep -E 'CapInh|CapPrm|CapAmb|CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status | tr -s '\\t' ' '");
    assert_eq!(
        said.stdout,
        "CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000000000000\n\
         CapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n"
    );
    assert_ne!(place.run("unshare -Ur true").code, Some(0));
    assert_ne!(place.run("mount -t tmpfs none /tmp").code, Some(0));
    // A family of sockets that does not know network namespaces: AF_VSOCK.
    assert_eq!(place.run("perl -e 'print socket(my $s, 40, 1, 0) ? \"open\" : \"refused\"'").stdout, "refused");
}

/// Calls that `chmod` and `install` do not make, and one whose mode no filter sees. Perl prints every error as a number.
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
fn no_file_runs_as_its_owner_or_group() {
    let place = Place::new();
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

#[test]
fn a_workspace_that_grows_too_large_ends_the_program() {
    let place = Place::new();
    let confinement = Confinement { workspace_bytes: 8 << 20, ..place.confinement() };
    for line in [
        "dd if=/dev/zero of=big bs=1M count=4096 2>/dev/null; sleep 1000",
        "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > small$i; done",
    ] {
        let said = said(command(&confinement, line));
        let end = "holdpoint: the command was ended: the workspace has more than";
        assert_eq!(said.code, Some(125), "{said:?}");
        assert!(said.stderr.lines().last().unwrap().starts_with(end), "{said:?}");
        assert_eq!(place.run("rm -f big small*").code, Some(0), "what is too large can be deleted");
    }
}

#[test]
fn a_fast_program_does_not_pass_the_budget_unnoticed() {
    let place = Place::new();
    let confinement = Confinement { workspace_bytes: 10_000_000, ..place.confinement() };
    let run = |line: &str| said(command(&confinement, line));
    // Usually it ends before anybody has looked; on a slow machine it is ended.
    let said = run("for i in 1 2 3; do fallocate -l 9M big$i; done; echo written");
    assert_eq!(said.code, Some(125), "{said:?}");
    assert!(said.stderr.contains("the workspace has more than 10000000 bytes"), "{said:?}");
    let before = place.run("ls").stdout;
    let said = run("fallocate -l 9M more; echo x >> big1; mkdir d; ln big1 again; mv big2 big6; ls");
    assert_eq!(said.stdout, before, "nothing is written while it is full: {said:?}");
    assert!(said.stderr.starts_with("holdpoint: the workspace has more than 10000000 bytes; until"), "{said:?}");
    assert_eq!(fs::metadata(place.path("workspace/big1")).unwrap().len(), 9 << 20);
    assert_eq!(run("rm big*").code, Some(0));
    let said = run("echo again > file; cat file");
    assert_eq!((said.stdout.as_str(), said.stderr.as_str(), said.code), ("again\n", "", Some(0)));
}

#[test]
fn empty_directories_and_files_fill_a_workspace() {
    let place = Place::new();
    let confinement = Confinement { workspace_bytes: 1_000_000, ..place.confinement() };
    for line in ["mkdir $(seq 300)", "touch $(seq 300)"] {
        let said = said(command(&confinement, line));
        assert!(said.stderr.contains("the workspace has more than 1000000 bytes"), "{said:?}");
        assert_eq!(place.run("rm -r ./*").code, Some(0));
    }
}

#[test]
fn what_is_closed_to_its_owner_is_counted_and_stops_nobody() {
    let place = Place::new();
    let confinement = Confinement { workspace_bytes: 10_000_000, ..place.confinement() };
    let said_of = |line: &str| said(command(&confinement, line));
    assert_eq!(said_of("mkdir x; chmod 000 x").code, Some(0));
    let said = said_of("ls x; chmod 700 x; for i in 1 2; do fallocate -l 9M x/$i; done; chmod 000 x");
    assert_eq!(said.code, Some(125), "what lies in it is counted: {said:?}");
    assert_eq!(said_of("chmod 700 x; rm -r x").code, Some(0));
    assert_eq!(said_of("chmod 000 .").code, Some(0));
    assert_eq!(said_of("echo x > file; cat file").stdout, "x\n", "the workspace itself stays open");
}

#[test]
fn directories_that_are_nested_deeply_can_be_deleted() {
    let place = Place::new();
    let nest = |depth: u32| format!("perl -e 'for (1..{depth}) {{ mkdir \"d\"; chdir \"d\" or die }}'");
    assert_eq!(place.run(&nest(300)).code, Some(0));
    assert_eq!(place.run("rm -rf d").code, Some(0));
    let said = place.run(&nest(3000));
    assert!(said.stderr.contains("directories of the workspace are nested more than 512 deep"), "{said:?}");
    assert_eq!(place.run("rm -rf d; mkdir e").code, Some(1), "nothing is made while it is too deep");
    assert_eq!(place.run("ls; mkdir e; ls").stdout, "e\n");
}

/// Where groups of `pids` (cgroup v1) are mounted to be written to, and which of them is mounted there.
fn groups() -> Option<(PathBuf, PathBuf)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - cgroup ")?;
        let mount: Vec<&str> = mount.split(' ').collect();
        let is_ours = file_system.split([' ', ',']).any(|option| option == "pids") && mount.get(5)?.starts_with("rw");
        is_ours.then_some((PathBuf::from(mount.get(4)?), PathBuf::from(mount.get(3)?)))
    })
}

/// Starts new processes without end, and never waits for one.
const BOMB: &str = "perl -e 'while (1) { my $child = fork; if (!defined $child) { $failed++ } elsif (!$child) { sleep 1000; exit } exit 9 if $failed > 50 }'";

#[test]
fn processes_are_bounded() {
    let place = Place::new();
    let confinement = Confinement { processes: 40, ..place.confinement() };
    let said = said(command(&confinement, BOMB));
    let watched =
        said.stderr.contains("the command was ended: it") && said.stderr.contains("more than 40 processes and threads");
    // Where the user is not root, the kernel itself refuses new ones first.
    assert!(watched && said.code == Some(125) || said.code == Some(9), "{said:?}");
}

/// Says which group of `pids` whoever asks is in.
const OWN_GROUP: &str = "sed -n 's/^[0-9]*:[a-z,]*pids[a-z,]*://p' /proc/self/cgroup";

/// Starts processes until one is refused, or until there are far too many, and tells how many it has started and why no more.
const COUNTED_BOMB: &str = r#"exec perl -e '
    open(my $ready, ">", "ready");
    select(undef, undef, undef, 0.01) until -e "go";
    my $started = 0;
    while ($started < 400) { my $child = fork; last if !defined $child; if (!$child) { sleep 1000; exit } $started++ }
    my $why = $!{EAGAIN} ? "refused" : "not refused";
    open(my $told, ">", "told.new"); print $told "$started $why"; close $told; rename "told.new", "told";
    sleep 1000'"#;

#[test]
fn processes_of_root_are_bounded_by_the_kernel() {
    if !rustix::process::getuid().is_root() || groups().is_none() {
        return;
    }
    let place = Place::new();
    let confinement = Confinement { processes: 40, ..place.confinement() };
    let child = command(&confinement, COUNTED_BOMB).stderr(Stdio::piped()).spawn().unwrap();
    // The helper does not count while it is stopped.
    let helper = rustix::process::Pid::from_child(&child);
    until("the program", || place.path("workspace/ready").exists());
    rustix::process::kill_process(helper, rustix::process::Signal::STOP).unwrap();
    fs::write(place.path("workspace/go"), "").unwrap();
    let told = place.path("workspace/told");
    until("how many it has started", || told.exists());
    rustix::process::kill_process(helper, rustix::process::Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(fs::read_to_string(told).unwrap(), "39 refused", "with the program itself they are 40: {stderr}");
    assert_eq!(output.status.code(), Some(125), "{stderr}");
    assert!(stderr.contains("the command was ended: it wanted more than 40 processes and threads"), "{stderr}");
}

#[test]
fn groups_of_what_has_ended_are_removed_and_others_stay() {
    let Some((mounted_at, root)) = groups().filter(|_| rustix::process::getuid().is_root()) else { return };
    let place = Place::new();
    // The program tells its group, and has no way to change it.
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
    // What was in it ends a little later than the helper.
    until("the end of the group of the killed one", || {
        assert_eq!(place.run(":").code, Some(0));
        !left.exists()
    });
    assert!(kept.is_dir(), "a group that is in use stays");
    let group = rustix::process::Pid::from_child(&going_on);
    rustix::process::kill_process_group(group, rustix::process::Signal::TERM).unwrap();
    let output = going_on.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "there is no /sys");
}

#[test]
fn a_program_that_sees_its_group_can_neither_leave_nor_widen_it() {
    let Some((mounted_at, root)) = groups().filter(|_| rustix::process::getuid().is_root()) else { return };
    let place = Place::new();
    let confinement = Confinement { read_only: vec![mounted_at.clone()], processes: 40, ..place.confinement() };
    let line = format!(
        "group() {{ {OWN_GROUP}; }}; own=$(group); cd {}/${{own#{}}} || exit; echo $$ > ../cgroup.procs; echo max > pids.max; mkdir further; \
         cat pids.max; [ $own = $(group) ] && echo same",
        mounted_at.display(),
        root.display()
    );
    let said = said(command(&confinement, &line));
    assert_eq!(said.stdout, "43\nsame\n", "the first process and the helper are in it too: {said:?}");
    assert_eq!(said.stderr.matches("Read-only file system").count(), 3, "{said:?}");
}

#[test]
fn what_leaves_its_group_and_session_ends_with_the_program() {
    let place = Place::new();
    let word = format!("7{:07}", std::process::id());
    let said = place.run(&format!("setsid sleep {word} >/dev/null 2>&1 & sleep 0.1; echo done"));
    assert_eq!(said.stdout, "done\n");
    until("the end of what was left behind", || !runs(&word));
}

#[test]
fn everything_ends_when_the_helper_is_killed() {
    let place = Place::new();
    let word = format!("8{:07}", std::process::id());
    let mut child = command(&place.confinement(), &format!("setsid sleep {word} & sleep {word}")).spawn().unwrap();
    until("its processes", || runs(&word));
    child.kill().unwrap();
    child.wait().unwrap();
    until("their end", || !runs(&word));
}

#[test]
fn everything_ends_when_whoever_started_it_is_gone() {
    let place = Place::new();
    let word = format!("9{:07}", std::process::id());
    let inner = command(&place.confinement(), &format!("echo > started; sleep {word}"));
    let started = place.path("workspace/started");
    let line = format!("\"$@\" >/dev/null 2>&1 & while [ ! -e {} ]; do sleep 0.01; done", started.display());
    let mut outer = Command::new("/bin/sh");
    outer.args(["-c", &line, "sh"]).arg(inner.get_program()).args(inner.get_args());
    assert!(outer.status().unwrap().success());
    until("the end of what nobody waits for", || !runs(&word));
}

#[test]
fn a_group_that_is_asked_to_end_may_tidy_up() {
    let place = Place::new();
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

/// An ordinary user gets the same walls as root. This needs root, to become somebody else.
#[test]
fn an_ordinary_user_is_confined_as_well() {
    if !rustix::process::getuid().is_root() {
        return;
    }
    let place = Place::new();
    const SOMEBODY: u32 = 64_999;
    // The helper lies where only its owner may look, and is copied to where everybody may.
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
    assert_eq!(network.stdout, "1\n", "only the loopback: {network:?}");
}
