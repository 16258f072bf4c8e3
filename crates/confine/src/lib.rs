//! Runs a program so that it reaches only what it was given: its workspace, the programs and libraries of the machine, and nothing else.
//!
//! Duty: say what a program may reach ([`Confinement`]), start it through a helper process ([`Helper`]), and be that helper
//! ([`answer_call`]). The helper is the same binary, called with `confine` as its first argument.
//!
//! This crate must never decide who is confined, or read configuration: callers say what a program gets.
//!
//! Start reading at `linux/helper.rs`, which lists the steps in their order. `docs/decisions/0020-confinement.md` says why there are so many.

mod confinement;
mod helper;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsString;
use std::process::ExitCode;

pub use confinement::{Confinement, Programs};
pub use helper::Helper;

/// The first argument of a call of the helper.
pub(crate) const CALL: &str = "confine";

/// The exit code with which the helper says that it has refused or ended the program itself. Its last line on standard error says why.
pub const REFUSED: u8 = 125;

/// How that line begins.
pub const SAYS: &str = "holdpoint: ";

/// Does the work of the helper if this process was started as one, and gives its exit code.
///
/// It must be called first in `main`, before any thread is started: a process with several threads cannot enter a user namespace.
#[must_use]
pub fn answer_call() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != CALL {
        return None;
    }
    let rest: Vec<OsString> = arguments.collect();
    Some(answer(&rest).unwrap_or_else(|why| {
        eprintln!("{SAYS}{why}");
        ExitCode::from(REFUSED)
    }))
}

#[cfg(target_os = "linux")]
fn answer(arguments: &[OsString]) -> Result<ExitCode, String> {
    linux::answer(arguments)
}

#[cfg(not(target_os = "linux"))]
fn answer(_: &[OsString]) -> Result<ExitCode, String> {
    Err("programs can only be confined on Linux".to_owned())
}
