//! Runs the first process of the process namespace. When it ends, the kernel kills every process in the namespace, in
//! any process group or session.
//!
//! The helper starts it before the program. It ends when its standard input is closed, which happens when the helper
//! ends in any way.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use rustix::mount::{MountFlags, mount};
use rustix::process::{WaitOptions, wait};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};
use signal_hook::consts::SIGCHLD;
use signal_hook::iterator::Signals;

use super::{ErrorContext, privileges};
use crate::CALL;

/// Argument that makes a helper call the first process.
pub(super) const WORD: &str = "init";

/// Number of threads of the first process.
pub(super) const THREADS: u64 = 2;

/// The helper's handle on the first process.
pub(super) struct Init {
    child: Child,
    to: Option<ChildStdin>,
    from: ChildStdout,
}

impl Init {
    /// Starts the first process. The helper has entered the namespaces and still sees its own binary.
    pub(super) fn start() -> Result<Self, String> {
        // Executing a program drops the capabilities of a user other than root, and the first process needs them to
        // mount.
        let mut ours = capabilities(None).doing("read capabilities")?;
        let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
        ours.inheritable = needed;
        set_capabilities(None, ours).doing("pass on capabilities")?;
        for one in needed.iter() {
            configure_capability_in_ambient_set(one, true).doing("pass on a capability")?;
        }
        let mut command = Command::new("/proc/self/exe");
        command.args([CALL, WORD]).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().doing("start the first process")?;
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let mut init = Self { child, to, from: from.doing("read from the first process")? };
        // The first process loads its libraries by paths that change in a later step, so it must be running before
        // that.
        init.hear("start the first process")?;
        Ok(init)
    }

    fn hear(&mut self, what: &str) -> Result<(), String> {
        self.from.read_exact(&mut [0]).doing(what)
    }

    /// Makes the first process mount `/proc`, which then shows only the processes of the namespace.
    pub(super) fn mount_processes(&mut self) -> Result<(), String> {
        let asked = self.to.as_mut().map_or(Ok(()), |to| to.write_all(b"\n"));
        asked.doing("send a request to the first process")?;
        self.hear("mount /proc (is it masked in this container?)")
    }

    /// Kills the first process at once. If Landlock scopes signals this fails, and `tell_to_end` is needed.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Makes the first process end, so that the kernel kills every process of the namespace.
    pub(super) fn tell_to_end(&mut self) {
        self.to = None;
    }

    /// Waits until every process of the namespace has ended.
    pub(super) fn wait(mut self) {
        // The wait fails if the process was reaped already.
        let _ = self.child.wait();
    }
}

/// Main function of the first process.
pub(super) fn run() -> Result<ExitCode, String> {
    let mut ended = Signals::new([SIGCHLD]).doing("listen for signals")?;
    let mut input = std::io::stdin();
    let mut word = [0];
    answer()?;
    input.read_exact(&mut word).doing("read from the helper")?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).doing("mount /proc (is it masked in this container?)")?;
    privileges::drop_all()?;
    // The thread is started before the program, which could use up the limit of threads.
    let listening = std::thread::Builder::new().name("helper".to_owned()).spawn(move || {
        // The helper writes nothing more; the read returns when it closes its end.
        let _ = input.read(&mut word);
        std::process::exit(0);
    });
    listening.doing("start the thread that watches the helper")?;
    answer()?;
    for _ in ended.forever() {
        while matches!(wait(WaitOptions::NOHANG), Ok(Some(_))) {}
    }
    Ok(ExitCode::SUCCESS)
}

fn answer() -> Result<(), String> {
    let mut output = std::io::stdout();
    output.write_all(b"\n").and_then(|()| output.flush()).doing("answer the helper")
}
