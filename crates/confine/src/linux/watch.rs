//! Watches the program: waits for its end, counts its processes, and measures its workspace.
//!
//! The helper has one thread: a process whose children enter a new process namespace cannot start another.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, ExitCode, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, getppid, getuid, kill_process, pidfd_open};

use signal_hook::consts::SIGTERM;

use super::ErrorContext;
use super::group::Group;
use super::init::{self, Init};
use super::measure::Measure;
use crate::confinement::Confinement;

/// Interval of measuring the workspace, and of counting processes if the kernel limits them too.
const OFTEN: Duration = Duration::from_millis(50);

/// Interval of counting the processes of root if no control group limits them.
const OFTEN_FOR_ROOT: Duration = Duration::from_millis(5);

/// Time that child processes have to end after the program itself has ended.
const GRACE: Duration = Duration::from_secs(2);

/// Message about a workspace that is too large.
pub(super) const UNTIL_LESS: &str =
    "until the workspace is within its limits, commands can read and delete in it, but not write";

/// Rights of the owner of a directory.
const OWNER: u32 = 0o700;

/// The program that the helper started.
pub(super) struct Started {
    pub(super) program: Child,
    /// Parent of the helper when the helper began: the server. The helper gets another parent when the server ends.
    pub(super) server: Option<Pid>,
}

/// Waits for the end of the program. Ends it if it exceeds a limit or its caller has gone.
pub(super) fn until_ended(
    confinement: &Confinement,
    mut started: Started,
    mut init: Init,
    group: Option<&Group>,
    mut measure: Option<Measure<'_>>,
    asked_to_end: &AtomicBool,
) -> Result<ExitCode, String> {
    let status = follow(confinement, &mut started, group, measure.as_mut());
    if status.is_ok() && asked_to_end.load(Ordering::Relaxed) {
        let since = Instant::now();
        while has_more_than(init::THREADS).unwrap_or(false) && since.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    if status.is_err() {
        init.kill();
    }
    init.tell_to_end();
    // The namespace ends only when no process in it waits to be reaped, and the helper has to reap the program. The
    // wait fails if the program was reaped already.
    let _ = started.program.wait();
    init.wait();
    if let Some(workspace) = &confinement.workspace {
        keep_open(workspace);
    }
    let status = status?;
    // No process writes any more. A short program has not been measured before.
    match measure.and_then(Measure::finally) {
        None => end_like(status),
        Some(why) if status.success() => Err(format!("the command ended, but {why}; {UNTIL_LESS}")),
        Some(why) => Err(ended(&why)),
    }
}

fn ended(why: &str) -> String {
    format!("the command was ended: {why}")
}

/// Restores the owner's rights to the workspace, because the next program could not open it without them.
fn keep_open(workspace: &Path) {
    let Ok(mode) = fs::metadata(workspace).map(|about| about.permissions().mode()) else { return };
    if mode & OWNER != OWNER {
        // If this fails, the directory belongs to another user, and the program has not changed its mode.
        let _ = fs::set_permissions(workspace, fs::Permissions::from_mode(mode | OWNER));
    }
}

fn follow(
    confinement: &Confinement,
    started: &mut Started,
    group: Option<&Group>,
    mut measure: Option<&mut Measure<'_>>,
) -> Result<ExitStatus, String> {
    let child = &mut started.program;
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw).doing("name the program's process")?;
    let end = pidfd_open(number, PidfdFlags::empty()).doing("watch the program")?;
    let pause = if getuid().is_root() && group.is_none() { OFTEN_FOR_ROOT } else { OFTEN };
    let pause = Timespec::try_from(pause).doing("read the clock")?;
    let most = u64::from(confinement.processes);
    let mut measured = Instant::now();
    loop {
        // An interrupted wait is harmless, because all conditions are checked in either case.
        let _ = poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&pause));
        if let Some(status) = child.try_wait().doing("wait for the program")? {
            return Ok(status);
        }
        if getppid() != started.server {
            return Err(ended("the server that started it has ended"));
        }
        if has_more_than(most.saturating_add(init::THREADS)).doing("count processes")? {
            return Err(ended(&format!("it had more than {most} processes and threads")));
        }
        // A limit of the service around the group also refuses processes, and counts as a refusal of the group.
        if group.map_or(Ok(false), Group::has_refused).doing("count processes")? {
            return Err(ended(&format!(
                "it tried to start more than {most} processes and threads, or more than the service allows"
            )));
        }
        if measured.elapsed() < OFTEN {
            continue;
        }
        measured = Instant::now();
        if let Some(why) = measure.as_mut().and_then(|measure| measure.go_on()) {
            return Err(ended(&why));
        }
    }
}

/// Ends this process with the exit code or signal of the program.
fn end_like(status: ExitStatus) -> Result<ExitCode, String> {
    if let Some(code) = status.code() {
        return Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX)));
    }
    if status.signal() == Some(SIGTERM) {
        // This process handles the signal itself, so its default handler is called.
        signal_hook::low_level::emulate_default_handler(SIGTERM).doing("end like the program")?;
    }
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        kill_process(getpid(), signal).doing("end like the program")?;
    }
    // For a signal that does not end this process, the exit code is the one that shells use.
    let number = status.signal().and_then(|number| u8::try_from(number).ok()).unwrap_or_default();
    Ok(ExitCode::from(number.wrapping_add(128)))
}

/// Whether the namespace has more processes and threads than this. Stops counting as soon as it has, because counting
/// takes longer with more processes.
fn has_more_than(most: u64) -> io::Result<bool> {
    let mut count: u64 = 0;
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            // A process that has ended meanwhile is not counted. Every directory has two links of its own.
            count += fs::metadata(entry.path().join("task")).map_or(0, |task| task.nlink().saturating_sub(2));
        }
        if count > most {
            return Ok(true);
        }
    }
    Ok(false)
}
